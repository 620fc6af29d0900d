//! One blob: its bytes from the hub into the cache, resumed after a cut, and renamed to its place
//! only if they match the file's hash.

use std::fs;
use std::sync::Arc;

use crate::body::{BlobStream, TransferInterruption};
use crate::cache::RepositoryCache;
use crate::classify::{HubRequest, RequestFailure};
use crate::error::{FetchError, run_unless_stopped};
use crate::lock::BlobLock;
use crate::progress::{DownloadState, FileProgressReporter};
use crate::records;
use crate::sink::Sink;
use crate::transport::{Backoff, Connection};
use crate::tree::RemoteFile;
use crate::xet::XetStore;

/// Downloads of a file that does not match its hash.
const MAX_DOWNLOADS: u32 = 3;

pub struct FileDownload<'a> {
    pub connection: Connection<'a>,
    pub xet: &'a XetStore,
    pub cache: &'a RepositoryCache,
    pub request: HubRequest<'a>,
    pub file: &'a RemoteFile,
}

/// The result of one transfer of the whole file.
enum TransferOutcome {
    Verified,
    Mismatch(String),
}

impl FileDownload<'_> {
    /// Downloads the file until it matches, a few times at most. Returns the bytes fetched.
    ///
    /// # Errors
    /// If the hub refuses or stays down, nothing it sends matches, or the disk fails.
    pub async fn download_verified(
        &self,
        lock: BlobLock,
        reporter: &mut FileProgressReporter,
    ) -> Result<u64, FetchError> {
        let lock = Arc::new(lock);
        let digest = &self.file.digest;
        let (partial, blob) = (self.cache.partial_path(digest), self.cache.blob_path(digest));
        let mut fetched = 0;
        let mut last = String::new();
        for _ in 0..MAX_DOWNLOADS {
            match self.transfer_once(&lock, reporter, &mut fetched).await? {
                TransferOutcome::Verified => {
                    fs::rename(&partial, &blob).map_err(FetchError::io("rename", &partial))?;
                    let metadata = fs::metadata(&blob).map_err(FetchError::io("read", &blob))?;
                    records::record_verified(self.cache, digest, &metadata);
                    return Ok(fetched);
                }
                TransferOutcome::Mismatch(reason) => {
                    self.xet.disable();
                    fs::remove_file(&partial).map_err(FetchError::io("remove", &partial))?;
                    reporter.report_discarded(reason.clone());
                    last = reason;
                }
            }
        }
        Err(FetchError::Corrupted {
            repository: self.request.repository.to_owned(),
            path: self.file.path.clone(),
            reason: last,
            attempts: MAX_DOWNLOADS,
        })
    }

    /// Transfers the file once, over as many connections as it takes.
    async fn transfer_once(
        &self,
        lock: &Arc<BlobLock>,
        reporter: &mut FileProgressReporter,
        fetched: &mut u64,
    ) -> Result<TransferOutcome, FetchError> {
        let partial = self.cache.partial_path(&self.file.digest);
        let (lock, stop) = (Arc::clone(lock), self.connection.stop);
        let mut sink = Sink::open_partial(&partial, self.file, lock, stop).await?;
        reporter.report_state(DownloadState::Downloading, sink.position());
        let mut backoff = Backoff::new(self.connection, &self.request);
        while sink.position() < self.file.size {
            let before = sink.position();
            let received = self.receive_body(&mut sink, reporter).await;
            *fetched += sink.position() - before;
            if sink.position() > before {
                backoff.reset_attempts();
            }
            match received {
                Ok(()) => {}
                Err(TransferInterruption::Full) => break,
                Err(TransferInterruption::Failed(failure)) => {
                    if let Err(error) = backoff.wait_after_failure(failure).await {
                        let empty = sink.position() == 0;
                        // What arrived is on the disk before the error is returned.
                        sink.finish_writing().await?;
                        if empty {
                            // An empty file that is left is continued by the next download.
                            let _ = fs::remove_file(&partial);
                        }
                        return Err(error);
                    }
                }
                Err(TransferInterruption::Mismatch(reason)) => {
                    sink.finish_writing().await?;
                    return Ok(TransferOutcome::Mismatch(reason));
                }
            }
        }
        reporter.report_state(DownloadState::Verifying, sink.position());
        let actual = sink.finish_writing().await?;
        let listed = &self.file.digest;
        Ok(if actual == *listed {
            TransferOutcome::Verified
        } else {
            TransferOutcome::Mismatch(format!("it hashes to {actual}, and the hub lists {listed}"))
        })
    }

    /// Opens the file's bytes from `from` on, in the Xet store if it has them.
    async fn open_body(
        &self,
        from: u64,
        reporter: &FileProgressReporter,
    ) -> Result<BlobStream, TransferInterruption> {
        let Connection { transport, stop, .. } = self.connection;
        let size = self.file.size;
        if self.xet.serves(self.file) {
            let opened = self.xet.open_stream(self.file, from..size);
            match run_unless_stopped(stop, opened).await {
                Ok(stream) => return Ok(BlobStream::from_xet(stream, size)),
                Err(failure) => self.give_up_xet(&failure, reporter),
            }
        }
        let repository_segments = self.request.repository.split('/');
        let segments = repository_segments.chain(["resolve", self.request.revision]);
        let url = transport.hub_url(segments.chain(self.file.path.split('/')));
        let end = from.saturating_add(transport.settings.max_range).min(size);
        let range = match (from, end == size) {
            (0, true) => None,
            (_, true) => Some(format!("bytes={from}-")),
            (_, false) => Some(format!("bytes={from}-{}", end - 1)),
        };
        let answer = transport.send_request(&self.request, url, range.as_deref());
        BlobStream::from_http(run_unless_stopped(stop, answer).await?, from, end, size)
    }

    fn give_up_xet(&self, failure: &RequestFailure, reporter: &FileProgressReporter) {
        if self.xet.disable()
            && let RequestFailure::Transient { reason, .. } = failure
        {
            let repository = self.request.repository;
            reporter.report_warning(format!("{repository}: {reason}: continuing over plain HTTP"));
        }
    }

    /// Requests the missing bytes, and writes those of one answer to the sink.
    async fn receive_body(
        &self,
        sink: &mut Sink,
        reporter: &mut FileProgressReporter,
    ) -> Result<(), TransferInterruption> {
        let mut body = self.open_body(sink.position(), reporter).await?;
        loop {
            let bytes = match run_unless_stopped(self.connection.stop, body.next_chunk()).await {
                // A connection that breaks after the last byte has done its work.
                Ok(None) | Err(_) if sink.position() == body.end => return Ok(()),
                Ok(Some(bytes)) => bytes,
                other => {
                    let early = || RequestFailure::unusable_answer("the response ended early");
                    let failure = other.err().unwrap_or_else(early);
                    if !body.is_xet() {
                        return Err(failure.into());
                    }
                    self.give_up_xet(&failure, reporter);
                    return Ok(());
                }
            };
            if sink.position() + bytes.len() as u64 > body.end {
                let listed = self.file.size;
                let reason = format!("it sends more than the {listed} bytes listed");
                return Err(TransferInterruption::Mismatch(reason));
            }
            if !sink.push(bytes).await {
                return Err(TransferInterruption::Full);
            }
            reporter.report_state(DownloadState::Downloading, sink.position());
        }
    }
}
