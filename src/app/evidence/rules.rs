//! The verdict on a bundle's run by the built-in rules of its round.

use crate::app::catalog;
use retrial_bundle::comparison::with_rules_of;
use retrial_plan::Plan;
use retrial_results::evidence::run::RunFiles;
use retrial_results::verdict::Verdict;
use retrial_run::judge_files;
use retrial_store::RunDirectory;
use retrial_store::journal::{Event, JournalState};

/// The verdict on a run by the built-in rules of its round.
pub fn judge_by_builtin_rules(directory: &RunDirectory, plan: &Plan, events: &[Event]) -> Verdict {
    let state = JournalState::from_events(events);
    let builtin = with_rules_of(plan, catalog::built_in_rounds());
    judge_files(&RunFiles::with_telemetry(directory, &builtin, &state))
}
