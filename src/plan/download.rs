//! What a run fetches from elsewhere, told before it begins. Pure: what the recipe says, not what a hub has.

use serde::{Deserialize, Serialize};

use retrial_recipe::model::Download;

/// A download of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedDownload {
    /// The number of the step that fetches it.
    pub step: u32,
    /// The step's name without a trial: `fetch-llama2`, `dataset-open-orca`, `offline-accuracy`.
    pub name: String,
    /// Something is measured before it: a network that is missing would show only then.
    pub late: bool,
    /// What the recipe says of it.
    #[serde(flatten)]
    pub download: Download,
}

/// The hub as this machine uses it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HubHere {
    /// Its host.
    pub host: String,
    /// The directory of its cache.
    pub cache: String,
    /// Where a token was found: a variable, a file.
    pub token: Option<String>,
}
