//! A file's bytes on their way to the disk and through the hash, on a thread of its own, so that
//! neither slows down the network.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::digest::{Digest, Hasher};
use crate::error::FetchError;
use crate::lock::BlobLock;
use crate::tree::RemoteFile;

/// Chunks that may wait for the disk.
const MAX_QUEUED_CHUNKS: usize = 32;
/// Bytes read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// A file that is being written.
pub struct Sink {
    path: PathBuf,
    chunks: Sender<Bytes>,
    writer: JoinHandle<io::Result<Digest>>,
    position: u64,
}

impl Sink {
    /// Continues a partial file, whose bytes are hashed first.
    /// The lock is held until the last byte is written, even if no caller waits for it.
    pub async fn open_partial(
        path: &Path,
        listed: &RemoteFile,
        lock: Arc<BlobLock>,
        stop: &CancellationToken,
    ) -> Result<Self, FetchError> {
        let size = listed.size;
        let mut hasher = Hasher::new(&listed.digest, size);
        let owned = path.to_owned();
        let opened = run_blocking("write", path, stop, move |stop| {
            let mut options = OpenOptions::new();
            let mut file =
                options.create(true).truncate(false).read(true).write(true).open(&owned)?;
            let mut position = file.metadata()?.len();
            if position > size {
                file.set_len(0)?;
                position = 0;
            }
            read_in_chunks(&mut file, position, stop, |bytes, _| hasher.update(bytes))?;
            file.seek(SeekFrom::Start(position))?;
            Ok((file, hasher, position))
        });
        let (file, hasher, position) = opened.await?;
        let (to, from) = channel(MAX_QUEUED_CHUNKS);
        let writer = tokio::task::spawn_blocking(move || {
            let written = write_and_hash(file, hasher, from);
            drop(lock);
            written
        });
        Ok(Self { path: path.to_owned(), chunks: to, writer, position })
    }

    /// Returns the number of bytes written or queued so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Queues more bytes; false if writing failed, with the error that `finish` returns.
    pub async fn push(&mut self, bytes: Bytes) -> bool {
        self.position += bytes.len() as u64;
        self.chunks.send(bytes).await.is_ok()
    }

    /// Waits until everything is written, and returns the hash.
    pub async fn finish_writing(self) -> Result<Digest, FetchError> {
        drop(self.chunks);
        let written = self.writer.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        written.map_err(FetchError::io("write", &self.path))
    }
}

fn write_and_hash(
    mut file: File,
    mut hasher: Hasher,
    mut from: Receiver<Bytes>,
) -> io::Result<Digest> {
    while let Some(bytes) = from.blocking_recv() {
        file.write_all(&bytes)?;
        hasher.update(&bytes);
    }
    Ok(hasher.finish())
}

/// Hashes a file. `report` receives the bytes done.
pub async fn hash_file(
    path: &Path,
    listed: &RemoteFile,
    stop: &CancellationToken,
    mut report: impl FnMut(u64) + Send + 'static,
) -> Result<Digest, FetchError> {
    let size = listed.size;
    let mut hasher = Hasher::new(&listed.digest, size);
    let owned = path.to_owned();
    let work = run_blocking("read", path, stop, move |stop| {
        let mut file = File::open(owned)?;
        read_in_chunks(&mut file, size, stop, |bytes, position| {
            hasher.update(bytes);
            report(position);
        })?;
        Ok(hasher.finish())
    });
    work.await
}

/// Reads so many bytes, chunk by chunk; a stop is an error.
fn read_in_chunks(
    file: &mut File,
    size: u64,
    stop: &CancellationToken,
    mut each: impl FnMut(&[u8], u64),
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK_BYTES.min(usize::try_from(size).unwrap_or(CHUNK_BYTES))];
    let mut from = file.take(size);
    let mut position = 0;
    while position < size {
        if stop.is_cancelled() {
            return Err(io::Error::other("it was stopped"));
        }
        match from.read(&mut chunk) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                position += read as u64;
                each(&chunk[..read], position);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Does some work on a thread of its own; any failure after a stop is returned as the stop.
async fn run_blocking<T: Send + 'static>(
    operation: &'static str,
    path: &Path,
    stop: &CancellationToken,
    work: impl FnOnce(&CancellationToken) -> io::Result<T> + Send + 'static,
) -> Result<T, FetchError> {
    let stopped = stop.clone();
    let joined = tokio::task::spawn_blocking(move || work(&stopped)).await;
    let done = joined.unwrap_or_else(|error| Err(io::Error::other(error)));
    done.map_err(|error| {
        if stop.is_cancelled() {
            FetchError::Stopped
        } else {
            FetchError::io(operation, path)(error)
        }
    })
}
