//! Where models of the hub lie in the container. Their commits, and so their places on this
//! machine, may be known only after they were fetched: the plan says what is mounted where.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Where the hub's cache lies in a container whose recipe does not say it.
pub const HUB_CACHE: &str = "/hub-cache";

/// A model of the hub in the container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelMount {
    /// In the container, absolute.
    pub target: String,
    /// In which form.
    pub form: Form,
}

/// The form in which a model lies in the container. Its files can be written in none: they are
/// shared with every program that uses the hub's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A read-only directory of real files.
    Directory,
    /// File by file, in directories of the container's own: something is written beside them.
    Files,
    /// As the hub's cache, for programs that load by hub id.
    HubCache,
}

/// A model that a plan fetches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFetch {
    /// The model's key in the recipe.
    pub model: String,
    /// `owner/name`
    pub repository: String,
    /// Branch, tag or commit.
    pub revision: String,
    /// Globs of files to fetch; all if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Globs of files to leave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// The hashes of its files, by path, as a lock requires them; empty without one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub locked: BTreeMap<String, String>,
    /// Where it lies in the container.
    pub mount: ModelMount,
}

impl ModelFetch {
    /// `models--owner--name`: its directory in the hub's cache.
    pub fn cache_name(&self) -> String {
        format!("models--{}", self.repository.replace('/', "--"))
    }
}
