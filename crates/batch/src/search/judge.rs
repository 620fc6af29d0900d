//! From the trials of a search to its verdict.

use super::{RunObservation, SearchOutcome, SearchState, SearchTrial, SearchVerdict, sentence};
use crate::BatchPlan;
use retrial_mlperf::ScenarioName;
use retrial_results::verdict::{Bounds, ExitCode};
use retrial_stats::search::SearchStep;

/// Judges a search by its trials so far. The caller adds the differences between environments.
pub fn judge_search(plan: &BatchPlan, course: &SearchState<'_>) -> SearchVerdict {
    let axis = &course.search.axis;
    let value = |cell: usize| {
        let cell = plan.cells.get(cell);
        let value = cell.map(|cell| cell.axes.get(axis).unwrap_or(&cell.name));
        value.unwrap_or_default().to_owned()
    };
    let next = course.next_step();
    let (outcome, pair, found) = match &next {
        Ok(SearchStep::Found(found)) => {
            let pair = (found.before, found.after);
            (SearchOutcome::Found, Some(pair), Some(found))
        }
        Ok(SearchStep::NoDifference) => (SearchOutcome::NoDifference, None, None),
        Ok(SearchStep::Undecided { first, last }) => {
            (SearchOutcome::NotDecided, Some((*first, *last)), None)
        }
        Ok(SearchStep::Measure(_) | SearchStep::EndsUndecided) | Err(_) => {
            (SearchOutcome::NotDecided, None, None)
        }
    };
    let ratio = found.and_then(|found| found.ratio);
    let skipped = course.skipped_cells();
    let measured = course.searched_figure();
    let text = |field: Option<&String>| field.cloned().unwrap_or_default();
    let mut verdict = SearchVerdict {
        axis: axis.clone(),
        values: (0..course.cells).map(value).collect(),
        criterion: course.search.criterion,
        scenario: measured.map_or_else(ScenarioName::default, |figure| figure.scenario.clone()),
        points: measured.map_or(0, |figure| figure.points),
        figure: text(measured.map(|figure| &figure.figure)),
        unit: text(measured.map(|figure| &figure.unit)),
        outcome,
        before: pair.map(|(before, _)| value(before)),
        after: pair.map(|(_, after)| value(after)),
        probability: found.map(|found| found.probability),
        ratio: ratio.map(|ratio| ratio.center.exp()),
        interval: ratio.map(|ratio| Bounds::from_logs(ratio.bounds)),
        trials: course
            .trials
            .iter()
            .map(|trial| SearchTrial {
                value: value(trial.cell),
                run: trial.run.clone(),
                figure: trial.observed.figure().map(|measured| measured.value),
                answer: match &trial.observed {
                    RunObservation::Answer(yes) => Some(*yes),
                    _ => None,
                },
            })
            .collect(),
        sweep: found.map(|found| found.sweep),
        skipped: skipped.iter().map(|(cell, reason)| (value(*cell), reason.clone())).collect(),
        changes: Vec::new(),
        sentence: String::new(),
        exit_code: match outcome {
            SearchOutcome::Found => ExitCode::Success,
            SearchOutcome::NoDifference => ExitCode::NotReproduced,
            SearchOutcome::NotDecided => ExitCode::Inconclusive,
        },
    };
    verdict.sentence = sentence::describe_search(&verdict, &next, plan.execution.confidence);
    verdict
}
