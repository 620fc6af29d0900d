//! The releases by which runs differ: of software on the host, of the image, and variants that
//! are releases.

use std::collections::{BTreeMap, BTreeSet};

use itertools::join;

use super::group::RunSeries;
use crate::charts::is_release;
use retrial_history::RunSummary;
use retrial_recipe::ImageSetting;
use retrial_results::verdict::comparison::components;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ReleaseKind<'a> {
    /// `ROCm` in the container.
    Rocm,
    HostRocm,
    Driver,
    Image,
    /// The values of a variant axis.
    Variant(&'a str),
}

/// The kinds that every run may have.
pub(super) const COMMON_KINDS: [ReleaseKind<'static>; 4] =
    [ReleaseKind::Rocm, ReleaseKind::HostRocm, ReleaseKind::Driver, ReleaseKind::Image];

impl<'a> ReleaseKind<'a> {
    /// The kinds by which these runs differ. Of kinds that divide them in the same way, only the first:
    /// a variant that selects the image, say.
    pub fn differing_kinds(rows: &[&'a RunSummary]) -> Vec<Self> {
        let chosen = rows.iter().flat_map(|row| &row.variant);
        let releases = chosen.filter(|(_, value)| is_release(value));
        let axes: BTreeSet<&str> = releases.map(|(axis, _)| axis.as_str()).collect();
        let variants = axes.into_iter().map(ReleaseKind::Variant);
        let mut divided = BTreeSet::new();
        let kinds = [Self::Rocm, Self::HostRocm, Self::Driver].into_iter().chain(variants);
        let differ = |kind: &Self| {
            let parts = kind.number_releases(rows);
            parts.iter().any(|part| *part != parts[0]) && divided.insert(parts)
        };
        kinds.chain([Self::Image]).filter(differ).collect()
    }

    /// The number of each run's release, in the order of the runs.
    fn number_releases(self, rows: &[&RunSummary]) -> Vec<usize> {
        let mut positions: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        let numbers = rows.iter().map(|row| {
            let next = positions.len();
            *positions.entry(self.release_of(row)).or_insert(next)
        });
        numbers.collect()
    }

    /// The runs with each release, the newest last.
    pub fn runs_by_release<'r>(
        self,
        series: &RunSeries<'r>,
    ) -> BTreeMap<&'r str, Vec<&'r RunSummary>> {
        let mut by_release: BTreeMap<&str, Vec<&RunSummary>> = BTreeMap::new();
        for row in &series.rows {
            if let Some(release) = self.release_of(row) {
                by_release.entry(release).or_default().push(row);
            }
        }
        by_release
    }

    /// Returns the name of the kind: `ROCm in the image`.
    pub fn name(self) -> String {
        match self {
            Self::Rocm => components::ROCM.to_owned(),
            Self::HostRocm => "ROCm of the host".to_owned(),
            Self::Driver => "driver".to_owned(),
            Self::Image => "image".to_owned(),
            Self::Variant(axis) => format!("variant {axis}"),
        }
    }

    /// A run's release of this kind, if it is known.
    pub fn release_of(self, row: &RunSummary) -> Option<&str> {
        let release = match self {
            Self::Rocm => &row.rocm,
            Self::HostRocm => &row.rocm_host,
            Self::Driver => &row.driver,
            Self::Image => &row.image,
            Self::Variant(axis) => row.variant.get(axis)?,
        };
        Some(release.as_str()).filter(|release| !release.is_empty())
    }
}

/// A run's variant and parameters without releases and images: runs of several releases have it in common.
pub(super) fn other_choices(row: &RunSummary) -> String {
    let chosen = row.chosen_settings();
    let is_image = |name: &str| ImageSetting::parse(name).is_some();
    let chosen = chosen.filter(|(name, value)| !is_image(name) && !is_release(value));
    join(chosen.map(|(name, value)| format!("{name}={value}")), ",")
}
