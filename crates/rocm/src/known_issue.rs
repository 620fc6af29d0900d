//! Known issues of releases: what AMD's trackers say to set or to call instead.

use serde::Deserialize;

use crate::range::ReleaseRange;
use crate::release::RocmRelease;

/// A fault of releases, with its remedy.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownIssue {
    /// The number in a tracker: `TheRock#8792`.
    pub id: String,
    pub link: String,
    pub releases: ReleaseRange,
    /// Targets of GPUs; none: all.
    #[serde(default)]
    pub targets: Vec<String>,
    /// The fewest GPUs of one run that show it.
    #[serde(default = "one")]
    pub gpus: usize,
    /// The Python package that is affected, if it is only one.
    pub package: Option<String>,
    pub reason: String,
    pub remedy: Remedy,
}

/// What avoids an issue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Remedy {
    /// A variable of the container.
    Variable { name: String, value: String },
    /// Another program in place of one that the release does not have.
    Program { missing: String, instead: String },
}

impl KnownIssue {
    /// Returns whether a release has it on one of these GPU targets. A patch that the release does not state does
    /// not exclude it.
    pub fn affects(&self, release: &RocmRelease, targets: &[&str]) -> bool {
        let is_target = |target: &String| targets.contains(&target.as_str());
        let has_target = self.targets.is_empty() || self.targets.iter().any(is_target);
        has_target && self.releases.contains(release) != Some(false)
    }
}

fn one() -> usize {
    1
}
