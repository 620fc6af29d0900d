//! The engine's information on a local image.

use bollard::Docker as Client;
use bollard::models::ImageInspect;

use super::fault::{fault, is_missing};
use crate::api::ImageInfo;
use crate::error::EngineError;
use retrial_container::ImageRef;

/// Returns the image by reference or id, if the engine has it.
pub async fn inspect(client: &Client, reference: &str) -> Result<Option<ImageInfo>, EngineError> {
    let name = if is_id(reference) {
        reference.to_owned()
    } else {
        ImageRef::parse(reference)?.lookup()
    };
    match client.inspect_image(&name).await {
        Ok(image) => Ok(Some(info(image))),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(fault(&format!("inspect the image {reference}"), error)),
    }
}

fn is_id(text: &str) -> bool {
    let id = text.strip_prefix("sha256:").unwrap_or(text);
    id.len() >= 12 && id.bytes().all(|b| b.is_ascii_hexdigit())
}

fn info(image: ImageInspect) -> ImageInfo {
    let config = image.config.unwrap_or_default();
    ImageInfo {
        id: image.id.unwrap_or_default(),
        repo_digests: image.repo_digests.unwrap_or_default(),
        size: u64::try_from(image.size.unwrap_or(0)).unwrap_or(0),
        env: config.env.unwrap_or_default(),
    }
}
