//! What is measured is not disturbed by what else is done on this machine: images that are pulled
//! wait for a moment in which no run of the batch is between its first and its last measurement,
//! and a run that wants to measure waits for a pull that has begun.
//!
//! The order is that of asking, so that neither waits for ever.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use super::control::GRACE_S;
use super::session::Session;
use crate::plan::step::{Action, Plan, Purpose, Step};
use crate::store::StoreError;

/// How often a container that waits is told to live on.
const RENEWED: Duration = Duration::from_secs(GRACE_S / 3);

/// Shared by all runs of a batch and whoever pulls their images.
#[derive(Debug, Clone, Default)]
pub struct MeasurementLock(Arc<RwLock<()>>);

/// Held while a run measures.
pub(crate) type Measuring = OwnedRwLockReadGuard<()>;
/// Held while something disturbs.
pub(crate) type Disturbing = OwnedRwLockWriteGuard<()>;

impl MeasurementLock {
    /// Waits until nobody measures.
    pub(crate) async fn disturb(&self) -> Disturbing {
        Arc::clone(&self.0).write_owned().await
    }

    async fn measure(&self) -> Measuring {
        Arc::clone(&self.0).read_owned().await
    }
}

/// Waits until nothing disturbs, where the run is one of several; none if it is stopped meanwhile,
/// or has nobody beside it.
pub(crate) async fn measuring(session: &Session) -> Result<Option<Measuring>, StoreError> {
    let Some(quiet) = &session.options.quiet else {
        return Ok(None);
    };
    let held = quiet.measure();
    tokio::pin!(held);
    loop {
        tokio::select! {
            biased;
            held = &mut held => return Ok(Some(held)),
            () = session.stop.cancelled() => return Ok(None),
            // The container must not end at its deadline while it waits.
            () = tokio::time::sleep(RENEWED) => session.control.set_deadline(Some(GRACE_S))?,
        }
    }
}

/// Waits until nobody measures, before something is done that disturbs.
pub(crate) async fn disturbing(session: &Session) -> Option<Disturbing> {
    let quiet = session.options.quiet.as_ref()?;
    tokio::select! {
        biased;
        held = quiet.disturb() => Some(held),
        () = session.stop.cancelled() => None,
    }
}

/// Whether a step measures, or belongs to what was measured.
pub(crate) fn measures(step: &Step) -> bool {
    match &step.action {
        Action::Exec(exec) => exec.purpose != Purpose::Prepare,
        Action::Collect { .. } => true,
        _ => false,
    }
}

/// Whether anything is measured after a step.
pub(crate) fn more_is_measured(plan: &Plan, after: &Step) -> bool {
    let mut steps = plan.steps.iter();
    steps.any(|step| step.number > after.number && measures(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_pull_waits_for_those_who_measure_and_they_for_it() {
        let quiet = MeasurementLock::default();
        let (one, other) = (quiet.measure().await, quiet.measure().await);
        let pull = tokio::spawn({
            let quiet = quiet.clone();
            async move { quiet.disturb().await }
        });
        tokio::task::yield_now().await;
        // It has asked: whoever comes later waits for it.
        let late = tokio::spawn({
            let quiet = quiet.clone();
            async move { quiet.measure().await }
        });
        tokio::task::yield_now().await;
        drop(one);
        tokio::task::yield_now().await;
        assert!(!pull.is_finished() && !late.is_finished());
        drop(other);
        let pulling = pull.await.unwrap();
        tokio::task::yield_now().await;
        assert!(!late.is_finished());
        drop(pulling);
        late.await.unwrap();
    }
}
