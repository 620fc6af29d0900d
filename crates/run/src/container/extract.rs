//! Copies a path out of a container through the engine's archive call, which needs no mount and omits nothing.
//! The store unpacks the stream without trusting the archive.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use tokio::sync::mpsc::{Receiver, channel};

use crate::error::Halt;
use crate::interrupt::run_unless_stopped;
use crate::step::StepSession;
use retrial_document::ErrorText;
use retrial_document::measures::format;
use retrial_store::StoreError;
use retrial_store::files::remove_directory;
use retrial_store::journal::StepEnd;
use retrial_store::unpack::{UnpackOptions, UnpackSummary, unpack_archive};

/// The most bytes that are copied out at once, unless the recipe allows more: the results of a
/// trial, or files for a host step.
pub const MAX_EXTRACTED_BYTES: u64 = 16 << 30;
/// The maximum number of archive chunks that wait to be unpacked.
const MAX_QUEUED_CHUNKS: usize = 16;

/// A path to copy out of a container.
pub struct Extraction<'a> {
    /// The container that has the files, by its id.
    pub container: &'a str,
    /// The path in the container that is copied.
    pub path: &'a str,
    /// The directory that it is copied to.
    pub target: &'a Path,
    /// The size of the files at the path, bytes; 0 if unknown.
    pub length: u64,
    /// Limits on its content.
    pub limits: UnpackOptions,
    /// The step's end if there is no such path; its fault is also that of an archive that cannot be
    /// unpacked.
    pub absent: StepEnd,
    /// The fix if it is too large.
    pub too_large: &'static str,
}

/// Copies a path out of a container, and unpacks the stream.
pub async fn extract_path(
    session: &StepSession<'_>,
    copy: Extraction<'_>,
) -> Result<UnpackSummary, Halt> {
    let copied = session.with_engine(async |engine| {
        if copy.length > copy.limits.most_bytes {
            return Ok(Some(Err(too_large_error(&copy))));
        }
        let (to, chunks) = channel(MAX_QUEUED_CHUNKS);
        let unpacking = unpack_on_thread(&copy, chunks);
        let copying = engine.copy_from_container(copy.container, copy.path, to);
        let exists = copying.await;
        let unpacked = unpacking.await;
        exists.map(|exists| exists.then_some(unpacked))
    });
    let copied = run_unless_stopped(&session.run_session.stop, copied).await?;
    match (copied?, copy.absent) {
        (Some(Ok(unpacked)), _) => Ok(unpacked),
        (Some(Err(error)), StepEnd::Failed { fault, .. }) if !error.is_disk_full() => {
            let is_too_large = matches!(error, StoreError::TooLarge { .. });
            let advice = if is_too_large { copy.too_large } else { "" };
            let mut error = ErrorText::of(&error).with_help(advice);
            error.message = session.run_session.redact(&error.message);
            Err(StepEnd::error(fault, error).into())
        }
        (Some(Err(error)), _) => Err(error.into()),
        (None, absent) => {
            remove_directory(copy.target)?;
            Err(absent.into())
        }
    }
}

fn too_large_error(copy: &Extraction<'_>) -> StoreError {
    let limit = format::format_bytes(copy.limits.most_bytes);
    let reason = format!("its files total {}", format::format_bytes(copy.length));
    StoreError::too_large(copy.path.as_ref(), limit, reason)
}

/// Unpacks an archive on a thread while the engine sends it.
fn unpack_on_thread(
    copy: &Extraction<'_>,
    chunks: Receiver<Bytes>,
) -> impl Future<Output = Result<UnpackSummary, StoreError>> + use<> {
    let (path, to, limits) = (PathBuf::from(copy.path), copy.target.to_owned(), copy.limits);
    let archive = ArchiveStream { chunks, chunk: Bytes::new() };
    let name = path.clone();
    let unpacking = tokio::task::spawn_blocking(move || {
        remove_directory(&to)?;
        unpack_archive(archive, &name, &to, limits).inspect_err(|_| drop(remove_directory(&to)))
    });
    async {
        unpacking.await.unwrap_or_else(|error| {
            let reason = error.to_string();
            Err(StoreError::Unusable { path, reason })
        })
    }
}

/// An archive as the engine sends it.
struct ArchiveStream {
    chunks: Receiver<Bytes>,
    chunk: Bytes,
}

impl Read for ArchiveStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            match self.chunks.blocking_recv() {
                Some(chunk) => self.chunk = chunk,
                None => return Ok(0),
            }
        }
        let chunk = self.chunk.split_to(buffer.len().min(self.chunk.len()));
        buffer[..chunk.len()].copy_from_slice(&chunk);
        Ok(chunk.len())
    }
}
