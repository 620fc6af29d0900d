//! The directory of a cache mount: runs write to it, one at a time, and only the content of a successful run is
//! reused. Whether a container still mounts it is not known here.

use std::path::PathBuf;

use super::manifest::{CacheManifest, CacheOrigin};
use super::{CacheEntry, CacheStagingDirectory};
use crate::error::StoreError;
use crate::files::rename_synced;

impl CacheEntry {
    /// Claims the directory of an earlier run for `run`; none if there is none, or a failed run wrote it. Until
    /// [`Self::release_claim`] no other run reuses it.
    ///
    /// # Errors
    /// If the cache cannot be written.
    pub fn claim_for_run(&self, run: &CacheOrigin) -> Result<Option<CacheOrigin>, StoreError> {
        let manifest = self.current().join("manifest.json");
        let Some(CacheManifest { origin, .. }) = CacheManifest::read(&manifest) else {
            return Ok(None);
        };
        // First prevent its reuse, then claim it: safe even after a power failure.
        rename_synced(&manifest, &self.claim_path())?;
        claim_manifest(run).write(&self.claim_path())?;
        Ok(Some(origin))
    }

    /// Claims a new directory with the content of `stage`, for `run`.
    ///
    /// # Errors
    /// If the cache cannot be written.
    pub fn claim_stage_for_run(
        &self,
        stage: &CacheStagingDirectory,
        run: &CacheOrigin,
    ) -> Result<(), StoreError> {
        if self.current().exists() {
            self.move_current_aside()?;
        }
        rename_synced(stage.path(), &self.current())?;
        claim_manifest(run).write(&self.claim_path())
    }

    /// Returns whether it is still claimed by `run`.
    pub fn is_claimed_by(&self, run: &str) -> bool {
        CacheManifest::read(&self.claim_path()).is_some_and(|manifest| manifest.origin.run == run)
    }

    /// Lets later runs reuse it.
    ///
    /// # Errors
    /// If the cache cannot be written.
    pub fn release_claim(&self) -> Result<(), StoreError> {
        rename_synced(&self.claim_path(), &self.current().join("manifest.json"))
    }

    fn claim_path(&self) -> PathBuf {
        self.current().join("taken.json")
    }
}

fn claim_manifest(origin: &CacheOrigin) -> CacheManifest {
    CacheManifest { origin: origin.clone(), written_by_runs: true, ..CacheManifest::default() }
}
