//! The tags of a repository in the order of a search: by the release and the date that they state. Pure.

use std::collections::BTreeMap;

use jiff::civil::Date;
use regex::Regex;
use retrial_container::{ImageRef, InvalidImageRef};
use retrial_rocm::{ReleaseTable, RocmRelease, release_in_name};
use thiserror::Error;

/// A repository and a pattern of its tags: `rocm/pytorch:*nightly*`.
#[derive(Debug, Clone)]
pub struct TagPattern {
    pub repository: ImageRef,
    tags: Regex,
    text: String,
}

/// A text that is no pattern of tags.
#[derive(Debug, Error)]
pub enum InvalidTagPattern {
    #[error("expected NAME:PATTERN, such as `rocm/pytorch:*nightly*`")]
    NoTag,
    #[error(transparent)]
    Repository(#[from] InvalidImageRef),
    #[error(transparent)]
    Pattern(#[from] regex::Error),
}

/// The images whose tags match, in order, and those without a place in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TagOrder {
    pub ordered: Vec<String>,
    /// With the reason of each.
    pub unordered: Vec<(String, Unordered)>,
}

/// Why a tag has no place in the order.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unordered {
    #[error("it states no release, and others do")]
    NoRelease,
    #[error("it states no date, and others do")]
    NoDate,
    #[error("it states neither a release nor a date")]
    Nothing,
    #[error("{0} more have its release and date")]
    Ambiguous(usize),
}

impl std::str::FromStr for TagPattern {
    type Err = InvalidTagPattern;

    fn from_str(text: &str) -> Result<Self, InvalidTagPattern> {
        let (name, pattern) = text.rsplit_once(':').ok_or(InvalidTagPattern::NoTag)?;
        if pattern.is_empty() || pattern.contains('/') {
            return Err(InvalidTagPattern::NoTag);
        }
        let tags = regex::escape(pattern).replace(r"\*", ".*").replace(r"\?", ".");
        Ok(Self {
            repository: ImageRef::parse(name)?,
            tags: Regex::new(&format!("^{tags}$"))?,
            text: text.to_owned(),
        })
    }
}

impl std::fmt::Display for TagPattern {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl TagPattern {
    /// Puts the matching tags into their order. If any states a release, or a date, one that does not has no place; nor
    /// have those that state the same.
    pub fn order(&self, tags: &[String], releases: &ReleaseTable) -> TagOrder {
        let matching = tags.iter().filter(|tag| self.tags.is_match(tag));
        let stated: Vec<_> = matching
            .map(|tag| {
                let image = format!("{}:{tag}", self.repository.name());
                let release = release_in_name(&image, releases);
                (image, release, date_in_tag(tag))
            })
            .collect();
        let has_releases = stated.iter().any(|(_, release, _)| release.is_some());
        let has_dates = stated.iter().any(|(.., date)| date.is_some());
        let mut order = TagOrder::default();
        let mut places: BTreeMap<(Option<RocmRelease>, Option<Date>), Vec<String>> =
            BTreeMap::new();
        for (image, release, date) in stated {
            let reason = match (&release, date) {
                (None, None) => Unordered::Nothing,
                (None, _) if has_releases => Unordered::NoRelease,
                (_, None) if has_dates => Unordered::NoDate,
                _ => {
                    places.entry((release, date)).or_default().push(image);
                    continue;
                }
            };
            order.unordered.push((image, reason));
        }
        for mut images in places.into_values() {
            if images.len() == 1 {
                order.ordered.append(&mut images);
                continue;
            }
            let reason = Unordered::Ambiguous(images.len() - 1);
            order.unordered.extend(images.into_iter().map(|image| (image, reason.clone())));
        }
        order
    }
}

/// The last date in a tag: `20261101`, `2026-11-01`.
fn date_in_tag(tag: &str) -> Option<Date> {
    let pattern = Regex::new(r"(?:^|\D)(20\d\d)([-._]?)(\d\d)([-._]?)(\d\d)").ok()?;
    let found = pattern.captures_iter(tag).filter_map(|found| {
        let (whole, [year, first, month, second, day]) = found.extract();
        let after = &tag[found.get(0)?.start() + whole.len()..];
        let is_date = first == second && !after.starts_with(|next: char| next.is_ascii_digit());
        let read = |text: &str| text.parse::<i8>().ok();
        is_date.then(|| Date::new(year.parse().ok()?, read(month)?, read(day)?).ok())?
    });
    found.last()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn order(pattern: &str, tags: &[&str]) -> TagOrder {
        let tags: Vec<String> = tags.iter().map(|tag| (*tag).to_owned()).collect();
        pattern.parse::<TagPattern>().unwrap().order(&tags, ReleaseTable::built_in())
    }

    #[rstest]
    #[case::dates(
        "example/x:nightly-*",
        &["nightly-20261101", "stable-20261101", "nightly-20261009"],
        &["nightly-20261009", "nightly-20261101"],
        &[]
    )]
    #[case::releases_before_dates(
        "rocm/sgl-dev:*mi35x*",
        &["v0.5.20-rocm10-mi35x-20260801", "v0.5.18-rocm724-mi35x-20260826", "v0.5.18-rocm724-mi35x-20260820", "latest-mi35x"],
        &["v0.5.18-rocm724-mi35x-20260820", "v0.5.18-rocm724-mi35x-20260826", "v0.5.20-rocm10-mi35x-20260801"],
        &["latest-mi35x"]
    )]
    #[case::numbers(
        "rocm/pytorch:rocm*_2.10.0",
        &["rocm10.0_pytorch_2.10.0", "rocm7.2.4_pytorch_2.10.0", "rocm7.14.1_pytorch_2.10.0", "rocm10.0_pytorch_2.12.0"],
        &["rocm7.2.4_pytorch_2.10.0", "rocm7.14.1_pytorch_2.10.0", "rocm10.0_pytorch_2.10.0"],
        &[]
    )]
    #[case::the_same_release(
        "rocm/pytorch:rocm*",
        &["rocm10.0_pytorch_2.10.0", "rocm7.2.4_pytorch_2.10.0", "rocm10.0_pytorch_2.12.0"],
        &["rocm7.2.4_pytorch_2.10.0"],
        &["rocm10.0_pytorch_2.10.0", "rocm10.0_pytorch_2.12.0"]
    )]
    fn tags_are_ordered(
        #[case] pattern: &str,
        #[case] tags: &[&str],
        #[case] ordered: &[&str],
        #[case] unordered: &[&str],
    ) {
        let (name, _) = pattern.rsplit_once(':').unwrap();
        let images =
            |tags: &[&str]| tags.iter().map(|tag| format!("{name}:{tag}")).collect::<Vec<_>>();
        let found = order(pattern, tags);
        assert_eq!(found.ordered, images(ordered));
        let left = found.unordered.into_iter().map(|(image, _)| image);
        assert_eq!(left.collect::<Vec<_>>(), images(unordered));
    }

    #[rstest]
    #[case("nightly-20261101", Some("2026-11-01"))]
    #[case("nightly-2026-11-01-rc", Some("2026-11-01"))]
    #[case("7.14.0a20260608_20260612", Some("2026-06-12"))]
    #[case("20261301", None)]
    #[case("120261101", None)]
    fn a_date_is_a_day_of_the_calendar(#[case] tag: &str, #[case] date: Option<&str>) {
        assert_eq!(date_in_tag(tag).map(|date| date.to_string()).as_deref(), date);
    }

    #[rstest]
    #[case("rocm/pytorch")]
    #[case("127.0.0.1:5000/x")]
    #[case("x:")]
    #[case("X:*")]
    fn a_pattern_has_a_repository_and_a_tag(#[case] text: &str) {
        assert!(text.parse::<TagPattern>().is_err());
    }
}
