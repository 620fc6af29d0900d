//! The engine's information on a local image.

use bollard::Docker as Client;
use bollard::models::ImageInspect;
use bollard::query_parameters::RemoveImageOptions;

use super::fault::{is_conflict_error, is_not_found_error, to_engine_error};
use crate::api::ImageInfo;
use crate::error::EngineError;
use retrial_container::ImageRef;

/// Returns the image by reference or id, if the engine has it.
pub async fn find_image(
    client: &Client,
    reference: &str,
) -> Result<Option<ImageInfo>, EngineError> {
    match client.inspect_image(&lookup_name(reference)?).await {
        Ok(image) => Ok(Some(to_image_info(image))),
        Err(error) if is_not_found_error(&error) => Ok(None),
        Err(error) => Err(to_engine_error(&format!("inspect the image {reference}"), error)),
    }
}

/// Removes an image by reference or id; false if there is none, or if a container uses it.
pub async fn remove_image(client: &Client, reference: &str) -> Result<bool, EngineError> {
    let options =
        RemoveImageOptions { force: false, noprune: false, ..RemoveImageOptions::default() };
    match client.remove_image(&lookup_name(reference)?, Some(options), None).await {
        Ok(_) => Ok(true),
        Err(error) if is_not_found_error(&error) || is_conflict_error(&error) => Ok(false),
        Err(error) => Err(to_engine_error(&format!("remove the image {reference}"), error)),
    }
}

fn lookup_name(reference: &str) -> Result<String, EngineError> {
    if is_image_id(reference) {
        return Ok(reference.to_owned());
    }
    Ok(ImageRef::parse(reference)?.to_lookup_reference())
}

fn is_image_id(text: &str) -> bool {
    let id = text.strip_prefix("sha256:").unwrap_or(text);
    id.len() >= 12 && id.bytes().all(|b| b.is_ascii_hexdigit())
}

fn to_image_info(image: ImageInspect) -> ImageInfo {
    let config = image.config.unwrap_or_default();
    ImageInfo {
        id: image.id.unwrap_or_default(),
        repo_digests: image.repo_digests.unwrap_or_default(),
        size: u64::try_from(image.size.unwrap_or(0)).unwrap_or(0),
        env: config.env.unwrap_or_default(),
        entrypoint: config.entrypoint.unwrap_or_default(),
        command: config.cmd.unwrap_or_default(),
    }
}
