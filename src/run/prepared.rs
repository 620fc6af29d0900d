//! A run that can begin: all that is written down of it before anything is done.

use serde_json::Value;

use crate::plan::{Plan, shell};
use crate::store::run_directory::write_atomically;
use crate::store::{RunDirectory, StoreError};

/// A run that can begin.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The recipe as resolved, for recipe.yaml.
    pub recipe: String,
    /// The plan.
    pub plan: Plan,
    /// What was found of the host, for host.json.
    pub host: Value,
}

impl Prepared {
    /// `offline-quickstart`: what the run's id says of it.
    #[must_use]
    pub fn stem(&self) -> String {
        shell::container_name(&self.plan.recipe)
            .to_lowercase()
            .replace(['_', '.'], "-")
    }

    /// Writes it down. The plan comes last: a directory with a plan can be gone on with.
    ///
    /// # Errors
    /// Where the disk takes no more.
    pub fn write_down(&self, directory: &RunDirectory) -> Result<(), StoreError> {
        write_atomically(&directory.join("recipe.yaml"), self.recipe.as_bytes())?;
        directory.write_json("host.json", &self.host)?;
        directory.write_json("plan.json", &self.plan)
    }
}
