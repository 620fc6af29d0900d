//! Whether a run is alive, here or on a node.

use std::time::{Duration, Instant};

use super::incoming_file::IncomingFile;
use super::record;
use retrial_store::RunDirectory;
use retrial_store::journal::{Event, EventKind};
use retrial_store::lock::FileLock;

/// The time between two queries of the queue for a run without a process.
const QUEUE_QUERY_INTERVAL: Duration = Duration::from_secs(10);

/// The liveness of a run: a process follows it, or its job waits or runs on a node.
pub struct Liveness {
    directory: RunDirectory,
    /// The journal since its latest job, if it is a run of a site.
    journal: Option<IncomingFile>,
    has_ended: bool,
    last_query: Option<(Instant, bool)>,
}

impl Liveness {
    /// Starts with the state of this run.
    pub fn new(directory: &RunDirectory) -> Self {
        let latest = record::latest_submission(directory.record()).ok().flatten();
        let from = latest.map_or(0, |latest| latest.journal);
        Self {
            journal: record::is_submitted(directory)
                .then(|| IncomingFile::open_at(directory.journal_path(), from)),
            has_ended: false,
            directory: directory.clone(),
            last_query: None,
        }
    }

    /// Returns whether a process follows the run, or its job waits or runs. `has_job` queries Slurm, and is called at
    /// most every 10 s.
    pub fn is_live(&mut self, has_job: impl FnOnce(&RunDirectory) -> bool) -> bool {
        let Some(journal) = &mut self.journal else {
            return FileLock::find_holder(&self.directory.lock_path()).is_some();
        };
        for event in journal.poll::<Event>() {
            match event.what {
                EventKind::RunStarted { .. } => self.has_ended = false,
                EventKind::RunEnded { .. } => self.has_ended = true,
                _ => {}
            }
        }
        if self.has_ended {
            return false;
        }
        if let Some((since, live)) = self.last_query
            && since.elapsed() < QUEUE_QUERY_INTERVAL
        {
            return live;
        }
        let live = has_job(&self.directory);
        self.last_query = Some((Instant::now(), live));
        live
    }
}
