//! Where models of the hub lie in the container. Their commits, and so their places on this
//! machine, may be known only after they were fetched: the plan says what is mounted where.

use serde::{Deserialize, Serialize};

use super::step::{Action, Condition, Plan};

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
#[derive(Debug, Clone, Copy)]
pub struct FetchedModel<'a> {
    /// Its key in the recipe.
    pub name: &'a str,
    /// `owner/name`
    pub repository: &'a str,
    /// Branch, tag or commit.
    pub revision: &'a str,
    /// Where it lies in the container.
    pub mount: &'a ModelMount,
}

impl FetchedModel<'_> {
    /// `models--owner--name`: its directory in the hub's cache.
    #[must_use]
    pub fn cache_name(&self) -> String {
        format!("models--{}", self.repository.replace('/', "--"))
    }
}

impl Plan {
    /// The models that are fetched, in order; not those whose step is left out: there what the
    /// image has is seen.
    pub fn fetched_models(&self) -> impl Iterator<Item = FetchedModel<'_>> {
        self.steps.iter().filter_map(|step| match &step.action {
            Action::FetchModel {
                model,
                repository,
                revision,
                mount,
                ..
            } if !matches!(step.when, Condition::Skipped { .. }) => Some(FetchedModel {
                name: model,
                repository,
                revision,
                mount,
            }),
            _ => None,
        })
    }
}
