//! A scenario's performance (`performance/run_1`, the run that `MLCommons` publishes) and accuracy.

use super::files::{self, MissingFile};
use super::submission::ScenarioFolder;
use super::{JudgeContext, endpoint, find_official_name, inferred, power};
use crate::evidence::accuracy::ACCURACY_LOG;
use crate::evidence::folder::folder_names;
use crate::evidence::folder::{self, DETAIL, SUMMARY};
use crate::evidence::markers;
use crate::verdict::{Evidence, RuleCheck};
use retrial_mlperf::loadgen;
use retrial_mlperf::rounds::{InferenceRules, Round};
use retrial_mlperf::submission_layout::{ACCURACY_FOLDER, PERFORMANCE_FOLDER, PERFORMANCE_RUN};
use retrial_readings::Figure;
use retrial_recipe::model::Mode;

/// Reads the performance run of a place.
pub(crate) fn gather_performance(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    missing: &mut Vec<MissingFile>,
) -> Evidence {
    let path = place.results_path().join(PERFORMANCE_RUN);
    files::add_missing_files(&place.submitter.root, &path, &[SUMMARY, DETAIL], missing);
    let (mut evidence, run) = place.read_run(Mode::Performance, &path, rules, None);
    let Some(run) = run else {
        return evidence;
    };
    if let Some(rules) = rules {
        inferred::add_published_figure(&run, rules, &mut evidence);
    }
    match power::measure_power(place, &run, missing) {
        Some(Ok((name, figure))) => {
            let trials = evidence.trials.iter_mut();
            trials.for_each(|trial| drop(trial.figures.insert(name.clone(), figure.clone())));
            evidence.checks.extend(power::check_checksums(place));
            evidence.checks.extend(power::check_session(place, &run));
        }
        Some(Err(check)) => evidence.checks.push(check),
        None => {}
    }
    for folder in [place.results_folder(), place.results_folder().join(PERFORMANCE_FOLDER)] {
        evidence.checks.extend(markers::check_usual_marker(&folder));
    }
    evidence.checks.extend(report_other_runs(place));
    evidence
}

/// Reads the accuracy run of a place; `performance` is its performance run.
pub(crate) fn gather_accuracy(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    performance: Option<&Evidence>,
    missing: &mut Vec<MissingFile>,
) -> Evidence {
    let path = place.results_path().join(ACCURACY_FOLDER);
    let required = [SUMMARY, DETAIL, ACCURACY_LOG];
    files::add_missing_files(&place.submitter.root, &path, &required, missing);
    // An edge system's result may be inferred from another scenario, with that one's accuracy.
    let ran =
        performance.and_then(|evidence| evidence.trials.first()?.run_settings.as_ref()?.scenario);
    let (mut evidence, _) = place.read_run(Mode::Accuracy, &path, rules, ran);
    evidence.published_metric =
        rules.and_then(|rules| rules.accuracy.first().map(|(name, _)| name.clone()));
    evidence
}

pub(crate) fn has_accuracy(place: &ScenarioFolder) -> bool {
    place.results_folder().join(ACCURACY_FOLDER).is_dir()
}

/// Reads the figure by which a place is published, of its summary where there is one: for lists,
/// which show a result without judging it.
pub fn published_figure(place: &ScenarioFolder, round: Option<&Round>) -> Option<Figure> {
    let named = find_official_name(&place.submitter, &place.benchmark, round);
    let scenario = place.scenario()?;
    let rules = round.and_then(|round| round.benchmark_rules(named, scenario));
    if endpoint::is_endpoint(place) {
        return endpoint::published_figure(place, rules.as_ref());
    }
    let (root, folder) = (&place.submitter.root, place.results_path().join(PERFORMANCE_RUN));
    let summary = folder::read_summary(root, &folder).ok();
    let detail = match summary {
        Some(_) => None,
        None => Some(folder::read_detail_log(root, &folder).ok()?),
    };
    let run = loadgen::LoadgenRun { summary, detail };
    match rules {
        Some(rules) => inferred::published_figure(&run, &rules),
        None => [true, false].into_iter().find_map(|tokens| {
            let metric = loadgen::published_metric(scenario, tokens);
            run.resolve_figure(metric)
        }),
    }
}

/// Compares a performance result with what was published for it, where anything was.
pub(crate) fn add_expectation(
    evidence: &mut Evidence,
    place: &ScenarioFolder,
    judge_context: &JudgeContext<'_>,
) {
    if let (Some(published), Some(metric)) = (judge_context.published, &evidence.published_metric) {
        let figure = evidence.trials.first().and_then(|trial| trial.figures.get(metric));
        let unit = figure.map_or("", |figure| figure.unit.as_str());
        let expectation = published.expectation_of_place(place, unit);
        evidence.other_system = expectation.is_some() && published.is_of_other_system(place);
        let expected = expectation.map(|expected| (metric.clone(), vec![expected]));
        evidence.plan.expect.extend(expected);
    }
}

/// Reports runs other than the one that counts, so that they are not taken for it, and warns of those that are not
/// valid: nobody knows then why the other one was submitted.
fn report_other_runs(place: &ScenarioFolder) -> Vec<RuleCheck> {
    let folder = place.results_path().join(PERFORMANCE_FOLDER);
    let root = &place.submitter.root;
    let mut others = folder_names(&root.join(&folder));
    others.retain(|name| name.starts_with("run_") && name != "run_1");
    if others.is_empty() {
        return Vec::new();
    }
    let required = "run_1, which is published; the others do not count";
    let measured = format!("run_1, and also {}", others.join(", "));
    let mut checks = vec![RuleCheck::new("runs", measured, required, true)];
    checks.extend(others.iter().filter_map(|name| {
        let run = folder::read_logs(root, &folder.join(name)).run;
        let reason = run.validity().reasons.into_iter().next()?;
        Some(RuleCheck::warning(format!("{PERFORMANCE_FOLDER}/{name}"), reason, "VALID, as run_1"))
    }));
    checks
}
