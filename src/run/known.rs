//! Puts what only a run knows into its plan's texts: commits of models, names and addresses of machines.

use super::session::Session;
use crate::plan::commit::{NamesCommits, commit_later};

/// Returns a part of the plan with what is known by now; of one trial of a measurement, or of none.
pub fn with_known<T: NamesCommits + Clone>(
    session: &Session,
    planned: &T,
    trial: Option<(usize, u32)>,
) -> T {
    let mut part = planned.clone();
    let models = session.state().models;
    let known: Vec<(String, &String)> = models
        .iter()
        .map(|(model, commit)| (commit_later(model), commit))
        .collect();
    for text in part.texts() {
        for (later, commit) in &known {
            if text.contains(later) {
                *text = text.replace(later, commit);
            }
        }
    }
    if let Some(machine) = &session.options.machine {
        session.plan.on_machine(part.texts(), &machine.scope, trial);
    }
    part
}
