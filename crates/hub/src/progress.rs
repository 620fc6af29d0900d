//! Reports on a download while it runs.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

/// The shortest time between two reports of one file in the same state.
const MIN_REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// The state of a file's transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DownloadState {
    /// No byte of it was requested yet.
    Waiting,
    /// A transfer is under way, by Xet or HTTP.
    Downloading,
    /// Its bytes are hashed.
    Verifying,
    /// It arrived and matches its hash.
    Done,
    /// It was in the cache and matches its hash.
    Cached,
}

/// A report on the progress of a download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchProgress {
    File {
        /// Its path in the repository.
        path: String,
        state: DownloadState,
        /// Bytes downloaded or hashed so far.
        current: u64,
        /// The file's size, bytes.
        total: u64,
    },
    /// A transient fault; the request is repeated.
    Retry {
        /// The request: a file, or a repository at a revision.
        subject: String,
        /// The fault of the last attempt, as a fragment.
        reason: String,
        /// The number of the next attempt (2, 3, …).
        attempt: u32,
        /// The wait before it.
        delay: Duration,
    },
    /// Another process downloads the file; this one waits for it.
    Waiting {
        /// Its path in the repository.
        path: String,
        /// The other process, as far as the kernel reports it: `process 4711 (python3)`.
        holder: String,
    },
    /// A file did not match its hash and was discarded.
    Discarded {
        /// Its path in the repository.
        path: String,
        /// The difference from the file that the hub lists.
        reason: String,
    },
    /// Something the user should know.
    Warning(String),
}

/// Reports on one file, not more often than can be read.
#[derive(Clone)]
pub struct FileProgressReporter {
    channel: UnboundedSender<FetchProgress>,
    path: String,
    total: u64,
    last: Option<(DownloadState, Instant)>,
}

impl FileProgressReporter {
    /// Returns a reporter for a file of `total` bytes.
    pub fn new(channel: &UnboundedSender<FetchProgress>, path: &str, total: u64) -> Self {
        Self { channel: channel.clone(), path: path.to_owned(), total, last: None }
    }

    /// Reports the state and the bytes done.
    pub fn report_state(&mut self, state: DownloadState, current: u64) {
        let too_soon = self
            .last
            .is_some_and(|(before, when)| before == state && when.elapsed() < MIN_REPORT_INTERVAL);
        if too_soon && current < self.total {
            return;
        }
        self.last = Some((state, Instant::now()));
        self.send(FetchProgress::File {
            path: self.path.clone(),
            state,
            current,
            total: self.total,
        });
    }

    /// Reports that the file did not match its hash.
    pub fn report_discarded(&self, reason: String) {
        let path = self.path.clone();
        self.send(FetchProgress::Discarded { path, reason });
    }

    /// Reports that another process downloads the file.
    pub fn report_waiting(&self, holder: String) {
        let path = self.path.clone();
        self.send(FetchProgress::Waiting { path, holder });
    }

    /// Reports a warning that concerns no state of the file.
    pub fn report_warning(&self, text: String) {
        self.send(FetchProgress::Warning(text));
    }

    fn send(&self, progress: FetchProgress) {
        // Without a listener the download continues.
        let _ = self.channel.send(progress);
    }
}
