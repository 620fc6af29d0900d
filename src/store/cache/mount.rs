//! The directory of a cache mount: runs write to it, one at a time, and only what a run left that succeeded
//! is reused. Whether a container still has it is not known here.

use std::path::PathBuf;

use super::manifest::{Manifest, Origin};
use super::{CacheEntry, Stage};
use crate::store::error::StoreError;
use crate::store::files::rename_synced;

impl CacheEntry {
    /// Takes what an earlier run left, for `run`; none if there is nothing, or a run that failed wrote it.
    /// Until [`Self::give_back`] nobody reuses it.
    ///
    /// # Errors
    /// Where the cache cannot be written.
    pub fn take(&self, run: &Origin) -> Result<Option<Origin>, StoreError> {
        let manifest = self.current().join("manifest.json");
        let Some(Manifest { origin, .. }) = Manifest::read(&manifest) else {
            return Ok(None);
        };
        // First it is not to be reused, then it is ours, even after a power failure.
        rename_synced(&manifest, &self.taken())?;
        written(run).write(&self.taken())?;
        Ok(Some(origin))
    }

    /// Takes a new directory with the content of `stage`, for `run`.
    ///
    /// # Errors
    /// Where the cache cannot be written.
    pub fn take_new(&self, stage: &Stage, run: &Origin) -> Result<(), StoreError> {
        if self.current().exists() {
            self.set_aside()?;
        }
        rename_synced(&stage.path, &self.current())?;
        written(run).write(&self.taken())
    }

    /// Whether it is still the one that `run` took.
    pub fn is_taken_by(&self, run: &str) -> bool {
        Manifest::read(&self.taken()).is_some_and(|taken| taken.origin.run == run)
    }

    /// Lets later runs reuse it.
    ///
    /// # Errors
    /// Where the cache cannot be written.
    pub fn give_back(&self) -> Result<(), StoreError> {
        rename_synced(&self.taken(), &self.current().join("manifest.json"))
    }

    fn taken(&self) -> PathBuf {
        self.current().join("taken.json")
    }
}

fn written(origin: &Origin) -> Manifest {
    Manifest {
        origin: origin.clone(),
        written_by_runs: true,
        ..Manifest::default()
    }
}
