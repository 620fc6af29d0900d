//! Pulls: progress per layer, and retries where a registry fails for a moment.

use std::time::Duration;

use bollard::Docker as Client;
use bollard::auth::DockerCredentials;
use bollard::errors::Error;
use bollard::models::ProgressDetail;
use bollard::query_parameters::CreateImageOptions;
use futures_util::TryStreamExt;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::sleep;

use super::fault::{
    engine_message, is_connection_error, is_not_found_error, root_cause, to_engine_error,
    without_stray_line_break,
};
use super::image;
use super::pull_failure::{PullFailure, classify_pull_failure};
use crate::api::{ImageInfo, ImageProgress, RegistryAuth};
use crate::error::EngineError;
use retrial_container::ImageRef;

/// The maximum number of attempts of a pull. Layers that arrived stay, so each attempt has less to do.
const MAX_PULL_ATTEMPTS: u32 = 5;

/// The timeout of the first byte, which the engine sends only when it has the registry's manifest.
const MANIFEST_TIMEOUT: Duration = Duration::from_mins(10);

/// Asks the registry for a reference's digest, by way of the engine, as a pull would.
pub async fn fetch_registry_digest(
    client: &Client,
    reference: &str,
    auth: Option<RegistryAuth>,
) -> Result<String, EngineError> {
    let parsed = ImageRef::parse(reference)?;
    let credentials = auth.map(|auth| to_docker_credentials(&parsed, auth));
    let name = parsed.to_lookup_reference();
    let answer = client.inspect_registry_image(&name, credentials).await;
    let manifest = answer.map_err(|error| pull_error(error, &parsed, 1))?;
    let reason = "the registry names no digest";
    let digest = manifest.descriptor.digest;
    digest.ok_or_else(|| pull_failure_error(PullFailure::Other, &parsed, reason, 1))
}

/// Pulls an image and returns its information.
pub async fn pull_image(
    client: &Client,
    reference: &str,
    auth: Option<RegistryAuth>,
    progress: &UnboundedSender<ImageProgress>,
    backoff: Duration,
) -> Result<ImageInfo, EngineError> {
    let parsed = ImageRef::parse(reference)?;
    let patient = client.clone().with_timeout(MANIFEST_TIMEOUT);
    let credentials = auth.map(|auth| to_docker_credentials(&parsed, auth));
    let mut tries = 1;
    let mut pause = backoff;
    while let Err(error) = pull_once(&patient, &parsed, credentials.clone(), progress).await {
        let (is_transient, reason) = match engine_message(&error) {
            Some(words) => (classify_pull_failure(words).is_transient(), words.trim().to_owned()),
            None => (is_connection_error(&error), root_cause(&error)),
        };
        if !is_transient || tries == MAX_PULL_ATTEMPTS {
            return Err(pull_error(error, &parsed, tries));
        }
        tries += 1;
        let after_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        // The listener was dropped: the pull itself continues.
        let _ = progress.send(ImageProgress::Retry { reason, attempt: tries, after_ms });
        sleep(pause).await;
        pause *= 2;
    }
    let reason = "the engine pulled it but does not list it";
    let pulled_image = image::find_image(client, reference).await?;
    pulled_image.ok_or_else(|| pull_failure_error(PullFailure::Other, &parsed, reason, 1))
}

async fn pull_once(
    client: &Client,
    reference: &ImageRef,
    credentials: Option<DockerCredentials>,
    progress: &UnboundedSender<ImageProgress>,
) -> Result<(), Error> {
    // Without a tag the engine would pull all there are.
    let options = CreateImageOptions {
        from_image: Some(reference.name()),
        tag: Some(reference.digest_or_tag().to_owned()),
        ..CreateImageOptions::default()
    };
    let mut messages =
        without_stray_line_break(client.create_image(Some(options), None, credentials));
    while let Some(message) = messages.try_next().await? {
        if let Some(step) = layer_progress(message.id, message.status, message.progress_detail) {
            // Without a listener the pull continues.
            let _ = progress.send(step);
        }
    }
    Ok(())
}

/// Progress of a layer; a line where there is no layer, and none without words. The first message of
/// a pull carries the tag where later ones have the layer's id.
pub fn layer_progress(
    id: Option<String>,
    stated_status: Option<String>,
    stated_detail: Option<ProgressDetail>,
) -> Option<ImageProgress> {
    let status = stated_status.filter(|status| !status.is_empty())?;
    let bytes = |count: Option<i64>| count.and_then(|count| u64::try_from(count).ok());
    let detail = stated_detail.unwrap_or_default();
    Some(match id {
        Some(id) if !status.starts_with("Pulling from") => ImageProgress::Layer {
            id,
            status,
            current: bytes(detail.current),
            total: bytes(detail.total),
        },
        _ => ImageProgress::Line(status),
    })
}

fn pull_error(error: Error, reference: &ImageRef, tries: u32) -> EngineError {
    match engine_message(&error) {
        Some(message) => {
            let failure = match classify_pull_failure(message) {
                // Newer engines pass on the registry's status.
                PullFailure::Other if is_not_found_error(&error) => PullFailure::NotFound,
                failure => failure,
            };
            pull_failure_error(failure, reference, message, tries)
        }
        None => to_engine_error(&format!("pull {reference}"), error),
    }
}

/// Returns the error of a pull, from the engine's message.
fn pull_failure_error(
    failure: PullFailure,
    reference: &ImageRef,
    message: &str,
    tries: u32,
) -> EngineError {
    let reason = message.trim().to_owned();
    if failure == PullFailure::NoSpace {
        return EngineError::NoSpace { operation: format!("pull {reference}"), reason };
    }
    EngineError::Pull { reference: Box::new(reference.clone()), failure, tries, reason }
}

/// Converts credentials to the engine's format.
pub fn to_docker_credentials(reference: &ImageRef, auth: RegistryAuth) -> DockerCredentials {
    DockerCredentials {
        username: auth.username,
        password: auth.password,
        identitytoken: auth.identity_token,
        serveraddress: Some(reference.credentials_key().to_owned()),
        ..DockerCredentials::default()
    }
}
