//! The order of values along an axis. Releases of `ROCm` are sorted by what they are: a nightly build of 7.14.0 is
//! older than 7.14.0, whose name is shorter.

use retrial_readings::natural::natural_sort_key;
use retrial_rocm::RocmRelease;

/// A value's place: by its release if it is one, then in natural order.
pub type AxisKey = (Option<RocmRelease>, Vec<(String, u64)>);

/// The order of the values of one axis.
#[derive(Debug, Clone, Copy)]
pub struct AxisOrder {
    are_releases: bool,
}

impl AxisOrder {
    /// The order of these values: of releases, if all of them are releases.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let are_releases = values.into_iter().all(|value| value.parse::<RocmRelease>().is_ok());
        Self { are_releases }
    }

    pub fn are_releases(self) -> bool {
        self.are_releases
    }

    /// Returns the key by which a value is sorted.
    pub fn key(self, value: &str) -> AxisKey {
        let release = value.parse().ok().filter(|_| self.are_releases);
        (release, natural_sort_key(value))
    }
}

/// Returns whether a value names a release: `7.2` names each of 7.2.0 to 7.2.4.
pub fn names_release(value: &RocmRelease, release: &RocmRelease) -> bool {
    let is_series = !value.is_exact() && !value.is_prerelease();
    value == release || is_series && value.series() == release.series()
}

#[cfg(test)]
mod tests {
    use itertools::Itertools as _;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::releases(&[
        "7.2.4", "7.14.0a20260608", "7.14.0", "7.14.1", "10.0.0~pre1", "10.0.0rc2", "10.0.0",
        "10.1.0a20260811+bkc.20260814", "10.1.0",
    ])]
    #[case::numbers(&["0.5", "1", "1.5", "10"])]
    #[case::words(&["base", "rocm-7.2", "rocm-10.1"])]
    fn values_are_in_the_order_of_a_person(#[case] sorted: &[&str]) {
        let order = AxisOrder::of(sorted.iter().copied());
        let shuffled = sorted.iter().copied().rev();
        let ordered = shuffled.sorted_by_cached_key(|value| order.key(value)).collect_vec();
        assert_eq!(ordered, sorted);
    }

    #[rstest]
    #[case("7.2", "7.2.4", true)]
    #[case("7.2.4", "7.2.4-120", true)]
    #[case("7.2.1", "7.2.4", false)]
    #[case("7.14", "7.14.0a20260608", true)]
    #[case("7.14.0", "7.14.0a20260608", false)]
    fn a_series_names_its_releases(
        #[case] value: &str,
        #[case] release: &str,
        #[case] names: bool,
    ) {
        let [value, release] = [value, release].map(|text| text.parse().unwrap());
        assert_eq!(names_release(&value, &release), names);
    }
}
