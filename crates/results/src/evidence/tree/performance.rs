//! A scenario's performance: `performance/run_1`, the run that `MLCommons` publishes.

use itertools::join;

use super::files::{MissingFile, check_logs};
use super::find::folders;
use super::submission::ScenarioFolder;
use super::{JudgeContext, endpoint, inferred, official, power};
use crate::evidence::folder;
use crate::evidence::loadgen::{fallback, loadgen_evidence, not_of_its_kind};
use crate::evidence::markers;
use crate::verdict::{Evidence, FigureValue, RuleCheck, TrialEvidence};
use retrial_mlperf::loadgen;
use retrial_mlperf::rounds::{InferenceRules, Round};
use retrial_readings::Figure;
use retrial_recipe::model::Mode;

/// The folder of the run that counts.
const RUN: &str = "performance/run_1";

/// Reads the performance run of a place.
pub(crate) fn gather(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    files: &mut Vec<MissingFile>,
) -> Evidence {
    let path = place.results().join(RUN);
    let mut evidence = place.evidence(Mode::Performance, &path);
    let logs = folder::logs(&place.submitter.root, &path);
    evidence.checks.extend(check_logs(&logs, &path, files));
    if logs.run.summary.is_none() && logs.run.detail.is_none() {
        return evidence;
    }
    evidence.checks.extend(fallback(&logs.run));
    let mut trial = TrialEvidence::finished(1, path.display().to_string());
    loadgen_evidence(&logs.run, &mut evidence, &mut trial);
    if let Some(rules) = rules {
        let metric = rules.metric.name();
        if let Some(figure) = inferred::figure(&logs.run, rules) {
            let value = FigureValue::new(figure.value, rules.metric.unit.clone());
            let value = value.printed(figure.half_digit);
            trial.figures.insert(metric.clone(), value);
        }
        evidence.published_metric = Some(metric);
        evidence.rules = Some(rules.clone().in_division(&place.submitter.division));
    }
    match power::figure(place, &logs.run, files) {
        Some(Ok((name, figure))) => {
            trial.figures.insert(name, figure);
            evidence.checks.extend(power::checksums(place));
            evidence.checks.extend(power::session(place, &logs.run));
        }
        Some(Err(check)) => evidence.checks.push(check),
        None => {}
    }
    for folder in ["", "performance", RUN] {
        let folder = place.results_folder().join(folder);
        evidence.checks.extend(markers::usual(&folder));
    }
    // The log of an accuracy run is no evidence of speed.
    let mode = loadgen::TestMode::Performance;
    evidence
        .checks
        .extend(not_of_its_kind(&logs.run, mode, None));
    evidence.checks.extend(other_runs(place));
    evidence.trials.push(trial);
    evidence
}

/// Reads the figure by which a place is published, of its summary where there is one: for lists,
/// which show a result without judging it.
pub fn published_figure(place: &ScenarioFolder, round: Option<&Round>) -> Option<Figure> {
    let named = official(&place.submitter, &place.benchmark, round);
    let scenario = place.scenario()?;
    let rules = round.and_then(|round| round.rules(named, scenario));
    if endpoint::is_one(place) {
        return endpoint::published_figure(place, rules.as_ref());
    }
    let (root, folder) = (&place.submitter.root, place.results().join(RUN));
    let summary = folder::summary_at(root, &folder).ok();
    let detail = match summary {
        Some(_) => None,
        None => Some(folder::detail_at(root, &folder).ok()?),
    };
    let run = loadgen::LoadgenRun { summary, detail };
    match rules {
        Some(rules) => inferred::figure(&run, &rules),
        None => [true, false].into_iter().find_map(|tokens| {
            let metric = loadgen::published_metric(scenario, tokens);
            run.resolve(metric)
        }),
    }
}

/// Compares a performance result with what was published for it, where anything was.
pub(crate) fn expect(
    evidence: &mut Evidence,
    place: &ScenarioFolder,
    judge_context: &JudgeContext<'_>,
) {
    if let (Some(published), Some(metric)) = (judge_context.published, &evidence.published_metric) {
        let figure = evidence
            .trials
            .first()
            .and_then(|trial| trial.figures.get(metric));
        let unit = figure.map_or("", |figure| figure.unit.as_str());
        let expected = published.of(place, unit);
        evidence.other_system = expected.is_some() && published.is_of_other_system(place);
        let expected = expected.map(|expected| (metric.clone(), vec![expected]));
        evidence.expect.extend(expected);
    }
}

/// Reports runs other than the one that counts, so that they are not taken for it.
fn other_runs(place: &ScenarioFolder) -> Option<RuleCheck> {
    let others = folders(&place.results_folder().join("performance")).into_iter();
    let others = join(
        others.filter(|name| name.starts_with("run_") && name != "run_1"),
        ", ",
    );
    (!others.is_empty()).then(|| {
        RuleCheck::new(
            "runs",
            format!("run_1, and also {others}"),
            "run_1, which is published; the others do not count",
            true,
        )
    })
}
