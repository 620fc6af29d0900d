//! The next step after a verdict.

use std::path::Path;

use retrial_mlperf::check::CheckKind;

use crate::report::Entry;
use crate::results::verdict::{
    Judgement, MoreTrials, Outcome, QualifierKind, ResultVerdict, Verdict,
};

/// The next step, if the verdict leaves one.
pub(super) fn next(entry: &Entry<'_>) -> Vec<String> {
    let (verdict, evidence) = (entry.verdict, entry.evidence.as_str());
    match verdict.outcome {
        Outcome::Failed => vec![failed(entry)],
        Outcome::Invalid => vec![format!(
            "fix the violated rules and run it again; all rules with measured and required values: \
             {} judge {} --output json",
            entry.program,
            run_id(evidence).unwrap_or(evidence)
        )],
        Outcome::Inconclusive => inconclusive(verdict, entry.command.as_deref()),
        Outcome::Reproduced | Outcome::Measured | Outcome::NotReproduced => Vec::new(),
    }
}

/// The id of a run, which names its directory.
fn run_id(evidence: &str) -> Option<&str> {
    let path = Path::new(evidence);
    let in_runs = path.parent()?.file_name()? == "runs";
    path.file_name().filter(|_| in_runs)?.to_str()
}

fn failed(entry: &Entry<'_>) -> String {
    run_id(&entry.evidence).map_or_else(
        || "read the output of the failed step, under steps/".to_owned(),
        |id| {
            let program = &entry.program;
            format!("read the output of the failed step: {program} logs {id}")
        },
    )
}

fn inconclusive(verdict: &Verdict, command: Option<&str>) -> Vec<String> {
    let mut rules = verdict.results.iter().flat_map(|result| &result.rules);
    if rules.any(|check| check.kind == CheckKind::Excerpt) {
        let text = "judge the whole result directory: an excerpt of LoadGen's summary cannot show validity";
        return vec![text.to_owned()];
    }
    let open: Vec<(&ResultVerdict, &Judgement)> = verdict
        .results
        .iter()
        .flat_map(|result| {
            result
                .judgements
                .iter()
                .map(move |judgement| (result, judgement))
        })
        .filter(|(_, judgement)| judgement.outcome == Outcome::Inconclusive)
        .collect();
    let trials = open
        .iter()
        .filter_map(|(_, judgement)| match judgement.more_trials? {
            MoreTrials::AtLeast(more) | MoreTrials::About(more) => Some(judgement.trials + more),
            MoreTrials::MoreThan(_)
            | MoreTrials::Never
            | MoreTrials::Independent
            | MoreTrials::Finer => None,
        })
        .max();
    let hopeless = open.iter().any(|(_, judgement)| {
        matches!(
            judgement.more_trials,
            Some(MoreTrials::MoreThan(_) | MoreTrials::Never)
        )
    });
    let is_dependent =
        |judgement: &Judgement| judgement.more_trials == Some(MoreTrials::Independent);
    let mut advice: Vec<String> = without_accuracy(verdict).into_iter().collect();
    if open.iter().any(|(_, judgement)| is_dependent(judgement)) {
        let text = "the trials depend on their order: repeat them after a pause or a warm-up, or one by \
                    one in separate runs";
        advice.push(text.to_owned());
    }
    if let Some(trials) = trials {
        let mut scenarios: Vec<String> = open
            .iter()
            .map(|(result, _)| result.scenario.to_lowercase())
            .collect();
        scenarios.dedup();
        let options = format!(
            "--trials {trials} --scenario {}",
            scenarios.join(" --scenario ")
        );
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
        let waits = result
            .judgements
            .iter()
            .any(|one| one.more_trials.is_some());
        let mut qualifiers = result.qualifiers.iter().filter(|_| is_open && !waits);
        qualifiers.find(|one| one.kind == QualifierKind::PerformanceOnly)
    })?;
    let because = &missing.because;
    Some(format!("{because}: run it with --mode accuracy too"))
}
