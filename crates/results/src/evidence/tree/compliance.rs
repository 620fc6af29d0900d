//! A scenario's compliance tests, each a folder `TEST06` of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::files::{MissingFile, check_logs};
use super::find::folder_names;
use super::inferred;
use super::submission::{ScenarioFolder, ScenarioPart};
use crate::evidence::compliance;
use crate::evidence::folder::{self, LoadgenLogs};
use crate::evidence::loadgen::add_loadgen_evidence;
use crate::verdict::{Evidence, FigureValue, RuleCheck, StatedValidity, TrialEvidence, number};
use retrial_mlperf::check::RuleCheckKind;
use retrial_mlperf::compliance::{Test, TestRequirements};
use retrial_mlperf::loadgen::TestScenario;
use retrial_mlperf::rounds::{ComplianceTest, InferenceRules, SubmissionLayout, check_audit};
use retrial_mlperf::submission_layout::{PERFORMANCE_RUN, is_test};
use retrial_recipe::model::Mode;

/// The most by which a ratio of two rounded figures may exceed its limit.
const ROUNDING_TOLERANCE: f64 = 2e-5;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ComplianceTestEvidence {
    /// The name of the test's folder, `TEST06`.
    name: String,
    pub evidence: Evidence,
}

/// Reads the tests of a place; `performance` is its performance run.
pub(crate) fn gather_tests(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    performance: Option<&Evidence>,
    files: &mut Vec<MissingFile>,
) -> Vec<ComplianceTestEvidence> {
    find_test_folders(place)
        .into_iter()
        .filter(|(name, _)| place.includes_part(&ScenarioPart::Test(name.clone())))
        .map(|(name, path)| {
            let evidence = gather_test(place, rules, performance, &name, &path, files);
            ComplianceTestEvidence { name, evidence }
        })
        .collect()
}

fn gather_test(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    performance: Option<&Evidence>,
    name: &str,
    path: &Path,
    files: &mut Vec<MissingFile>,
) -> Evidence {
    let mut evidence = place.new_evidence(Mode::Compliance, path);
    let mut trial = TrialEvidence::new_finished(1, path.display().to_string());
    let required = rules.and_then(|rules| {
        let mut tests = rules.compliance.iter();
        Some((rules, &tests.find(|(test, _)| test == name)?.1))
    });
    if let Some(reason) = reason_not_required(place, rules.is_some(), required.is_some()) {
        let check = RuleCheck::new("required tests", reason, name, true);
        evidence.checks.push(check);
        evidence.trials.push(trial);
        return evidence;
    }
    match name.parse::<Test>() {
        Ok(test) => {
            // Rounds up to v5.1 ask for TEST01's accuracy logs also where it passed.
            let words = TestRequirements::new(
                test,
                rules,
                place.submitter.layout == SubmissionLayout::Separate,
            );
            let result = compliance::check_test_folder(&place.submitter.root.join(path), &words);
            evidence.checks.extend(result.checks);
            // Where verify_*.txt exist, a missing log is a missing file.
            for check in result.log_checks {
                if check.kind == RuleCheckKind::Missing {
                    files.push(MissingFile(path.join(check.rule)));
                } else {
                    evidence.checks.push(check);
                }
            }
            let logs = folder::read_logs(&place.submitter.root, &path.join(PERFORMANCE_RUN));
            if let Some((_, test)) = required {
                let checks = check_audit(test, &logs.run.run_settings());
                evidence.checks.extend(checks);
            }
            if matches!(test, Test::Test01 | Test::Test04 | Test::Test05) {
                let run = path.join(PERFORMANCE_RUN);
                evidence.checks.extend(check_logs(&logs, &run, files));
                add_speed(required, &logs, &mut evidence, &mut trial);
                let published_trial = performance.and_then(|evidence| evidence.trials.first());
                if let (Some((rules, test)), Some(performance)) = (required, published_trial) {
                    evidence.checks.extend(compare_with_published(
                        rules,
                        test,
                        &trial,
                        performance,
                    ));
                }
            } else if logs.run.detail.is_some() {
                add_loadgen_evidence(&logs.run, &mut evidence, &mut trial);
            }
        }
        Err(error) => {
            let check = RuleCheck::violation("test", error.to_string(), "a test of the audit");
            evidence.checks.push(check);
        }
    }
    evidence.trials.push(trial);
    evidence
}

/// Returns why a test is not required, if so: it is then reported, and violates no rule.
fn reason_not_required(
    place: &ScenarioFolder,
    is_known: bool,
    is_required: bool,
) -> Option<&'static str> {
    if place.submitter.is_open() {
        Some("not in the open division")
    } else if is_known && !is_required {
        Some("not of this benchmark")
    } else {
        None
    }
}

/// The test's own performance run.
fn add_speed(
    required: Option<(&InferenceRules, &ComplianceTest)>,
    logs: &LoadgenLogs,
    evidence: &mut Evidence,
    trial: &mut TrialEvidence,
) {
    if logs.run.summary.is_none() && logs.run.detail.is_none() {
        return;
    }
    add_loadgen_evidence(&logs.run, evidence, trial);
    let Some((rules, test)) = required else {
        return;
    };
    let metric = rules.metric.published_name();
    if let Some(figure) = inferred::published_figure(&logs.run, rules) {
        let figure = FigureValue::new(figure.value, rules.metric.unit.clone());
        trial.figures.insert(metric.clone(), figure);
    }
    evidence.published_metric = Some(metric);
    let mut test_rules = rules.clone();
    test_rules.seeds = test.seeds.unwrap_or(test_rules.seeds);
    let run_settings = logs.run.run_settings();
    let figures = |name: &str| {
        let figure = logs.run.resolve_figure(name)?;
        Some((figure.value, figure.unit.into_owned()))
    };
    let checks = test_rules.check_performance(&run_settings, &figures);
    evidence.checks.extend(checks);
}

/// Returns the test's speed next to the published run's. Where both were run in another scenario than they
/// are published in, by the figure of that one.
fn compare_with_published(
    rules: &InferenceRules,
    test: &ComplianceTest,
    measured: &TrialEvidence,
    published: &TrialEvidence,
) -> Option<RuleCheck> {
    let ran =
        |trial: &TrialEvidence| trial.run_settings.as_ref().and_then(|settings| settings.scenario);
    let metric = match ran(published) {
        Some(TestScenario::SingleStream | TestScenario::MultiStream) => {
            "early_stopping_latency_ns".to_owned()
        }
        _ => rules.metric.published_name(),
    };
    let (measured, published) = (measured.figures.get(&metric)?, published.figures.get(&metric)?);
    let ratio = measured.value / published.value;
    let is_time = metric.starts_with("early_stopping");
    let (is_met, required) = match (test.within, test.above) {
        (Some(share), _) => {
            let is_met = (ratio - 1.0).abs() <= share + ROUNDING_TOLERANCE;
            (is_met, format!("within {} of it", number::format_percent(share)))
        }
        (None, Some(share)) if is_time => (
            ratio >= 1.0 - share - ROUNDING_TOLERANCE,
            format!("at most {} less", number::format_percent(share)),
        ),
        (None, Some(share)) => (
            ratio <= 1.0 + share + ROUNDING_TOLERANCE,
            format!("at most {} more", number::format_percent(share)),
        ),
        (None, None) => return None,
    };
    Some(RuleCheck::new(
        "speed compared with the performance run",
        format!("{measured}, {} of {published}", number::format_ratio(ratio)),
        required,
        is_met,
    ))
}

/// The requirement of the closed division on each test of a benchmark.
const PASS_REQUIREMENT: &str = "that the test passes";

/// Returns the checks of the performance result by its tests: the closed division asks for all of its
/// benchmark's, and that each is passed.
pub(crate) fn check_required_tests(
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
                return RuleCheck::missing_requirement(name, "this benchmark requires it");
            };
            let mut failed = test.evidence.checks.iter().filter(|check| !check.passed);
            let invalid = test.evidence.trials.iter().find_map(|trial| match &trial.validity {
                StatedValidity::Invalid(reasons) => Some(reasons.join("; ")),
                _ => None,
            });
            match (failed.next(), invalid) {
                (Some(first), _) => {
                    // A rule that begins with the test's name need not repeat it.
                    let rest = first.rule.strip_prefix(name.as_str());
                    let rule = rest.map_or(first.rule.as_str(), str::trim_start);
                    RuleCheck::violation(
                        name,
                        format!("{rule}: {}", first.measured),
                        PASS_REQUIREMENT,
                    )
                }
                (None, Some(reasons)) => {
                    RuleCheck::violation(name, format!("its run: {reasons}"), PASS_REQUIREMENT)
                }
                (None, None) => RuleCheck::new(name, "passed", PASS_REQUIREMENT, true),
            }
        })
        .collect()
}

/// Returns the folders of tests, by name; where there are several of one name, the first.
fn find_test_folders(place: &ScenarioFolder) -> BTreeMap<String, PathBuf> {
    let mut tests: BTreeMap<String, PathBuf> = BTreeMap::new();
    for at in place.compliance_paths() {
        for name in folder_names(&place.submitter.root.join(&at)) {
            if is_test(&name) {
                let path = at.join(&name);
                tests.entry(name.to_uppercase()).or_insert(path);
            }
        }
    }
    tests
}
