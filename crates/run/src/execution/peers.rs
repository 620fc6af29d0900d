//! What a run does on its other machines: steps that they execute, too, and their events in its journal.

use super::RunExecution;
use super::retry::run_with_replacement;
use crate::access::RunSession;
use crate::error::Halt;
use crate::nodes::{PeerNodes, compare_images};
use crate::step::StepSession;
use retrial_plan::step::Action;
use retrial_store::StoreError;
use retrial_store::journal::{EventKind, StepEnd};

/// Makes the other machines leave. Their containers are preserved if this one's is.
pub async fn detach_peers(session: &RunSession) {
    if let Some(others) = &session.others {
        others.dismiss_all(session.state().container.is_some()).await;
        // A journal that cannot be written fails the next record.
        let _ = record_peer_events(session, others);
    }
}

/// Does the work of a step on all machines that have it. Returns the exit code of its command on this one.
pub async fn run_on_machines(
    run: &mut RunExecution<'_>,
    session: &StepSession<'_>,
    reattach: bool,
) -> Result<Option<i64>, Halt> {
    let others = session.run_session.others.as_ref();
    match others.filter(|_| session.step.runs_on_others()) {
        None => run_with_replacement(run, session, reattach).await,
        Some(others) => Box::pin(run_with_peers(run, session, others, reattach)).await,
    }
}

async fn run_with_peers(
    run: &mut RunExecution<'_>,
    session: &StepSession<'_>,
    others: &PeerNodes,
    reattach: bool,
) -> Result<Option<i64>, Halt> {
    let step = session.step;
    session.run_session.failures.remove(step.number);
    if !step.runs_on_head() {
        let work = execute_on_peers(session, others);
        run.telemetry.sample_during(session, work).await?;
        compare_images(session, others).await?;
        return record_service_on_peers(session);
    }
    if matches!(step.action, Action::FetchModel(_) | Action::Populate(_)) {
        // Machines may share the cache: one populates it, the others get a cache hit.
        let code = run_with_replacement(run, session, reattach).await?;
        execute_on_peers(session, others).await?;
        return Ok(code);
    }
    let here = async {
        let done = run_with_replacement(run, session, reattach).await;
        if let Err(Halt::Ended(end @ StepEnd::Failed { .. })) = &done {
            others.fail_step(step.number, end.clone());
        }
        done
    };
    let (here, elsewhere) = tokio::join!(here, execute_on_peers(session, others));
    let code = here?;
    elsewhere?;
    compare_images(session, others).await?;
    Ok(code)
}

/// Makes the other machines execute a step, and records their events.
async fn execute_on_peers(session: &StepSession<'_>, others: &PeerNodes) -> Result<(), Halt> {
    let executed = others.execute_step(session.step.number, &session.run_session.stop).await;
    record_peer_events(session.run_session, others)?;
    Ok(executed?)
}

/// Copies events of the other machines into the run's journal.
fn record_peer_events(session: &RunSession, others: &PeerNodes) -> Result<(), StoreError> {
    let mut events = others.take_events().into_iter();
    events.try_for_each(|event| session.record_forwarded(event))
}

/// Records the start or the end of a service that runs on other machines only.
fn record_service_on_peers(session: &StepSession<'_>) -> Result<Option<i64>, Halt> {
    let event = match &session.step.action {
        Action::StartService(started) => {
            EventKind::ServiceReady { service: started.service.clone(), exec: None }
        }
        Action::StopService(ending) => EventKind::ServiceEnded {
            service: ending.service.clone(),
            of: ending.of,
            exit_code: None,
        },
        _ => return Ok(None),
    };
    session.record(event)?;
    Ok(None)
}
