//! What a run does on its other machines: steps that they execute, too, and their events in its journal.

use super::RunExecution;
use crate::access::RunSession;
use crate::error::Halt;
use crate::nodes::{PeerNodes, compare_images};
use crate::step::StepSession;
use retrial_plan::step::Action;
use retrial_store::StoreError;
use retrial_store::journal::{EventKind, StepEnd};

impl RunExecution<'_> {
    /// Makes the other machines leave. Their containers are preserved if this one's is.
    pub(super) async fn detach_peers(&self) {
        if let Some(others) = &self.session.others {
            others.dismiss_all(self.session.state().container.is_some()).await;
            // A journal that cannot be written fails the next record.
            let _ = record_peer_events(self.session, others);
        }
    }

    /// Does the work of a step on all machines that have it.
    pub(super) async fn work_with_peers(
        &mut self,
        session: &StepSession<'_>,
        others: &PeerNodes,
        reattach: bool,
    ) -> Result<Option<i64>, Halt> {
        let step = session.step;
        session.run_session.failures.remove(step.number);
        if !step.runs_on_head() {
            let work = execute_on_peers(session, others);
            self.telemetry.sample_during(session, work).await?;
            compare_images(session, others).await?;
            return record_service_on_peers(session);
        }
        if matches!(step.action, Action::FetchModel(_) | Action::Populate(_)) {
            // Machines may share the cache: one populates it, the others get a cache hit.
            let code = self.run_with_replacement(session, reattach).await?;
            execute_on_peers(session, others).await?;
            return Ok(code);
        }
        let here = async {
            let done = self.run_with_replacement(session, reattach).await;
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
