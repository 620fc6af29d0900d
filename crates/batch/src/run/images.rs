//! Images of later trial runs are pulled while something runs: between measurements, also during them if
//! requested, or never ahead.

use std::collections::BTreeSet;
use std::time::Instant;

use tokio::sync::mpsc::unbounded_channel;

use super::session::BatchSession;
use crate::journal::BatchEventKind;
use retrial_document::ErrorText;
use retrial_engine::credentials;
use retrial_engine::error::EngineError;
use retrial_store::StoreError;

/// Pulls one image after the other, in the order of the trial runs that need them.
pub(super) async fn pull_images_ahead(batch: &BatchSession<'_>) -> Result<(), StoreError> {
    // The first run pulls its own image, and what is being measured already is not disturbed.
    batch.pull_allowed.notified().await;
    let mut checked_images = BTreeSet::new();
    for trial_run in batch.trial_runs() {
        // A trial run that has started pulls its own images, and reports them.
        if batch.with_state(|state| state.trial_runs.contains_key(&trial_run)) {
            continue;
        }
        for image in batch.job.run_maker.images_to_pull(trial_run) {
            if !checked_images.insert(image.clone()) {
                continue;
            }
            let since = Instant::now();
            let pulled = match pull_if_missing(batch, &image).await {
                Ok(false) => continue,
                Ok(true) => {
                    BatchEventKind::ImagePulled { image, seconds: since.elapsed().as_secs_f64() }
                }
                // Its trial run will try it again, and say so in its own run.
                Err(error) => BatchEventKind::ImageFailed { image, error: ErrorText::of(&error) },
            };
            batch.record(pulled)?;
        }
    }
    Ok(())
}

/// Pulls an image that the engine does not have; returns whether that was needed.
async fn pull_if_missing(batch: &BatchSession<'_>, image: &str) -> Result<bool, EngineError> {
    if batch.job.engine.find_image(image).await?.is_some() {
        return Ok(false);
    }
    let _exclusive = match &batch.job.options.measurement_lock {
        Some(lock) => Some(lock.acquire_exclusive().await),
        None => None,
    };
    if batch.job.engine.find_image(image).await?.is_some() {
        return Ok(false);
    }
    let auth = credentials::find_image_credentials(image).await?;
    let (progress, unwatched) = unbounded_channel();
    drop(unwatched);
    batch.job.engine.pull_image(image, auth, progress).await?;
    Ok(true)
}
