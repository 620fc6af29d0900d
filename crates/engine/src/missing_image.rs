//! Images that exist nowhere, found before anything is measured: neither the engine nor the registry has them.

use crate::api::Engine;
use crate::credentials;
use crate::error::EngineError;

/// Asks for an image that a run would pull. Returns the error of the pull if neither the engine nor the registry has
/// it; none if it exists, or if nobody can say so now.
pub async fn find_missing_image(engine: &dyn Engine, reference: &str) -> Option<EngineError> {
    if !matches!(engine.find_image(reference).await, Ok(None)) {
        return None;
    }
    let auth = credentials::find_image_credentials(reference).await.ok()?;
    let answer = engine.fetch_registry_digest(reference, auth).await;
    answer.err().filter(EngineError::is_missing_image)
}
