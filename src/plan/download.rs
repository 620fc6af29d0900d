//! What a run fetches from elsewhere, told before it begins. Pure: what the recipe says, not what a hub has.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::step::{Plan, Purpose, Step};
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

impl Plan {
    /// The size of what these steps download, if it is known of all of them.
    #[must_use]
    pub fn size_of(&self, is_one: impl Fn(&Step) -> bool) -> Option<u64> {
        let steps = self.steps.iter().filter(|step| is_one(step));
        let steps: Vec<u32> = steps
            .filter(|step| !step.is_skipped())
            .map(|step| step.number)
            .collect();
        let sizes = steps.into_iter().map(|step| {
            let known = self.downloads.iter().find(|one| one.step == step)?;
            known.download.size
        });
        sizes.sum()
    }

    /// The hosts that the plan's commands connect to, each once.
    #[must_use]
    pub fn needed_hosts(&self) -> Vec<String> {
        let hosts = self.downloads.iter().flat_map(|one| &one.download.hosts);
        let hosts: BTreeSet<&String> = hosts.collect();
        hosts.into_iter().cloned().collect()
    }
}

/// Leaves out those of steps that are skipped, and finds those that come after a measurement.
#[must_use]
pub fn complete(mut downloads: Vec<PlannedDownload>, steps: &[Step]) -> Vec<PlannedDownload> {
    let is_measuring = |step: &&Step| {
        let purpose = step.command().map(|command| &command.purpose);
        matches!(purpose, Some(Purpose::Measure { .. })) && !step.is_skipped()
    };
    let measured = steps.iter().find(is_measuring).map(|step| step.number);
    let skipped = steps.iter().filter(|step| step.is_skipped());
    let skipped: BTreeSet<u32> = skipped.map(|step| step.number).collect();
    downloads.retain(|one| !skipped.contains(&one.step));
    for one in &mut downloads {
        one.late = measured.is_some_and(|measured| one.step > measured);
    }
    downloads
}
