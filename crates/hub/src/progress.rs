//! What a fetch says while it goes on.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

/// Between two words on the same file.
const APART: Duration = Duration::from_millis(100);

/// Where a file of a snapshot stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferState {
    /// Not started.
    Waiting,
    /// Its bytes are being received.
    Downloading,
    /// Its bytes are being hashed.
    Verifying,
    /// It was received and matches its hash.
    Done,
    /// It was in the cache and matches its hash.
    Cached,
}

/// One thing that a fetch reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// A file moved on.
    File {
        /// Its path in the repository.
        path: String,
        /// Where it stands.
        state: TransferState,
        /// Bytes done.
        current: u64,
        /// Bytes in all.
        total: u64,
    },
    /// A passing fault: it will be tried again.
    Retry {
        /// What was asked for.
        what: String,
        /// What happened.
        because: String,
        /// Which try comes next (2, 3, …).
        attempt: u32,
        /// After how long.
        after: Duration,
    },
    /// Another process fetches the file; it is waited for.
    Waiting {
        /// Its path in the repository.
        path: String,
        /// Who has it.
        for_whom: String,
    },
    /// A file did not match and was thrown out.
    ThrownOut {
        /// Its path in the repository.
        path: String,
        /// What was wrong.
        because: String,
    },
    /// Something to know.
    Warning(String),
}

/// Tells of one file, not more often than can be read.
#[derive(Clone)]
pub struct Teller {
    to: UnboundedSender<Progress>,
    path: String,
    total: u64,
    last: Option<(TransferState, Instant)>,
}

impl Teller {
    /// Of a file of `total` bytes.
    pub fn new(to: &UnboundedSender<Progress>, path: &str, total: u64) -> Self {
        Self {
            to: to.clone(),
            path: path.to_owned(),
            total,
            last: None,
        }
    }

    /// Reports the state of the file and its bytes done.
    pub fn tell(&mut self, state: TransferState, current: u64) {
        let too_soon = self
            .last
            .is_some_and(|(before, when)| before == state && when.elapsed() < APART);
        if too_soon && current < self.total {
            return;
        }
        self.last = Some((state, Instant::now()));
        self.say(Progress::File {
            path: self.path.clone(),
            state,
            current,
            total: self.total,
        });
    }

    /// The file did not match.
    pub fn thrown_out(&self, because: String) {
        self.say(Progress::ThrownOut {
            path: self.path.clone(),
            because,
        });
    }

    /// Somebody else has it.
    pub fn waiting(&self, for_whom: String) {
        self.say(Progress::Waiting {
            path: self.path.clone(),
            for_whom,
        });
    }

    /// Where other words go.
    pub fn channel(&self) -> UnboundedSender<Progress> {
        self.to.clone()
    }

    /// Nobody listens any more: the files are still wanted.
    fn say(&self, progress: Progress) {
        let _ = self.to.send(progress);
    }
}
