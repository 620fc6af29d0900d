//! The downloads of a run, shown before it starts. Pure: from the recipe, without querying a hub.

use serde::{Deserialize, Serialize};

use retrial_recipe::model::Download;

/// A download of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedDownload {
    /// The number of the step that fetches it.
    pub step: u32,
    /// The step's name without a trial: `fetch-llama2`, `dataset-open-orca`, `offline-accuracy`.
    pub name: String,
    /// It comes after a measurement: a missing network would be detected only then.
    pub late: bool,
    /// The recipe's data about it.
    #[serde(flatten)]
    pub download: Download,
}

/// This machine's settings of the hub.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HubHere {
    /// Its host.
    pub host: String,
    /// The directory of its cache.
    pub cache: String,
    /// The source of a token: a variable, a file.
    pub token: Option<String>,
}
