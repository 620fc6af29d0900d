//! Fills values known only at run time into the plan's texts: commits of models, names and addresses of
//! machines.

use super::session::RunSession;
use retrial_plan::Plan;
use retrial_plan::commit::{PlaceholderTexts, commit_placeholder};
use retrial_recipe::expression::NodeScope;

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
    let machine = session.options.machine.as_ref().map(|machine| machine.scope.clone());
    if let Some(machine) = machine.or_else(|| only_machine(&session.plan)) {
        session.plan.render_on_machine(part.rendered_texts(), &machine, trial);
    }
    part
}

/// The values of this machine for a recipe of several that has one, and was given no others.
fn only_machine(plan: &Plan) -> Option<NodeScope> {
    let all_gpus = plan.nodes.map(|_| plan.total_gpus().unwrap_or(0))?;
    Some(NodeScope {
        name: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        gpus: Some(all_gpus),
        head: "127.0.0.1".to_owned(),
        count: 1,
        all_gpus,
    })
}
