//! Work that disturbs measurements on this machine takes turns with them: an image is pulled while no run of
//! the batch is between its first and its last measurement, and a run that wants to measure waits for a pull in
//! progress.
//!
//! Requests are served in order, so that neither side waits forever.

use std::sync::Arc;

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use retrial_plan::step::{Action, CommandPurpose, Plan, Step};

/// Shared by all runs of a batch and the pulls of their images.
#[derive(Debug, Clone, Default)]
pub struct MeasurementLock(Arc<RwLock<()>>);

/// Held while a run measures.
pub(crate) type SharedGuard = OwnedRwLockReadGuard<()>;
/// Held while something disturbs measurements.
pub(crate) type ExclusiveGuard = OwnedRwLockWriteGuard<()>;

impl MeasurementLock {
    /// Waits until no run measures.
    pub async fn acquire_exclusive(&self) -> ExclusiveGuard {
        Arc::clone(&self.0).write_owned().await
    }

    /// Waits until nothing disturbs.
    pub(crate) async fn acquire_shared(&self) -> SharedGuard {
        Arc::clone(&self.0).read_owned().await
    }
}

/// Returns whether a step measures, collects what was measured, or starts or stops a service for it.
pub(crate) fn is_measuring_step(step: &Step) -> bool {
    match &step.action {
        Action::Exec(exec) => exec.purpose != CommandPurpose::Prepare,
        Action::Collect { .. } | Action::StartService(_) | Action::StopService(_) => true,
        _ => false,
    }
}

/// Returns whether anything is measured after a step.
pub(crate) fn has_later_measurement(plan: &Plan, after: &Step) -> bool {
    let mut steps = plan.steps.iter();
    steps.any(|step| step.number > after.number && is_measuring_step(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn pulls_and_measurements_wait_for_each_other() {
        let lock = MeasurementLock::default();
        let (first, second) = (lock.acquire_shared().await, lock.acquire_shared().await);
        let pull = tokio::spawn({
            let lock = lock.clone();
            async move { lock.acquire_exclusive().await }
        });
        tokio::task::yield_now().await;
        // It is queued: later requests wait for it.
        let late = tokio::spawn({
            let lock = lock.clone();
            async move { lock.acquire_shared().await }
        });
        tokio::task::yield_now().await;
        drop(first);
        tokio::task::yield_now().await;
        assert!(!pull.is_finished() && !late.is_finished());
        drop(second);
        let pulling = pull.await.unwrap();
        tokio::task::yield_now().await;
        assert!(!late.is_finished());
        drop(pulling);
        late.await.unwrap();
    }
}
