//! Ranges of releases, as recipes and the table write them: `>=7.2.2`, `>=6.4, <7`, `10.1`.

use std::str::FromStr;

use serde::Deserialize;
use thiserror::Error;

use crate::release::RocmRelease;

/// Conditions that all hold.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct ReleaseRange(Vec<(Comparison, RocmRelease)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    AtLeast,
    Above,
    AtMost,
    Below,
    Equal,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a range of releases such as `>=7.2.2` or `>=6.4, <7`")]
pub struct InvalidRange(pub String);

/// More than any patch.
const HIGHEST_PATCH: u32 = 999;

impl ReleaseRange {
    /// Returns whether a release is in the range; none if that depends on a patch that the release does not state.
    pub fn contains(&self, release: &RocmRelease) -> Option<bool> {
        let contains = |release: &RocmRelease| {
            self.0.iter().all(|(comparison, bound)| comparison.holds(release, bound))
        };
        let lowest = contains(&release.assume_patch(0));
        (lowest == contains(&release.assume_patch(HIGHEST_PATCH))).then_some(lowest)
    }
}

impl Comparison {
    fn holds(self, release: &RocmRelease, bound: &RocmRelease) -> bool {
        let first = bound.assume_patch(0);
        match self {
            Self::AtLeast => *release >= first,
            Self::Above => *release > first,
            Self::AtMost => *release <= first,
            Self::Below => *release < first,
            // `10.1` is every release of that series.
            Self::Equal if !bound.is_exact() => release.series() == bound.series(),
            Self::Equal => release == bound,
        }
    }
}

impl RocmRelease {
    /// Returns whether the release is in a range such as `>=7.1.0`; none if the range cannot be read, or if
    /// that depends on a patch that the release does not state.
    pub fn satisfies(&self, range: &str) -> Option<bool> {
        range.parse::<ReleaseRange>().ok()?.contains(self)
    }
}

impl FromStr for ReleaseRange {
    type Err = InvalidRange;

    fn from_str(text: &str) -> Result<Self, InvalidRange> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let conditions: Option<Vec<_>> = parts.map(parse_condition).collect();
        let conditions = conditions.filter(|conditions| !conditions.is_empty());
        conditions.map(Self).ok_or_else(|| InvalidRange(text.to_owned()))
    }
}

fn parse_condition(part: &str) -> Option<(Comparison, RocmRelease)> {
    let digits = part.find(|letter: char| letter.is_ascii_digit())?;
    let comparison = match part[..digits].trim() {
        ">=" => Comparison::AtLeast,
        ">" => Comparison::Above,
        "<=" => Comparison::AtMost,
        "<" => Comparison::Below,
        "=" | "==" | "" => Comparison::Equal,
        _ => return None,
    };
    let bound = part[digits..].trim();
    // `<7` is `<7.0`.
    let major = bound.parse().ok().map(|major| RocmRelease::from_numbers(major, 0, None, bound));
    Some((comparison, bound.parse().ok().or(major)?))
}

impl TryFrom<String> for ReleaseRange {
    type Error = InvalidRange;

    fn try_from(text: String) -> Result<Self, InvalidRange> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("7.1.1-38", ">=7.1.0", Some(true))]
    #[case("6.4.1", ">=7.1.0", Some(false))]
    #[case("7.10.0", ">=7.9", Some(true))]
    #[case("7.0", ">=6.4, <7", Some(false))]
    #[case("6.4.3", ">=6.4, <7", Some(true))]
    #[case("7.14.0", ">=7.2", Some(true))]
    #[case("7.14.0a20260608", ">=7.2.2", Some(true))]
    #[case("10.1.0~rc0", ">=7.2.2", Some(true))]
    #[case("10.1.0~rc0", ">=10.1.0", Some(false))]
    #[case("7.1.1", "7.1", Some(true))]
    #[case("7.1.1", "=7.1.0", Some(false))]
    #[case("10.1.0a20260811", "10.1", Some(true))]
    #[case("10.2.0", "10.1", Some(false))]
    #[case("7.2", ">=7.2.2", None)]
    #[case("7.2", ">=7.1", Some(true))]
    #[case("7.2.4", "", None)]
    #[case("7.2.4", "~=7", None)]
    #[case("7.2.4", ">=x7", None)]
    fn a_release_is_compared_number_by_number(
        #[case] release: &str,
        #[case] range: &str,
        #[case] expected: Option<bool>,
    ) {
        let release: RocmRelease = release.parse().unwrap();
        assert_eq!(release.satisfies(range), expected);
    }
}
