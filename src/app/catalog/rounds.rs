//! Rules of rounds from files of the user, in addition to the built-in ones.

use std::path::Path;

use super::{CatalogError, disk};
use retrial_mlperf::rounds::{Round, Rounds, rounds};

/// The built-in rounds and those of these files, which replace built-in ones of the same name.
///
/// # Errors
/// A file does not exist, cannot be read, or contains no rules.
pub fn rounds_with(files: &[impl AsRef<Path>]) -> Result<Rounds, CatalogError> {
    files.iter().try_fold(rounds().clone(), |rounds, file| {
        let source = disk::read(file.as_ref())?;
        let round = Round::parse(&source).map_err(CatalogError::Text)?;
        Ok(rounds.with(round))
    })
}
