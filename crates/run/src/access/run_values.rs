//! Fills values known only at run time into the plan's texts: commits of models, names and addresses of
//! machines.

use super::session::RunSession;
use retrial_plan::commit::{PlaceholderTexts, commit_placeholder};

/// Returns a part of the plan with the values known so far; for one trial of a measurement, or for none.
pub fn fill_run_values<T: PlaceholderTexts + Clone>(
    session: &RunSession,
    planned: &T,
    trial: Option<(usize, u32)>,
) -> T {
    let mut part = planned.clone();
    let state = session.state();
    let commits: Vec<(String, &String)> =
        state.models.iter().map(|(model, commit)| (commit_placeholder(model), commit)).collect();
    for text in part.rendered_texts() {
        for (later, commit) in &commits {
            if text.contains(later) {
                *text = text.replace(later, commit);
            }
        }
    }
    if let Some(machine) = &session.options.machine {
        session.plan.render_on_machine(part.rendered_texts(), &machine.scope, trial);
    }
    part
}
