//! Decides whether a step is tried again: if the run's container ended before anything ran in it. An engine that is
//! stopped while it starts a container reports that it was started, and then stops it, even with live-restore.
//!
//! Requests to the engine that fail are repeated below this, by `access`.

use super::RunExecution;
use super::action::run_action;
use crate::container;
use crate::error::Halt;
use crate::step::StepSession;
use retrial_plan::step::{Action, Step};
use retrial_store::journal::EventKind;

/// How often a container is created again in one step: an engine that is restarted more often is broken.
const MAX_REPLACEMENTS: usize = 5;

/// Does the work of a step on this machine; again, as long as that fails and the container is replaced.
pub async fn run_with_replacement(
    run: &mut RunExecution<'_>,
    session: &StepSession<'_>,
    reattach: bool,
) -> Result<Option<i64>, Halt> {
    let mut done = Box::pin(run_action(run, session, reattach)).await;
    for _ in 0..MAX_REPLACEMENTS {
        if done.is_ok() || !Box::pin(replace_unused_container(session)).await? {
            break;
        }
        done = Box::pin(run_action(run, session, reattach)).await;
    }
    done
}

/// Replaces the run's container if the engine was restarted during this step, which failed, and the container
/// has ended unused. Returns whether it did.
async fn replace_unused_container(failed: &StepSession<'_>) -> Result<bool, Halt> {
    let session = failed.run_session;
    if session.engine.waited_time().is_zero() || session.stop.is_cancelled() {
        return Ok(false);
    }
    let state = session.state();
    let made_by_step = state.made_by.and_then(|maker| session.plan.step(maker));
    let maker = made_by_step.filter(|maker| maker.action == Action::Create);
    let (Some(id), Some(maker)) = (&state.container, maker) else {
        return Ok(false);
    };
    let ran = |step: &Step| {
        step.number > maker.number && session.control.step_control(step).has_started()
    };
    if !state.service_containers.is_empty() || session.plan.steps.iter().any(ran) {
        return Ok(false);
    }
    let found = session.with_engine(|engine| engine.inspect_container(id)).await?;
    if found.is_none_or(|found| found.running) {
        return Ok(false);
    }
    let text = "the container ended with its engine before anything ran in it: creating it again";
    failed.record(EventKind::Warning { text: text.to_owned() })?;
    container::discard_container(session, id).await?;
    container::create_main_container(&StepSession::new(session, maker)).await?;
    Ok(true)
}
