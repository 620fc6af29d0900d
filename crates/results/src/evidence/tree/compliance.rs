//! A scenario's compliance tests, each a folder `TEST06` of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::files::MissingFile;
use super::inferred;
use super::submission::ScenarioFolder;
use crate::evidence::compliance;
use crate::evidence::folder::folder_names;
use crate::evidence::loadgen::is_speed_compared;
use crate::evidence::trial_files::TrialFiles;
use crate::verdict::{Evidence, RuleCheck, StatedValidity, TrialEvidence, number};
use retrial_mlperf::check::RuleCheckKind;
use retrial_mlperf::compliance::{Test, TestRequirements, UnknownTest};
use retrial_mlperf::loadgen::TestScenario;
use retrial_mlperf::rounds::{ComplianceTest, InferenceRules, SubmissionLayout, check_audit};
use retrial_mlperf::submission_layout::{PERFORMANCE_RUN, ScenarioPart, is_test};
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
    let trial = TrialEvidence::new_finished(1, path.display().to_string());
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
    if let Ok(test) = name.parse::<Test>() {
        // Rounds up to v5.1 ask for TEST01's accuracy logs also where it passed.
        let always_logs = place.submitter.layout == SubmissionLayout::Separate;
        let words = TestRequirements::new(test, rules, always_logs);
        let result = compliance::check_test_folder(&place.submitter.root.join(path), &words);
        evidence.checks.extend(result.checks);
        // Where verify_*.txt exist, a missing log is a missing file.
        let (missing, others): (Vec<_>, Vec<_>) =
            result.log_checks.into_iter().partition(|check| check.kind == RuleCheckKind::Missing);
        files.extend(missing.into_iter().map(|check| MissingFile(path.join(check.rule))));
        evidence.checks.extend(others);
        let published = performance.and_then(|evidence| evidence.trials.first());
        read_run_of_test(place, trial, required, published, &mut evidence);
    } else {
        let unknown = UnknownTest(name.to_owned());
        let check = RuleCheck::violation("test", unknown.to_string(), "a test of the audit");
        evidence.checks.push(check);
        evidence.trials.push(trial);
    }
    evidence
}

/// Reads the test's own performance run, and compares its speed with the published run's where the test is one of speed.
fn read_run_of_test(
    place: &ScenarioFolder,
    trial: TrialEvidence,
    required: Option<(&InferenceRules, &ComplianceTest)>,
    published: Option<&TrialEvidence>,
    evidence: &mut Evidence,
) {
    let measured = evidence.plan.clone();
    let path = Path::new(&trial.path).join(PERFORMANCE_RUN);
    let run_files = TrialFiles::of_tree(&measured, trial, &place.submitter.root, &path);
    let run = run_files.read_into(evidence).unwrap_or_default();
    let Some((rules, test)) = required else {
        return;
    };
    evidence.checks.extend(check_audit(test, &run.run_settings()));
    let is_compared =
        |trial: &TrialEvidence| trial.run_settings.is_some() && is_speed_compared(&trial.path);
    if !evidence.trials.iter().all(is_compared) {
        return;
    }
    inferred::add_published_figure(&run, rules, evidence);
    let mut test_rules = rules.clone();
    test_rules.seeds = test.seeds.unwrap_or(test_rules.seeds);
    let figures = |name: &str| {
        let figure = run.resolve_figure(name)?;
        Some((figure.value, figure.unit.into_owned()))
    };
    evidence.checks.extend(test_rules.check_performance(&run.run_settings(), &figures));
    let compared =
        evidence.trials.first().zip(published).and_then(|(measured, published)| {
            compare_with_published(rules, test, measured, published)
        });
    evidence.checks.extend(compared);
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
                let missing = RuleCheck::missing_requirement(name, "this benchmark requires it");
                let folder = place.paths().compliance(place.submitter.layout);
                return RuleCheck { path: Some(format!("{folder}/{name}")), ..missing };
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
