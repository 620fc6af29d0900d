//! Models of the hub in the container. Their commits, and so their paths on this machine, may be known only
//! after they were fetched: the plan defines the mounts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The path of the hub's cache in a container, unless the recipe sets it.
pub const HUB_CACHE: &str = "/hub-cache";

/// A model of the hub in the container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelMount {
    /// The absolute path in the container.
    pub target: String,
    /// Whether programs see a directory, single files or the hub's cache.
    pub form: MountForm,
}

/// The form in which a model is mounted into the container. Its files are always read-only: they are shared
/// with every program that uses the hub's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MountForm {
    /// A read-only directory of real files.
    Directory,
    /// File by file, in directories private to the container: programs write other files there.
    Files,
    /// As the hub's cache, for programs that load by hub id.
    HubCache,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFetch {
    /// The model's key in the recipe.
    pub model: String,
    /// The repository on the hub: `owner/name`.
    pub repository: String,
    /// Branch, tag or commit.
    pub revision: String,
    /// Globs of files to fetch; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Globs of files to exclude.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// The hashes of its files, by path, required by a lock; empty without one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub locked: BTreeMap<String, String>,
    /// Where it is mounted in the container.
    pub mount: ModelMount,
}

impl ModelFetch {
    /// `models--owner--name`: its directory in the hub's cache.
    pub fn cache_name(&self) -> String {
        format!("models--{}", self.repository.replace('/', "--"))
    }
}
