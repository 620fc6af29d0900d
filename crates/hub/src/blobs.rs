//! A snapshot's blobs: each is used from the cache if it is correct, downloaded if not, and waited
//! for while another process downloads it.

use std::fs::{self, Metadata};
use std::time::Duration;

use futures_util::StreamExt;

use crate::cache::RepositoryCache;
use crate::download::FileDownload;
use crate::error::{FetchError, pause_unless_stopped};
use crate::listing::ModelSnapshot;
use crate::lock::{BlobLock, describe_holder};
use crate::progress::{DownloadState, FileProgressReporter};
use crate::transport::Connection;
use crate::tree::RemoteFile;
use crate::xet::XetStore;
use crate::{records, sink};

/// The time between two attempts to acquire a lock that another process holds.
const LOCK_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Files downloaded at the same time, as the Python client does.
const MAX_PARALLEL_DOWNLOADS: usize = 8;

/// Populates the cache with a snapshot's blobs.
pub struct BlobFetcher<'a> {
    /// Its stop is cancelled by the first fault, so that the other files end too.
    pub connection: Connection<'a>,
    pub xet: XetStore,
    pub cache: &'a RepositoryCache,
    pub snapshot: &'a ModelSnapshot,
}

impl BlobFetcher<'_> {
    /// Populates the cache with several files at a time. Returns the bytes fetched, and the files
    /// that another process downloads, unless these are waited for.
    pub async fn populate_blobs<'f>(
        &self,
        files: Vec<&'f RemoteFile>,
        wait: bool,
    ) -> Result<(u64, Vec<&'f RemoteFile>), FetchError> {
        let (mut bytes_fetched, mut busy, mut fault) = (0, Vec::new(), None);
        let work = files.into_iter().map(async |file| (file, self.populate_blob(file, wait).await));
        let mut work = futures_util::stream::iter(work).buffer_unordered(MAX_PARALLEL_DOWNLOADS);
        while let Some((file, populated)) = work.next().await {
            match populated {
                Ok(Some(bytes)) => bytes_fetched += bytes,
                Ok(None) => busy.push(file),
                Err(error) => {
                    fault.get_or_insert(error);
                    // The others write the bytes that they have, and end.
                    self.connection.stop.cancel();
                }
            }
        }
        fault.map_or(Ok((bytes_fetched, busy)), Err)
    }

    /// The paths of files whose blobs are missing or wrong.
    pub async fn find_missing(&self) -> Result<Vec<String>, FetchError> {
        let files = self.snapshot.files.iter();
        let work = files.map(async |file| (file, self.is_blob_correct(file).await));
        let mut work = futures_util::stream::iter(work).buffered(MAX_PARALLEL_DOWNLOADS);
        let mut missing = Vec::new();
        while let Some((file, correct)) = work.next().await {
            if !correct? {
                missing.push(file.path.clone());
            }
        }
        Ok(missing)
    }

    /// Returns the bytes fetched; none if another process downloads the file.
    async fn populate_blob(
        &self,
        file: &RemoteFile,
        wait: bool,
    ) -> Result<Option<u64>, FetchError> {
        let mut reporter = self.new_reporter(file);
        let (cache, digest) = (self.cache, &file.digest);
        if self.is_blob_correct(file).await? {
            return Ok(Some(0));
        }
        if self.connection.stop.is_cancelled() {
            return Err(FetchError::Stopped);
        }
        cache.create_directories(digest)?;
        let path = cache.lock_path(digest);
        let lock = match BlobLock::try_acquire(&path)? {
            Some(lock) => lock,
            None if wait => {
                reporter.report_waiting(describe_holder(&path));
                self.wait_for_lock(file, &mut reporter).await?
            }
            None => return Ok(None),
        };
        // The holder of the lock may have downloaded it.
        if self.is_blob_correct(file).await? {
            return Ok(Some(0));
        }
        let blob = cache.blob_path(digest);
        if fs::symlink_metadata(&blob).is_ok() {
            fs::remove_file(&blob).map_err(FetchError::io("remove", &blob))?;
            reporter.report_discarded("the cached file does not match its hash".to_owned());
        }
        let download = FileDownload {
            connection: self.connection,
            xet: &self.xet,
            cache,
            request: self.snapshot.file_request(Some(&file.path)),
            file,
        };
        let bytes_fetched = download.download_verified(lock, &mut reporter).await?;
        reporter.report_state(DownloadState::Done, file.size);
        Ok(Some(bytes_fetched))
    }

    /// Waits for the lock, and reports the progress of its holder.
    async fn wait_for_lock(
        &self,
        file: &RemoteFile,
        reporter: &mut FileProgressReporter,
    ) -> Result<BlobLock, FetchError> {
        let path = self.cache.lock_path(&file.digest);
        let partial = self.cache.partial_path(&file.digest);
        loop {
            if let Some(lock) = BlobLock::try_acquire(&path)? {
                return Ok(lock);
            }
            let received = fs::metadata(&partial).map_or(0, |partial| partial.len());
            reporter.report_state(DownloadState::Downloading, received.min(file.size));
            // A stop could not interrupt the kernel's own wait for a lock.
            pause_unless_stopped(self.connection.stop, LOCK_POLL_INTERVAL).await?;
        }
    }

    /// Returns whether the file's blob is in the cache and matches its hash.
    async fn is_blob_correct(&self, file: &RemoteFile) -> Result<bool, FetchError> {
        let (cache, digest) = (self.cache, &file.digest);
        let Some(blob) = find_cached_blob(cache, file) else {
            return Ok(false);
        };
        let mut reporter = self.new_reporter(file);
        if !records::is_verified(cache, digest, &blob) {
            let mut hashing = reporter.clone();
            let report = move |done| hashing.report_state(DownloadState::Verifying, done);
            let path = cache.blob_path(digest);
            let hash = sink::hash_file(&path, file, self.connection.stop, report);
            if hash.await? != *digest {
                return Ok(false);
            }
            records::record_verified(cache, digest, &blob);
        }
        reporter.report_state(DownloadState::Cached, file.size);
        Ok(true)
    }

    fn new_reporter(&self, file: &RemoteFile) -> FileProgressReporter {
        FileProgressReporter::new(self.connection.progress, &file.path, file.size)
    }
}

/// The blob in the cache, if there is one of the file's size.
pub fn find_cached_blob(cache: &RepositoryCache, file: &RemoteFile) -> Option<Metadata> {
    let blob = fs::metadata(cache.blob_path(&file.digest)).ok()?;
    (blob.is_file() && blob.len() == file.size).then_some(blob)
}
