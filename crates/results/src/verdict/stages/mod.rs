//! `trials: {min, max}`: trials are added until the evidence decides, in fixed stages with the
//! error split between them, since looking again and again would sooner or later see anything.

use super::draft::ResultDraft;
use super::{Evidence, RunContext};
use retrial_stats::Decision;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StageDecision {
    /// Run the trials of the next stage.
    Continue {
        /// The reason, as a lower-case fragment for the journal.
        reason: String,
    },
    /// The evidence decides, or there is nothing more to run.
    Stop {
        /// The reason, as a lower-case fragment for the journal.
        reason: String,
    },
}

/// Returns whether the trials of stage number `stage` (from 0) of the evidence's stages decide.
///
/// The error is shared between the run's published figures the strict way (Bonferroni), so that
/// what stops a scenario as not reproduced stays so under the run's own correction (Holm), whatever
/// the other scenarios give.
pub fn decide_stage(context: &RunContext, evidence: &Evidence, stage: usize) -> StageDecision {
    let stop = |reason: &str| StageDecision::Stop { reason: reason.to_owned() };
    let draft = ResultDraft::new(context, evidence);
    if !draft.is_valid() {
        return stop("the run violates a rule of the benchmark: more trials do not fix that");
    }
    if draft.compared.is_empty() {
        return stop("nothing was published to compare with");
    }
    let family = context.published_figures.max(draft.compared.len());
    let share = f64::from(u32::try_from(family).unwrap_or(u32::MAX));
    let worse =
        draft.compared.iter().find(|figure| figure.decide(figure.alpha / share) == Decision::Worse);
    if let Some(figure) = worse {
        return stop(&format!("{} is worse than allowed", figure.figure));
    }
    let open = draft.compared.iter().find(|figure| figure.decide(figure.alpha) != Decision::Holds);
    match open {
        None => stop("every published figure holds"),
        Some(figure) if stage + 1 >= evidence.stages.len() => {
            stop(&format!("{} is undecided, and this was the last stage", figure.figure))
        }
        Some(figure) => {
            StageDecision::Continue { reason: format!("{} is undecided so far", figure.figure) }
        }
    }
}

#[cfg(test)]
mod tests;
