//! Finds images that neither the engine nor the registry has, before anything is measured.

use crate::api::Engine;
use crate::credentials;
use crate::error::EngineError;

/// Asks the engine and the registry for an image that a run would pull. Returns the pull's error if neither has it;
/// none if one has it, or if the registry cannot be asked now.
pub async fn find_missing_image(engine: &dyn Engine, reference: &str) -> Option<EngineError> {
    if !matches!(engine.find_image(reference).await, Ok(None)) {
        return None;
    }
    let auth = credentials::find_image_credentials(reference).await.ok()?;
    let answer = engine.fetch_registry_digest(reference, auth).await;
    answer.err().filter(EngineError::is_missing_image)
}
