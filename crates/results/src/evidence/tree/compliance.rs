//! A scenario's compliance tests, each a folder `TEST06` of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::files::{MissingFile, check_logs};
use super::find::folders;
use super::inferred;
use super::layout::is_test;
use super::submission::{ScenarioFolder, ScenarioPart};
use crate::evidence::compliance::{self, RUN};
use crate::evidence::folder::{self, LoadgenLogs};
use crate::evidence::loadgen::loadgen_evidence;
use crate::verdict::{Evidence, FigureValue, RuleCheck, StatedValidity, TrialEvidence, number};
use retrial_mlperf::check::RuleCheckKind;
use retrial_mlperf::compliance::{Test, TestRequirements};
use retrial_mlperf::loadgen::TestScenario;
use retrial_mlperf::rounds::{ComplianceTest, InferenceRules, check_audit};
use retrial_recipe::model::Mode;

/// The most by which a ratio of two rounded figures may exceed its limit.
const ROUNDING: f64 = 2e-5;

/// One test of a place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ComplianceTestEvidence {
    /// The name of the test's folder, `TEST06`.
    name: String,
    /// The evidence in its files.
    pub evidence: Evidence,
}

/// Reads the tests of a place; `performance` is its performance run.
pub(crate) fn gather(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    performance: Option<&Evidence>,
    files: &mut Vec<MissingFile>,
) -> Vec<ComplianceTestEvidence> {
    find(place)
        .into_iter()
        .filter(|(name, _)| place.wants(&ScenarioPart::Test(name.clone())))
        .map(|(name, path)| {
            let evidence = test_evidence(place, rules, performance, &name, &path, files);
            ComplianceTestEvidence { name, evidence }
        })
        .collect()
}

fn test_evidence(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    performance: Option<&Evidence>,
    name: &str,
    path: &Path,
    files: &mut Vec<MissingFile>,
) -> Evidence {
    let mut evidence = place.evidence(Mode::Compliance, path);
    let mut trial = TrialEvidence::finished(1, path.display().to_string());
    let required = rules.and_then(|rules| {
        let mut tests = rules.compliance.iter();
        Some((rules, &tests.find(|(test, _)| test == name)?.1))
    });
    if let Some(reason) = not_required(place, rules.is_some(), required.is_some()) {
        let check = RuleCheck::new("required tests", reason, name, true);
        evidence.checks.push(check);
        evidence.trials.push(trial);
        return evidence;
    }
    match name.parse::<Test>() {
        Ok(test) => {
            // Rounds up to v5.1 ask for TEST01's accuracy logs also where it passed.
            let words = TestRequirements::new(test, rules, !place.submitter.in_one_folder);
            let result = compliance::read(&place.submitter.root.join(path), &words);
            evidence.checks.extend(result.checks);
            // Where verify_*.txt exist, a missing log is a missing file.
            for check in result.log_checks {
                if check.kind == RuleCheckKind::Missing {
                    files.push(MissingFile(path.join(check.rule)));
                } else {
                    evidence.checks.push(check);
                }
            }
            let logs = folder::logs(&place.submitter.root, &path.join(RUN));
            if let Some((_, test)) = required {
                let checks = check_audit(test, &logs.run.run_settings());
                evidence.checks.extend(checks);
            }
            if matches!(test, Test::Test01 | Test::Test04 | Test::Test05) {
                let run = path.join(RUN);
                evidence.checks.extend(check_logs(&logs, &run, files));
                speed(required, &logs, &mut evidence, &mut trial);
                let performance = performance.and_then(|evidence| evidence.trials.first());
                if let (Some((rules, test)), Some(performance)) = (required, performance) {
                    evidence
                        .checks
                        .extend(against(rules, test, &trial, performance));
                }
            } else if logs.run.detail.is_some() {
                loadgen_evidence(&logs.run, &mut evidence, &mut trial);
            }
        }
        Err(error) => {
            let check = RuleCheck::failed("test", error.to_string(), "a test of the audit");
            evidence.checks.push(check);
        }
    }
    evidence.trials.push(trial);
    evidence
}

/// Returns why a test is not required, if so: it is then reported, and violates no rule.
fn not_required(place: &ScenarioFolder, is_known: bool, is_required: bool) -> Option<&'static str> {
    if place.submitter.is_open() {
        Some("not in the open division")
    } else if is_known && !is_required {
        Some("not of this benchmark")
    } else {
        None
    }
}

/// The test's own performance run.
fn speed(
    required: Option<(&InferenceRules, &ComplianceTest)>,
    logs: &LoadgenLogs,
    evidence: &mut Evidence,
    trial: &mut TrialEvidence,
) {
    if logs.run.summary.is_none() && logs.run.detail.is_none() {
        return;
    }
    loadgen_evidence(&logs.run, evidence, trial);
    let Some((rules, test)) = required else {
        return;
    };
    let metric = rules.metric.name();
    if let Some(figure) = inferred::figure(&logs.run, rules) {
        let figure = FigureValue::new(figure.value, rules.metric.unit.clone());
        trial.figures.insert(metric.clone(), figure);
    }
    evidence.published_metric = Some(metric);
    let mut rules = rules.clone();
    rules.seeds = test.seeds.unwrap_or(rules.seeds);
    let run_settings = logs.run.run_settings();
    let figures = |name: &str| {
        let figure = logs.run.resolve(name)?;
        Some((figure.value, figure.unit.into_owned()))
    };
    let checks = rules.check_performance(&run_settings, &figures);
    evidence.checks.extend(checks);
}

/// Returns the test's speed next to the published run's. Where both were run in another scenario than they
/// are published in, by the figure of that one.
fn against(
    rules: &InferenceRules,
    test: &ComplianceTest,
    measured: &TrialEvidence,
    published: &TrialEvidence,
) -> Option<RuleCheck> {
    let ran = |trial: &TrialEvidence| {
        trial
            .run_settings
            .as_ref()
            .and_then(|settings| settings.scenario)
    };
    let metric = match ran(published) {
        Some(TestScenario::SingleStream | TestScenario::MultiStream) => {
            "early_stopping_latency_ns".to_owned()
        }
        _ => rules.metric.name(),
    };
    let (measured, published) = (
        measured.figures.get(&metric)?,
        published.figures.get(&metric)?,
    );
    let ratio = measured.value / published.value;
    let is_time = metric.starts_with("early_stopping");
    let (is_met, required) = match (test.within, test.above) {
        (Some(share), _) => {
            let is_met = (ratio - 1.0).abs() <= share + ROUNDING;
            (is_met, format!("within {} of it", number::percent(share)))
        }
        (None, Some(share)) if is_time => (
            ratio >= 1.0 - share - ROUNDING,
            format!("at most {} less", number::percent(share)),
        ),
        (None, Some(share)) => (
            ratio <= 1.0 + share + ROUNDING,
            format!("at most {} more", number::percent(share)),
        ),
        (None, None) => return None,
    };
    Some(RuleCheck::new(
        "speed compared with the performance run",
        format!("{measured}, {} of {published}", number::ratio(ratio)),
        required,
        is_met,
    ))
}

/// The requirement of the closed division on each test of a benchmark.
const PASSED: &str = "that the test passes";

/// Returns the checks of the performance result by its tests: the closed division asks for all of its
/// benchmark's, and that each is passed.
pub(crate) fn passed(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    tests: &[ComplianceTestEvidence],
) -> Vec<RuleCheck> {
    if place.submitter.is_open() {
        return Vec::new();
    }
    let required = rules.into_iter().flat_map(|rules| &rules.compliance);
    required
        .map(|(name, _)| {
            let Some(test) = tests.iter().find(|test| test.name == *name) else {
                return RuleCheck::missing(name, "this benchmark requires it");
            };
            let mut failed = test.evidence.checks.iter().filter(|check| !check.passed);
            let invalid = test
                .evidence
                .trials
                .iter()
                .find_map(|trial| match &trial.validity {
                    StatedValidity::Invalid(reasons) => Some(reasons.join("; ")),
                    _ => None,
                });
            match (failed.next(), invalid) {
                (Some(first), _) => {
                    // A rule that begins with the test's name need not repeat it.
                    let rule = first.rule.strip_prefix(name.as_str());
                    let rule = rule.map_or(first.rule.as_str(), str::trim_start);
                    RuleCheck::failed(name, format!("{rule}: {}", first.measured), PASSED)
                }
                (None, Some(reasons)) => {
                    RuleCheck::failed(name, format!("its run: {reasons}"), PASSED)
                }
                (None, None) => RuleCheck::new(name, "passed", PASSED, true),
            }
        })
        .collect()
}

/// Returns the folders of tests, by name; where there are several of one name, the first.
fn find(place: &ScenarioFolder) -> BTreeMap<String, PathBuf> {
    let mut tests: BTreeMap<String, PathBuf> = BTreeMap::new();
    for at in place.compliance() {
        for name in folders(&place.submitter.root.join(&at)) {
            if is_test(&name) {
                let path = at.join(&name);
                tests.entry(name.to_uppercase()).or_insert(path);
            }
        }
    }
    tests
}
