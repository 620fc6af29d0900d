//! A scenario's performance: `performance/run_1`, the run that `MLCommons` publishes.

use itertools::join;

use super::files::{MissingFile, check_logs};
use super::find::folder_names;
use super::submission::ScenarioFolder;
use super::{JudgeContext, endpoint, find_official_name, inferred, power};
use crate::evidence::folder;
use crate::evidence::loadgen::{
    add_loadgen_evidence, check_mode_and_scenario, warn_of_missing_detail_log,
};
use crate::evidence::markers;
use crate::verdict::{Evidence, FigureValue, RuleCheck, TrialEvidence};
use retrial_mlperf::loadgen;
use retrial_mlperf::rounds::{InferenceRules, Round};
use retrial_mlperf::submission_layout::{PERFORMANCE_FOLDER, PERFORMANCE_RUN};
use retrial_readings::Figure;
use retrial_recipe::model::Mode;

/// Reads the performance run of a place.
pub(crate) fn gather_performance(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    files: &mut Vec<MissingFile>,
) -> Evidence {
    let path = place.results_path().join(PERFORMANCE_RUN);
    let mut evidence = place.new_evidence(Mode::Performance, &path);
    let logs = folder::read_logs(&place.submitter.root, &path);
    evidence.checks.extend(check_logs(&logs, &path, files));
    if logs.run.summary.is_none() && logs.run.detail.is_none() {
        return evidence;
    }
    evidence.checks.extend(warn_of_missing_detail_log(&logs.run));
    let mut trial = TrialEvidence::new_finished(1, path.display().to_string());
    add_loadgen_evidence(&logs.run, &mut evidence, &mut trial);
    if let Some(rules) = rules {
        let metric = rules.metric.published_name();
        if let Some(figure) = inferred::published_figure(&logs.run, rules) {
            let published_value = FigureValue::new(figure.value, rules.metric.unit.clone());
            let value = published_value.with_half_digit(figure.half_digit);
            trial.figures.insert(metric.clone(), value);
        }
        evidence.published_metric = Some(metric);
        evidence.plan.rules = Some(rules.clone().in_division(place.submitter.division));
    }
    match power::measure_power(place, &logs.run, files) {
        Some(Ok((name, figure))) => {
            trial.figures.insert(name, figure);
            evidence.checks.extend(power::check_checksums(place));
            evidence.checks.extend(power::check_session(place, &logs.run));
        }
        Some(Err(check)) => evidence.checks.push(check),
        None => {}
    }
    for folder in ["", PERFORMANCE_FOLDER, PERFORMANCE_RUN] {
        let folder = place.results_folder().join(folder);
        evidence.checks.extend(markers::check_usual_marker(&folder));
    }
    // The log of an accuracy run is no evidence of speed.
    let mode = loadgen::TestMode::Performance;
    evidence.checks.extend(check_mode_and_scenario(&logs.run, mode, None));
    evidence.checks.extend(report_other_runs(place));
    evidence.trials.push(trial);
    evidence
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

/// Reports runs other than the one that counts, so that they are not taken for it.
fn report_other_runs(place: &ScenarioFolder) -> Option<RuleCheck> {
    let others = folder_names(&place.results_folder().join(PERFORMANCE_FOLDER)).into_iter();
    let others = join(others.filter(|name| name.starts_with("run_") && name != "run_1"), ", ");
    (!others.is_empty()).then(|| {
        RuleCheck::new(
            "runs",
            format!("run_1, and also {others}"),
            "run_1, which is published; the others do not count",
            true,
        )
    })
}
