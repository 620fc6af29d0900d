//! Copies a step's growing output from this machine's own disk into the run's directory, where others of a
//! shared file system read it. A machine that crashes loses only the last second.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use super::session::StepSession;
use crate::error::Halt;
use crate::interrupt::run_on_thread;
use retrial_store::StoreError;

const COPY_INTERVAL: Duration = Duration::from_secs(1);
/// The maximum size of one copy, bytes, so that signals are still handled.
const MAX_COPY_BYTES: usize = 8 << 20;

/// The copy of one step's output.
pub struct Mirror {
    copy: File,
    copied_bytes: u64,
    last_copied: Instant,
}

impl Mirror {
    /// Opens the copy for a started step. None if its output is in the run's directory itself.
    pub fn for_step(session: &StepSession<'_>) -> Option<Self> {
        if !session.run_session.has_scratch() {
            return None;
        }
        let path = session.output_path(&session.run_session.run);
        let copy = File::options().create(true).append(true).open(path).ok()?;
        let copied = copy.metadata().ok()?.len();
        Some(Self { copy, copied_bytes: copied, last_copied: Instant::now() })
    }

    /// Copies new output, once a second. After a write error, [`copy_complete_output`] writes the rest, or reports the
    /// error.
    pub fn copy_new_output(&mut self, output: &File) {
        if self.last_copied.elapsed() < COPY_INTERVAL {
            return;
        }
        self.last_copied = Instant::now();
        let mut block = vec![0; MAX_COPY_BYTES];
        let read = output.read_at(&mut block, self.copied_bytes).unwrap_or(0);
        if self.copy.write_all(&block[..read]).is_ok() {
            self.copied_bytes += read as u64;
        }
    }
}

/// Copies the whole output of a step that has ended: secrets may have been removed from it.
pub async fn copy_complete_output(session: &StepSession<'_>) -> Result<(), Halt> {
    if !session.run_session.has_scratch() {
        return Ok(());
    }
    let (from, to) = (
        session.output_path(&session.run_session.local),
        session.output_path(&session.run_session.run),
    );
    let copy = move || {
        let part = to.with_extension("part");
        fs::copy(from, &part).map_err(StoreError::io("write", &part))?;
        fs::rename(&part, to).map_err(StoreError::io("rename", &part))
    };
    Ok(run_on_thread(&session.run_session.stop, copy).await??)
}
