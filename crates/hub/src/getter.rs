//! A snapshot's blobs: some at a time, each taken from the cache if it is right, fetched if it is
//! not, and waited for where another process fetches it.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::cache::Place;
use crate::download::Download;
use crate::error::FetchError;
use crate::listing::{RemoteFile, Snapshot};
use crate::lock::{BlobLock, holder};
use crate::progress::{Progress, Teller, TransferState};
use crate::refusal::Ask;
use crate::transport::Transport;
use crate::{sink, verified};

/// Between two looks whether another process is done with a file.
const LOOK: Duration = Duration::from_millis(100);

/// Gets the blobs of a snapshot.
pub struct Getter<'a> {
    pub transport: &'a Transport,
    pub place: &'a Place,
    pub snapshot: &'a Snapshot,
    pub to: &'a UnboundedSender<Progress>,
    pub stop: CancellationToken,
}

/// How getting one blob ended.
enum Got {
    /// It is there, and so many bytes came.
    There(u64),
    /// Somebody else fetches it.
    Busy,
}

impl Getter<'_> {
    /// Gets blobs, some at a time. Gives the bytes that came, and the files that somebody else
    /// fetches, which there are none of where they are waited for.
    pub async fn all<'f>(
        &self,
        files: Vec<&'f RemoteFile>,
        wait: bool,
    ) -> Result<(u64, Vec<&'f RemoteFile>), FetchError> {
        let (mut came, mut busy, mut fault) = (0, Vec::new(), None);
        let work = files
            .into_iter()
            .map(async |file| (file, self.one(file, wait).await));
        let parallel = self.transport.settings.parallel.max(1);
        let mut work = futures_util::stream::iter(work).buffer_unordered(parallel);
        while let Some((file, got)) = work.next().await {
            match got {
                Ok(Got::There(bytes)) => came += bytes,
                Ok(Got::Busy) => busy.push(file),
                Err(error) => {
                    fault.get_or_insert(error);
                    // The others write down what they have, and end.
                    self.stop.cancel();
                }
            }
        }
        fault.map_or(Ok((came, busy)), Err)
    }

    /// The paths of files whose blobs are not there, or are not right.
    pub async fn lacking(&self) -> Result<Vec<String>, FetchError> {
        let files = self.snapshot.files.iter();
        let work = files.map(async |file| (file, self.is_right(file).await));
        let parallel = self.transport.settings.parallel.max(1);
        let mut work = futures_util::stream::iter(work).buffered(parallel);
        let mut lacking = Vec::new();
        while let Some((file, right)) = work.next().await {
            if !right? {
                lacking.push(file.path.clone());
            }
        }
        Ok(lacking)
    }

    /// Gets one blob.
    async fn one(&self, file: &RemoteFile, wait: bool) -> Result<Got, FetchError> {
        let mut teller = self.teller(file);
        let (place, digest) = (self.place, &file.digest);
        let before = present(place, file).map(|blob| blob.ino());
        if before.is_some() && self.is_right(file).await? {
            return Ok(Got::There(0));
        }
        if self.stop.is_cancelled() {
            return Err(FetchError::Stopped);
        }
        place.prepare(digest)?;
        let path = place.lock(digest);
        let lock = match BlobLock::take(&path)? {
            Some(lock) => lock,
            None if wait => {
                teller.waiting(holder(&path));
                self.waited(file, &mut teller).await?
            }
            None => return Ok(Got::Busy),
        };
        // Whoever had the lock may have fetched it.
        let now = present(place, file).map(|blob| blob.ino());
        if now.is_some() && now != before && self.is_right(file).await? {
            return Ok(Got::There(0));
        }
        let blob = place.blob(digest);
        if fs::symlink_metadata(&blob).is_ok() {
            fs::remove_file(&blob).map_err(FetchError::io("remove", &blob))?;
            teller.thrown_out("what the cache had under its name was something else".to_owned());
        }
        let download = Download {
            transport: self.transport,
            place,
            ask: Ask {
                repository: &self.snapshot.repository,
                revision: &self.snapshot.commit,
                path: Some(&file.path),
            },
            file,
            stop: &self.stop,
        };
        let came = download.run(lock, &mut teller).await?;
        teller.tell(TransferState::Done, file.size);
        Ok(Got::There(came))
    }

    /// The lock, once its holder is done with it. How far that one is can be seen meanwhile.
    async fn waited(&self, file: &RemoteFile, teller: &mut Teller) -> Result<BlobLock, FetchError> {
        let (path, part) = (self.place.lock(&file.digest), self.place.part(&file.digest));
        loop {
            if let Some(lock) = BlobLock::take(&path)? {
                return Ok(lock);
            }
            let there = fs::metadata(&part).map_or(0, |part| part.len());
            teller.tell(TransferState::Downloading, there.min(file.size));
            // The kernel's own waiting for a lock cannot be ended by a stop.
            tokio::select! {
                biased;
                () = self.stop.cancelled() => return Err(FetchError::Stopped),
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    /// Whether the blob that is there is the right one.
    pub async fn is_right(&self, file: &RemoteFile) -> Result<bool, FetchError> {
        let (place, digest) = (self.place, &file.digest);
        let Some(blob) = present(place, file) else {
            return Ok(false);
        };
        let mut teller = self.teller(file);
        if !verified::is_known(place, digest, &blob) {
            let mut told = teller.clone();
            let tell = move |done| told.tell(TransferState::Verifying, done);
            let path = place.blob(digest);
            let hashed = sink::hash(&path, digest, file.size, &self.stop, tell);
            match hashed.await {
                Err(_) if self.stop.is_cancelled() => return Err(FetchError::Stopped),
                Err(error) => return Err(error),
                Ok(found) if found != *digest => return Ok(false),
                Ok(_) => verified::keep(place, digest, &blob),
            }
        }
        teller.tell(TransferState::Cached, file.size);
        Ok(true)
    }

    fn teller(&self, file: &RemoteFile) -> Teller {
        Teller::new(self.to, &file.path, file.size)
    }
}

/// The blob in the cache, if one of the right size is there.
pub fn present(place: &Place, file: &RemoteFile) -> Option<Metadata> {
    let blob = fs::metadata(place.blob(&file.digest)).ok()?;
    (blob.is_file() && blob.len() == file.size).then_some(blob)
}
