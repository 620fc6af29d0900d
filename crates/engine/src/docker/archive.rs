//! Files out of a container, as the tar archive that the engine makes of a path. It needs no
//! mount and works on a stopped container too.

use std::path::Path;

use bollard::Docker as Client;
use bollard::errors::Error;
use bollard::query_parameters::DownloadFromContainerOptions;
use futures_util::StreamExt;
use tokio::fs::File;
use tokio::io::{AsyncWriteExt, BufWriter};

use super::fault::{container_fault, fault};
use crate::error::EngineError;

/// Writes the archive of `path` to the file `to`; false if there is no such path. What was
/// written is removed again when it grows over `limit` or breaks off.
pub async fn copy_out(
    client: &Client,
    container: &str,
    path: &str,
    to: &Path,
    limit: u64,
) -> Result<bool, EngineError> {
    let copied = stream(client, container, path, to, limit).await;
    if copied.is_err() {
        // The first error is the one to tell; the file may not be there at all.
        let _ = tokio::fs::remove_file(to).await;
    }
    copied
}

async fn stream(
    client: &Client,
    container: &str,
    path: &str,
    to: &Path,
    limit: u64,
) -> Result<bool, EngineError> {
    let options = DownloadFromContainerOptions { path: path.into() };
    let mut chunks = client.download_from_container(container, Some(options));
    let mut file: Option<BufWriter<File>> = None;
    let mut written = 0_u64;
    let on_file = |source| EngineError::File {
        path: to.to_owned(),
        source,
    };
    loop {
        let chunk = match chunks.next().await {
            Some(Ok(chunk)) => chunk,
            Some(Err(error)) if is_missing_path(&error) => return Ok(false),
            Some(Err(error)) => return Err(failed(container, path, error)),
            None => break,
        };
        written += chunk.len() as u64;
        if written > limit {
            return Err(EngineError::TooLarge {
                path: path.to_owned(),
                limit,
            });
        }
        let writer = match &mut file {
            Some(writer) => writer,
            none => {
                let made = File::create(to).await.map_err(on_file)?;
                none.insert(BufWriter::with_capacity(1 << 18, made))
            }
        };
        writer.write_all(&chunk).await.map_err(on_file)?;
    }
    if let Some(mut writer) = file {
        writer.flush().await.map_err(on_file)?;
    }
    Ok(written > 0)
}

/// Both a missing path and a missing container are 404; only the words differ.
fn is_missing_path(error: &Error) -> bool {
    matches!(
        error,
        Error::DockerResponseServerError { status_code: 404, message }
            if !message.to_lowercase().contains("no such container")
    )
}

fn failed(container: &str, path: &str, error: Error) -> EngineError {
    if matches!(
        error,
        Error::DockerResponseServerError {
            status_code: 404,
            ..
        }
    ) {
        return container_fault("copy out of", container, error);
    }
    fault(&format!("copy {path} out of {container}"), error)
}
