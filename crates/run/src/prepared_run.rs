//! A run that is ready to start: the data that is written before its first step.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::redact::hide_in_log;
use retrial_host::record::HostRecord;
use retrial_plan::{Plan, shell};
use retrial_store::companions::{Companions, StagedCompanions};
use retrial_store::files::{to_json_text, write_all_atomically};
use retrial_store::run_directory::HOST_FILE;
use retrial_store::{RunDirectory, StoreError};

/// A run that is ready to start.
#[derive(Debug, Clone)]
pub struct PreparedRun {
    /// The recipe as resolved, for recipe.yaml.
    pub recipe: String,
    pub plan: Plan,
    /// The facts of the host, for host.json.
    pub host: HostRecord,
    /// The copy of the recipe's files; none if it has none, or if the run's directory has it already.
    pub companions: Option<Arc<StagedCompanions>>,
}

/// Values of the secrets that the plan names, from the environment. They are never written down.
pub fn read_secrets(plan: &Plan) -> BTreeMap<String, String> {
    let set = plan.secrets.iter().filter_map(|name| {
        let value = std::env::var(name).ok()?;
        Some((name.clone(), value)).filter(|(_, value)| !value.is_empty())
    });
    let secrets: BTreeMap<String, String> = set.collect();
    for (name, value) in &secrets {
        hide_in_log(name, value);
    }
    secrets
}

impl PreparedRun {
    /// The recipe's part of the run's id: `offline-quickstart`.
    pub fn id_stem(&self) -> String {
        shell::container_name(&self.plan.recipe).to_lowercase().replace(['_', '.'], "-")
    }

    /// Writes its files. The plan comes last: a directory with a plan can be resumed.
    ///
    /// # Errors
    /// If the disk is full or cannot be written.
    pub fn write_files(&self, directory: &RunDirectory) -> Result<(), StoreError> {
        if let (Some(staged), Some(digest)) = (&self.companions, &self.plan.companions) {
            Companions::of_run(directory).provide(&staged.root(), digest)?;
        }
        let [recipe, host, plan] =
            ["recipe.yaml", HOST_FILE, "plan.json"].map(|name| directory.join(name));
        let (host_text, plan_text) =
            (to_json_text(&host, &self.host)?, to_json_text(&plan, &self.plan)?);
        write_all_atomically(&[
            (&recipe, self.recipe.as_bytes()),
            (&host, host_text.as_bytes()),
            (&plan, plan_text.as_bytes()),
        ])
    }
}
