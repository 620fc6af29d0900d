//! The table of releases, and what it says of one. The data and its sources are in `releases.yaml`; a file of the
//! user adds to it. What it does not list is reported as such, never guessed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use thiserror::Error;

use crate::known_issue::KnownIssue;
use crate::listed_release::ListedRelease;
use crate::release::RocmRelease;

static BUILT_IN: LazyLock<ReleaseTable> = LazyLock::new(|| {
    // Without it nothing would be compared, and no check would report that.
    serde_saphyr::from_str(include_str!("../../releases.yaml"))
        .unwrap_or_else(|error| panic!("releases.yaml, which is built in, cannot be read: {error}"))
});

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReleaseTable {
    /// The month up to which facts were collected: `2026-10`.
    facts: String,
    /// Series of drivers by the version of the kernel module.
    drivers: BTreeMap<String, String>,
    /// Kernels of operating systems.
    kernels: BTreeMap<String, Vec<String>>,
    /// When each was released.
    dates: BTreeMap<RocmRelease, String>,
    /// Targets that every release's list names if the release has code for them.
    complete_targets: Vec<String>,
    releases: Vec<ListedRelease>,
    /// Releases by repository and tag, where documents state them and the tag does not.
    images: BTreeMap<String, BTreeMap<String, RocmRelease>>,
    known_issues: Vec<KnownIssue>,
}

/// A file that is no table of releases.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct InvalidTable(Box<serde_saphyr::Error>);

/// A release that the table does not list.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnlistedRelease {
    #[error("newer than this build's table ({0})")]
    Newer(String),
    #[error("not in this build's table ({0})")]
    Unknown(String),
}

impl ReleaseTable {
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// Returns the built-in table with the entries of a user's file, which replace those of the same name.
    ///
    /// # Errors
    /// The text is no table; the error has the place.
    pub fn with_additions(text: &str) -> Result<Self, InvalidTable> {
        let added: Self =
            serde_saphyr::from_str(text).map_err(|error| InvalidTable(Box::new(error)))?;
        let mut table = Self::built_in().clone();
        table.drivers.extend(added.drivers);
        table.kernels.extend(added.kernels);
        table.dates.extend(added.dates);
        table.complete_targets.extend(added.complete_targets);
        table
            .releases
            .retain(|release| added.releases.iter().all(|new| new.number != release.number));
        table.releases.extend(added.releases);
        for (repository, tags) in added.images {
            table.images.entry(repository).or_default().extend(tags);
        }
        table.known_issues.retain(|issue| added.known_issues.iter().all(|new| new.id != issue.id));
        table.known_issues.extend(added.known_issues);
        Ok(table)
    }

    /// The driver's series by the version of its kernel module.
    pub fn driver_series(&self, module: &str) -> Option<&str> {
        self.drivers.get(module).map(String::as_str)
    }

    /// The kernels of operating systems, where a release does not list its own.
    pub fn kernels(&self) -> &BTreeMap<String, Vec<String>> {
        &self.kernels
    }

    /// The day of a release: `2026-08-26`.
    pub fn date(&self, release: &RocmRelease) -> Option<&str> {
        self.dates.get(release).map(String::as_str)
    }

    /// The releases with their days, in their order.
    pub fn dates(&self) -> impl DoubleEndedIterator<Item = (&RocmRelease, &str)> + Clone {
        self.dates.iter().map(|(release, date)| (release, date.as_str()))
    }

    /// What is listed for a release, for its number or for the longest beginning of it.
    ///
    /// # Errors
    /// The table does not list it.
    pub fn listed(&self, release: &RocmRelease) -> Result<&ListedRelease, UnlistedRelease> {
        // AMD's documents write 6.4.0 as 6.4.
        let (major, minor) = release.series();
        let number = RocmRelease::from_numbers(major, minor, release.assume_patch(0).patch(), "");
        let number = number.to_string();
        let matching = self.releases.iter().filter(|listed| is_version_of(&number, &listed.number));
        matching.max_by_key(|listed| listed.number.len()).ok_or_else(|| {
            let facts = self.facts.clone();
            let newest = self.dates.keys().next_back();
            if newest.is_some_and(|newest| release.series() > newest.series()) {
                UnlistedRelease::Newer(facts)
            } else {
                UnlistedRelease::Unknown(facts)
            }
        })
    }

    /// Returns whether a release that does not list a target is known to have no code for it.
    pub fn is_complete_for(&self, target: &str) -> bool {
        self.complete_targets.iter().any(|complete| complete == target)
    }

    /// The release of an image whose tag documents explain.
    pub(crate) fn documented_release(&self, repository: &str, tag: &str) -> Option<&RocmRelease> {
        self.images.get(repository)?.get(tag)
    }

    /// The issues of a release on GPUs of these targets.
    pub fn known_issues<'a>(
        &'a self,
        release: &'a RocmRelease,
        targets: &'a [&'a str],
    ) -> impl Iterator<Item = &'a KnownIssue> {
        self.known_issues.iter().filter(|issue| issue.affects(release, targets))
    }
}

/// Returns whether a version equals a listed one, or starts with its parts: `2.6.0+rocm6.4` is of 2.6.
pub fn is_version_of(version: &str, listed: &str) -> bool {
    let rest = version.strip_prefix(listed);
    rest.is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
