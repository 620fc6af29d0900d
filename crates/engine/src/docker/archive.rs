//! Files out of a container, as the tar archive that the engine makes of a path. It needs no
//! mount and works on a stopped container too.

use bollard::Docker as Client;
use bollard::errors::Error;
use bollard::query_parameters::DownloadFromContainerOptions;
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::sync::mpsc::Sender;

use super::fault::{is_not_found_error, to_container_error, to_engine_error};
use crate::error::EngineError;

/// Sends the archive of `path`; false if there is no such path.
pub async fn send_path_archive(
    client: &Client,
    container: &str,
    path: &str,
    to: Sender<Bytes>,
) -> Result<bool, EngineError> {
    let options = DownloadFromContainerOptions { path: path.into() };
    let mut chunks = client.download_from_container(container, Some(options));
    let mut is_there = false;
    while let Some(chunk) = chunks.next().await {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) if is_missing_path(&error) => return Ok(false),
            Err(error) if is_not_found_error(&error) => {
                return Err(to_container_error("copy out of", container, error));
            }
            Err(error) => {
                return Err(to_engine_error(&format!("copy {path} out of {container}"), error));
            }
        };
        is_there = true;
        if to.send(chunk).await.is_err() {
            break;
        }
    }
    Ok(is_there)
}

/// Both a missing path and a missing container are 404; only the messages differ.
fn is_missing_path(error: &Error) -> bool {
    matches!(
        error,
        Error::DockerResponseServerError { status_code: 404, message }
            if !message.to_lowercase().contains("no such container")
    )
}
