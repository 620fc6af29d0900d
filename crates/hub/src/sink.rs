//! Where a file's bytes go: to the disk and through the hash, on a thread of its own, so that
//! neither holds up the network.

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

/// Pieces that may wait for the disk.
const WAITING: usize = 32;
/// How much is read at once.
const PIECE: usize = 1 << 20;

/// A file that is being written.
pub struct Sink {
    path: PathBuf,
    to: Sender<Bytes>,
    writer: JoinHandle<io::Result<Digest>>,
    position: u64,
}

impl Sink {
    /// Goes on with what has arrived before, which is hashed first; `anew` begins with nothing.
    /// The lock is held until the last byte is written, even where nobody waits for that.
    pub async fn open(
        path: &Path,
        wanted: &Digest,
        size: u64,
        anew: bool,
        lock: Arc<BlobLock>,
        stop: &CancellationToken,
    ) -> Result<Self, FetchError> {
        let mut hasher = Hasher::of(wanted, size);
        let (place, stop) = (path.to_owned(), stop.clone());
        let opened = blocking(move || {
            let mut options = OpenOptions::new();
            let mut file = options
                .create(true)
                .truncate(anew)
                .read(true)
                .write(true)
                .open(&place)?;
            let mut position = file.metadata()?.len();
            if position > size {
                file.set_len(0)?;
                position = 0;
            }
            read_through(&mut file, position, &stop, |bytes, _| hasher.update(bytes))?;
            file.seek(SeekFrom::Start(position))?;
            Ok((file, hasher, position))
        });
        let (file, hasher, position) = opened.await.map_err(FetchError::io("write", path))?;
        let (to, from) = channel(WAITING);
        let writer = tokio::task::spawn_blocking(move || {
            let written = write(file, hasher, from);
            drop(lock);
            written
        });
        Ok(Self {
            path: path.to_owned(),
            to,
            writer,
            position,
        })
    }

    /// Bytes so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Takes more bytes; false where the disk takes no more, which `finish` explains.
    pub async fn take(&mut self, bytes: Bytes) -> bool {
        self.position += bytes.len() as u64;
        self.to.send(bytes).await.is_ok()
    }

    /// Waits until everything is written, and gives its hash.
    pub async fn finish(self) -> Result<Digest, FetchError> {
        drop(self.to);
        let written = self
            .writer
            .await
            .unwrap_or_else(|error| Err(io::Error::other(error)));
        written.map_err(FetchError::io("write", &self.path))
    }
}

fn write(mut file: File, mut hasher: Hasher, mut from: Receiver<Bytes>) -> io::Result<Digest> {
    while let Some(bytes) = from.blocking_recv() {
        file.write_all(&bytes)?;
        hasher.update(&bytes);
    }
    Ok(hasher.finish())
}

/// What a file that is there hashes to. `told` hears how far it is.
pub async fn hash(
    path: &Path,
    wanted: &Digest,
    size: u64,
    stop: &CancellationToken,
    mut told: impl FnMut(u64) + Send + 'static,
) -> Result<Digest, FetchError> {
    let mut hasher = Hasher::of(wanted, size);
    let (place, stop) = (path.to_owned(), stop.clone());
    let work = blocking(move || {
        let mut file = File::open(place)?;
        read_through(&mut file, size, &stop, |bytes, position| {
            hasher.update(bytes);
            told(position);
        })?;
        Ok(hasher.finish())
    });
    work.await.map_err(FetchError::io("read", path))
}

/// Reads so many bytes, piece by piece; a stop ends it.
fn read_through(
    file: &mut File,
    size: u64,
    stop: &CancellationToken,
    mut each: impl FnMut(&[u8], u64),
) -> io::Result<()> {
    let mut piece = vec![0; PIECE.min(usize::try_from(size).unwrap_or(PIECE))];
    let mut from = file.take(size);
    let mut position = 0;
    while position < size {
        if stop.is_cancelled() {
            return Err(io::Error::other("it was stopped"));
        }
        match from.read(&mut piece) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                position += read as u64;
                each(&piece[..read], position);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
}
