//! Images that a batch pulled are removed when none of its trial runs needs them any more. One that the engine had before
//! is never removed: only what was missing is the batch's own, and the journal says so before it is pulled.

use std::collections::BTreeSet;

use super::session::BatchSession;
use crate::journal::BatchEventKind;
use retrial_engine::error::EngineError;
use retrial_store::StoreError;

/// Records which images of a trial run the engine does not have.
pub(super) async fn record_missing_images(
    batch: &BatchSession<'_>,
    trial_run: usize,
) -> Result<(), StoreError> {
    if !batch.job.plan.execution.remove_images {
        return Ok(());
    }
    for image in batch.job.run_maker.images_to_pull(trial_run) {
        let is_own = batch.with_state(|state| state.own_images.contains(&image));
        // An engine that does not answer is the run's to report; then nothing is removed.
        if !is_own && matches!(batch.job.engine.find_image(&image).await, Ok(None)) {
            batch.record(BatchEventKind::ImageMissing { image })?;
        }
    }
    Ok(())
}

/// Removes the images that the batch pulled and that no trial run needs which is still to be executed.
pub(super) async fn remove_unneeded_images(batch: &BatchSession<'_>) -> Result<(), StoreError> {
    let own = batch.with_state(|state| state.own_images.clone());
    if own.is_empty() {
        return Ok(());
    }
    let remaining = batch.trial_runs().into_iter().filter(|trial_run| {
        batch.with_state(|state| !state.has_ended(*trial_run) || state.is_open(*trial_run))
    });
    let needed: BTreeSet<String> =
        remaining.flat_map(|trial_run| batch.job.run_maker.images_to_pull(trial_run)).collect();
    remove_images(batch, own.difference(&needed).cloned().collect()).await
}

/// Removes all images that the batch pulled.
pub(super) async fn remove_own_images(batch: &BatchSession<'_>) -> Result<(), StoreError> {
    let own = batch.with_state(|state| state.own_images.clone());
    remove_images(batch, own.into_iter().collect()).await
}

async fn remove_images(batch: &BatchSession<'_>, images: Vec<String>) -> Result<(), StoreError> {
    for image in images {
        // Gigabytes are not removed while something is measured.
        let _exclusive = match &batch.job.options.measurement_lock {
            Some(lock) => Some(lock.acquire_exclusive().await),
            None => None,
        };
        let removed = match batch.job.engine.remove_image(&image).await {
            Ok(removed) => removed,
            Err(error) => {
                warn(batch, &image, &error)?;
                false
            }
        };
        batch.record(BatchEventKind::ImageRemoved { image, removed })?;
    }
    Ok(())
}

fn warn(batch: &BatchSession<'_>, image: &str, error: &EngineError) -> Result<(), StoreError> {
    batch.record(BatchEventKind::Warning { text: format!("{image} was not removed: {error}") })
}
