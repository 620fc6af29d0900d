//! A scenario's performance: `performance/run_1`, the run that `MLCommons` publishes.

use std::path::Path;

use super::files::{Missing, check_logs};
use super::find::folders;
use super::submission::ScenarioFolder;
use super::{JudgeContext, inferred, official, power};
use crate::evidence::folder::{self, Logs};
use crate::evidence::loadgen::{fallback, loadgen_evidence};
use crate::evidence::markers;
use crate::verdict::{Evidence, FigureValue, RuleCheck, TrialEvidence};
use retrial_mlperf::loadgen;
use retrial_mlperf::rounds::{Round, Rules};
use retrial_readings::Figure;
use retrial_recipe::model::Mode;

/// The folder of the run that counts.
const RUN: &str = "performance/run_1";

/// Reads the performance run of a place.
pub(crate) fn gather(
    place: &ScenarioFolder,
    rules: Option<&Rules>,
    files: &mut Vec<Missing>,
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
            let half_digit = figure.half_digit;
            let figure = FigureValue::new(figure.value, rules.metric.unit.clone());
            let figure = figure.printed(half_digit);
            trial.figures.insert(metric.clone(), figure);
        }
        evidence.published_metric = Some(metric);
        evidence.rules = Some(rules.clone().submitted_to(&place.submitter.division));
    }
    match power::figure(place, &logs.run, files) {
        Some(Ok((name, figure))) => {
            trial.figures.insert(name, figure);
            evidence.checks.extend(power::checksums(place));
        }
        Some(Err(check)) => evidence.checks.push(check),
        None => {}
    }
    let root = &place.submitter.root;
    for folder in ["", "performance", RUN] {
        let folder = root.join(place.results()).join(folder);
        evidence.checks.extend(markers::usual(&folder));
    }
    evidence.checks.extend(other_mode(&logs));
    evidence.checks.extend(other_runs(place));
    evidence.trials.push(trial);
    evidence
}

/// Reads the figure by which a place is published, of its summary where there is one: for lists,
/// which show a result without judging it.
pub fn published_figure(place: &ScenarioFolder, round: Option<&Round>) -> Option<Figure> {
    let (root, folder) = (&place.submitter.root, place.results().join(RUN));
    let summary = folder::summary_at(root, &folder).ok();
    let detail = match summary {
        Some(_) => None,
        None => Some(folder::detail_at(root, &folder).ok()?),
    };
    let run = loadgen::Run { summary, detail };
    let scenario = place.scenario()?;
    let named = official(&place.submitter, &place.benchmark, round);
    match round.and_then(|round| round.rules(named, scenario)) {
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

/// The log of an accuracy run is no evidence of speed.
fn other_mode(logs: &Logs) -> Option<RuleCheck> {
    let mode = logs
        .run
        .mode()
        .filter(|mode| *mode != loadgen::Mode::Performance)?;
    let required = loadgen::Mode::Performance.to_string();
    Some(RuleCheck::failed("mode", mode.to_string(), required))
}

/// Reports runs other than the one that counts, so that they are not taken for it.
fn other_runs(place: &ScenarioFolder) -> Option<RuleCheck> {
    let folder = place
        .submitter
        .root
        .join(place.results())
        .join("performance");
    let others: Vec<String> = folders(&folder)
        .into_iter()
        .filter(|name| name.starts_with("run_") && Path::new(name) != Path::new("run_1"))
        .collect();
    (!others.is_empty()).then(|| {
        RuleCheck::new(
            "runs",
            format!("run_1, and also {}", others.join(", ")),
            "run_1, which is published; the others do not count",
            true,
        )
    })
}
