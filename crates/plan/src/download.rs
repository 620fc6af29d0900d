//! The downloads of a run, shown before it starts. Pure: from the recipe, without querying a hub.

use serde::{Deserialize, Serialize};

use retrial_recipe::model::Download;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedDownload {
    /// The number of the step that fetches it.
    pub step: u32,
    /// The step's name without a trial: `fetch-llama2`, `dataset-open-orca`, `offline-accuracy`.
    pub name: String,
    /// It comes after a measurement: a missing network would be noticed only then.
    pub late: bool,
    /// The recipe's statements: source, size, licence, terms, hosts.
    #[serde(flatten)]
    pub download: Download,
}

/// The settings of the hub on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalHubSettings {
    /// The hub's host name: `huggingface.co`.
    pub host: String,
    /// The directory of the hub's cache on this machine.
    pub cache: String,
    /// Where a token was found, a variable or a file; none without one.
    pub token: Option<String>,
}
