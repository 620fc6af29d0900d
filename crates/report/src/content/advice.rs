//! The next step after a verdict.

use std::path::Path;

use itertools::{Itertools as _, join};

use retrial_mlperf::check::{RuleCheck, RuleCheckKind};
use retrial_mlperf::figures::find_known_figure;

use crate::{OpenRun, ReportedVerdict};
use retrial_results::verdict::{
    Judgement, MoreTrials, Outcome, QualifierKind, ResultVerdict, StepOutcome, Verdict,
};

/// The next step, if the verdict leaves one.
pub(super) fn next_steps(entry: &ReportedVerdict<'_>) -> Vec<String> {
    let verdict = entry.verdict;
    if let Some(open_run) = entry.open_run {
        return advise_on_open_run(entry, open_run).into_iter().collect();
    }
    let misread = advise_on_misread(entry);
    match verdict.outcome {
        Outcome::Failed => vec![advise_on_failed(entry)],
        Outcome::Invalid => advise_on_invalid(entry),
        Outcome::Inconclusive => {
            let others = advise_on_inconclusive(verdict, entry.command.as_deref());
            [misread, others].concat()
        }
        Outcome::NotReproduced => misread,
        Outcome::Reproduced | Outcome::Measured | Outcome::Running => Vec::new(),
    }
}

/// The id of a run, which names its directory.
fn run_id(evidence: &str) -> Option<&str> {
    let path = Path::new(evidence);
    let in_runs = path.parent()?.file_name()? == "runs";
    path.file_name().filter(|_| in_runs)?.to_str()
}

/// How to correct figures that do not hold and are probably misread.
fn advise_on_misread(entry: &ReportedVerdict<'_>) -> Vec<String> {
    let judgements = entry.verdict.results.iter().flat_map(|result| &result.judgements);
    let misread = judgements.filter(|judgement| {
        judgement.outcome != Outcome::Reproduced && judgement.is_probably_misread()
    });
    let figures = join(misread.map(|judgement| format!("`{}`", judgement.figure)).unique(), ", ");
    if figures.is_empty() {
        return Vec::new();
    }
    let (program, evidence) = (&entry.program, &entry.evidence);
    let subject = run_id(evidence).unwrap_or(evidence);
    vec![
        format!("see the line from which {figures} was read: {program} judge {subject} --verbose"),
        format!(
            "if the pattern or the unit is wrong, correct the recipe and judge again, without a measurement: \
             {program} judge {subject} --recipe FILE"
        ),
    ]
}

fn advise_on_invalid(entry: &ReportedVerdict<'_>) -> Vec<String> {
    let program = &entry.program;
    let id = run_id(&entry.evidence);
    let logs = id.filter(|_| misses_own_figure(entry.verdict)).map(|id| {
        format!(
            "correct the figure in the recipe by what the step printed ({program} logs {id}), and judge the run \
             by it: {program} judge {id} --recipe FILE"
        )
    });
    let of_results = entry.verdict.results.iter().flat_map(|result| &result.rules);
    let failed: Vec<&RuleCheck> =
        entry.rules.iter().chain(of_results).filter(|rule| !rule.passed).collect();
    let is_violated = failed.iter().any(|rule| rule.kind != RuleCheckKind::NoFigure);
    let rules = (is_violated || logs.is_none() && !failed.is_empty()).then(|| {
        // Results of others are not run again.
        let fix = id.filter(|_| is_violated);
        let fix = fix.map_or("", |_| "fix the violated rules and run it again; ");
        // What a folder was judged by is not known here.
        let how = match id {
            Some(id) => format!("{program} judge {id} --output json"),
            None => "add --output json".to_owned(),
        };
        format!("{fix}all rules with measured and required values: {how}")
    });
    logs.into_iter().chain(rules).collect()
}

/// Returns whether all steps of a result succeeded, and a published figure that the recipe itself reads is missing, or
/// any figure where none was published.
fn misses_own_figure(verdict: &Verdict) -> bool {
    let is_missing = |judgement: &Judgement| {
        judgement.measured.is_none() && find_known_figure(&judgement.figure).is_none()
    };
    verdict.results.iter().any(|result| {
        let (mut trials, mut judgements) = (result.trials.iter(), result.judgements.iter());
        let is_without_figure =
            result.judgements.is_empty() && trials.clone().any(|trial| trial.figures.is_empty());
        trials.all(|trial| matches!(trial.step, StepOutcome::Finished))
            && (is_without_figure || judgements.any(is_missing))
    })
}

/// How a run goes on that has not come to its own verdict.
fn advise_on_open_run(entry: &ReportedVerdict<'_>, open_run: OpenRun) -> Option<String> {
    let (program, id) = (&entry.program, run_id(&entry.evidence)?);
    Some(match open_run {
        OpenRun::Interrupted => format!("resume it: {program} resume {id}"),
        OpenRun::InProgress => format!("follow it: {program} attach {id}"),
        OpenRun::HostFailed => {
            format!("resume it once the cause is removed: {program} resume {id}")
        }
    })
}

fn advise_on_failed(entry: &ReportedVerdict<'_>) -> String {
    let results = entry.verdict.results.iter();
    let mut trials = results.flat_map(|result| &result.trials);
    let has_output = trials.any(|trial| {
        matches!(trial.step, StepOutcome::Failed { .. } | StepOutcome::TimedOut { .. })
    });
    match (run_id(&entry.evidence), &entry.command) {
        // No measurement began, so none has an output.
        (_, Some(command)) if !has_output => {
            format!("remove the cause and run it again: {command}")
        }
        (Some(id), _) => {
            let program = &entry.program;
            format!("read the output of the failed step: {program} logs {id}")
        }
        (None, _) => "read the output of the failed step, under steps/".to_owned(),
    }
}

fn advise_on_inconclusive(verdict: &Verdict, command: Option<&str>) -> Vec<String> {
    let mut rules = verdict.results.iter().flat_map(|result| &result.rules);
    if rules.any(|check| check.kind == RuleCheckKind::Excerpt) {
        let text = "judge the whole result directory: an excerpt of LoadGen's summary cannot show validity";
        return vec![text.to_owned()];
    }
    let all = verdict.results.iter().flat_map(|result| {
        let judgements = result.judgements.iter();
        judgements.map(move |judgement| (result, judgement))
    });
    let open_judgements = all.filter(|(_, judgement)| {
        judgement.outcome == Outcome::Inconclusive && !judgement.is_probably_misread()
    });
    let open: Vec<(&ResultVerdict, &Judgement)> = open_judgements.collect();
    let judged = open.iter();
    let more_trials =
        judged.filter_map(|(_, judgement)| Some((judgement.trials, judgement.more_trials?)));
    let more = more_trials.collect_vec();
    let trial_totals = more.iter().filter_map(|(trials, more)| match more {
        MoreTrials::AtLeast(more) | MoreTrials::About(more) => Some(trials + more),
        _ => None,
    });
    let trials = trial_totals.max();
    let any = |is: fn(MoreTrials) -> bool| more.iter().any(|(_, more)| is(*more));
    let hopeless = any(|more| matches!(more, MoreTrials::MoreThan(_) | MoreTrials::Never));
    let mut advice = Vec::from_iter(without_accuracy(verdict));
    let mut qualifiers = verdict.qualifiers.iter();
    if more.is_empty() && qualifiers.any(|one| one.kind == QualifierKind::IdleGpus) {
        let text = "the output of the step may say why the GPUs were not used; without their sensors: \
                    --telemetry off";
        advice.push(text.to_owned());
    }
    if any(|more| more == MoreTrials::Independent) {
        let text = "the trials depend on their order: repeat them after a pause or a warm-up, or one by \
                    one in separate runs";
        advice.push(text.to_owned());
    }
    if let Some(trials) = trials {
        let open_scenarios = open.iter().map(|(result, _)| result.scenario.to_lowercase());
        let scenarios = open_scenarios.dedup().map(|scenario| format!(" --scenario {scenario}"));
        let options = format!("--trials {trials}{}", join(scenarios, ""));
        advice.push(match command {
            Some(command) => format!("more trials: {command} {options}"),
            None => format!("more trials: run it again with {options}"),
        });
    }
    if hopeless {
        advice.push(
            "more trials will not decide it: use a quieter host, or set a wider margin in the recipe \
             beforehand"
                .to_owned(),
        );
    }
    advice
}

/// Results that only lack their accuracy: they are undecided, and no trial would decide them.
fn without_accuracy(verdict: &Verdict) -> Option<String> {
    let missing = verdict.results.iter().find_map(|result| {
        let is_open = result.outcome == Outcome::Inconclusive;
        let mut judgements = result.judgements.iter();
        let waits = judgements.any(|judgement| judgement.more_trials.is_some());
        let mut qualifiers = result.qualifiers.iter().filter(|_| is_open && !waits);
        qualifiers.find(|qualifier| qualifier.kind == QualifierKind::PerformanceOnly)
    })?;
    let reason = &missing.reason;
    Some(format!("{reason}: run it with --mode accuracy too"))
}
