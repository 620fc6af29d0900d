//! One comparable release of `ROCm`, whatever wrote it: a version file (`7.1.1-38`), a wheel (`7.14.0a20260608`), a
//! Debian package (`10.0.0~pre1`), an older one (`7.2.3.70203-90`), a folder or a tag.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::LazyLock;

use regex_lite::{Captures, Regex};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Wheels write `a20260608`, `a20260811+bkc.20260814`, `rc2` and `.dev0+COMMIT`, Debian packages `~20260608`,
/// `~20260811.bkc.20260814`, `~pre2` and `~dev20260608`, RPM packages `~rc2`. Packages up to 7.2 repeat the release as
/// a fourth number: 70203.
static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let text = r"(?x)^
        (?<major>[0-9]{1,3}) \. (?<minor>[0-9]{1,3}) (?: \. (?<patch>[0-9]{1,3}) (?: \. (?<code>[0-9]{5,7}))? )?
        (?: [a~] (?<date>[0-9]{8}) (?: [+.] bkc\. (?<bkc>[0-9]{8}) )?
          | ~? (?: rc | pre ) (?<candidate>[0-9]{1,3})
          | [.~]? dev (?<dev>[0-9]{0,8}) (?: \+ [0-9A-Za-z.]+ )?
        )?";
    Regex::new(text).ok()
});

/// How finished a build is, in the order of builds of one release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// A developer's build, by date where it has one, else 0.
    Dev(u32),
    /// A nightly build, by date.
    Nightly(u32),
    /// A nightly build that AMD froze (best known configuration).
    Frozen {
        date: u32,
        nightly: u32,
    },
    /// A release candidate.
    Candidate(u32),
    Final,
}

/// A release. Two are equal if they are one release: the build number of a package does not count.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RocmRelease {
    major: u32,
    minor: u32,
    patch: Option<u32>,
    stage: Stage,
    build: Option<u32>,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a release of ROCm such as `7.2.4`, `10.1.0` or `7.14.0a20260608`")]
pub struct InvalidRelease(pub String);

impl RocmRelease {
    /// The release as it was written.
    pub fn raw(&self) -> &str {
        &self.text
    }

    /// The number of a package's or a file's build: 38 of `7.1.1-38`.
    pub fn build(&self) -> Option<u32> {
        self.build
    }

    pub fn stage(&self) -> Stage {
        self.stage
    }

    pub fn is_prerelease(&self) -> bool {
        self.stage != Stage::Final
    }

    /// Returns major and minor.
    pub fn series(&self) -> (u32, u32) {
        (self.major, self.minor)
    }

    pub fn patch(&self) -> Option<u32> {
        self.patch
    }

    /// Returns whether the patch is stated: `7.2` is one of several releases.
    pub fn is_exact(&self) -> bool {
        self.patch.is_some()
    }

    /// Returns whether two texts may be of one release: `7.2` is one of 7.2.4's, and the version file of a nightly
    /// build states no date.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let has_patches = self.patch.is_some() && other.patch.is_some();
        let has_stages = self.is_prerelease() && other.is_prerelease();
        self.series() == other.series()
            && (!has_patches || self.patch == other.patch)
            && (!has_stages || self.stage == other.stage)
    }

    /// Reads `7.2` as 7.2.0, where the writer is known to leave out a zero.
    #[must_use]
    pub fn with_stated_patch(mut self) -> Self {
        self.patch = self.patch.or(Some(0));
        self
    }

    /// Returns the release with a patch in place of one that is not stated.
    pub(crate) fn assume_patch(&self, patch: u32) -> Self {
        Self { patch: self.patch.or(Some(patch)), ..self.clone() }
    }

    /// A series, or one release of it.
    pub(crate) fn from_numbers(major: u32, minor: u32, patch: Option<u32>, text: &str) -> Self {
        let text = text.to_owned();
        Self { major, minor, patch, stage: Stage::Final, build: None, text }
    }

    /// Reads a release at the start of a text, without a package's revision. Returns the rest, too.
    pub fn parse_prefix(text: &str) -> Option<(Self, &str)> {
        let captures = PATTERN.as_ref()?.captures(text)?;
        let matched = captures.get(0)?.as_str();
        let rest = &text[matched.len()..];
        // `7.2.45678` and `7.2.4x` are no releases.
        if rest.starts_with(|letter: char| letter.is_ascii_alphanumeric()) {
            return None;
        }
        let number = |name: &str| captures.name(name)?.as_str().parse::<u32>().ok();
        let (major, minor, patch) = (number("major")?, number("minor")?, number("patch"));
        let repeated = major * 10_000 + minor * 100 + patch.unwrap_or(0);
        if number("code").is_some_and(|code| code != repeated) {
            return None;
        }
        let stage = read_stage(&captures);
        Some((Self { major, minor, patch, stage, build: None, text: matched.to_owned() }, rest))
    }

    fn key(&self) -> (u32, u32, Option<u32>, Stage) {
        (self.major, self.minor, self.patch, self.stage)
    }
}

fn read_stage(captures: &Captures<'_>) -> Stage {
    let number = |name: &str| Some(captures.name(name)?.as_str().parse().unwrap_or(0));
    if let Some(nightly) = number("date") {
        return number("bkc")
            .map_or(Stage::Nightly(nightly), |date| Stage::Frozen { date, nightly });
    }
    let dev = number("dev").map(Stage::Dev);
    number("candidate").map(Stage::Candidate).or(dev).unwrap_or(Stage::Final)
}

impl FromStr for RocmRelease {
    type Err = InvalidRelease;

    fn from_str(text: &str) -> Result<Self, InvalidRelease> {
        let invalid = || InvalidRelease(text.to_owned());
        let trimmed = text.trim();
        let (release, rest) = Self::parse_prefix(trimmed).ok_or_else(invalid)?;
        // The revision of a package: `-90`, `-83~22.04`, `-4.el9`.
        let revision = rest.strip_prefix('-').map(|revision| {
            let digits = revision.find(|letter: char| !letter.is_ascii_digit());
            revision[..digits.unwrap_or(revision.len())].parse().ok()
        });
        let build = match revision {
            None if rest.is_empty() => None,
            Some(Some(build)) => Some(build),
            _ => return Err(invalid()),
        };
        Ok(Self { build, text: trimmed.to_owned(), ..release })
    }
}

/// `7.2.4`, `7.2` where no patch is stated, `7.14.0a20260608`, `10.0.0rc2`.
impl fmt::Display for RocmRelease {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.major, self.minor)?;
        if let Some(patch) = self.patch {
            write!(formatter, ".{patch}")?;
        }
        match self.stage {
            Stage::Dev(date) => write!(formatter, ".dev{date}"),
            Stage::Nightly(date) => write!(formatter, "a{date}"),
            Stage::Frozen { date, nightly } => write!(formatter, "a{nightly}+bkc.{date}"),
            Stage::Candidate(number) => write!(formatter, "rc{number}"),
            Stage::Final => Ok(()),
        }
    }
}

impl PartialEq for RocmRelease {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for RocmRelease {}

impl Ord for RocmRelease {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for RocmRelease {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for RocmRelease {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl TryFrom<String> for RocmRelease {
    type Error = InvalidRelease;

    fn try_from(text: String) -> Result<Self, InvalidRelease> {
        text.parse()
    }
}

impl From<RocmRelease> for String {
    fn from(release: RocmRelease) -> Self {
        release.text
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn release(text: &str) -> RocmRelease {
        text.parse().unwrap()
    }

    #[rstest]
    #[case("7.1.1-38", "7.1.1", false)]
    #[case("7.2", "7.2", false)]
    #[case("10.0.0~pre1", "10.0.0rc1", true)]
    #[case("10.0.0rc2", "10.0.0rc2", true)]
    #[case("10.1.0~rc0", "10.1.0rc0", true)]
    #[case("7.14.0a20260608", "7.14.0a20260608", true)]
    #[case("10.1.0~20260811", "10.1.0a20260811", true)]
    #[case("10.1.0a20260811+bkc.20260814", "10.1.0a20260811+bkc.20260814", true)]
    #[case("10.1.0~20260811.bkc.20260814-1", "10.1.0a20260811+bkc.20260814", true)]
    #[case("10.2.0~dev20260930", "10.2.0.dev20260930", true)]
    #[case("7.14.0.dev0+efed3c3b10a5", "7.14.0.dev0", true)]
    #[case("7.2.3.70203-90", "7.2.3", false)]
    #[case("6.4.1.60401-83~22.04", "6.4.1", false)]
    #[case("10.0.0-4", "10.0.0", false)]
    #[case(" 7.2.4-93\n", "7.2.4", false)]
    fn all_spellings_are_read(
        #[case] text: &str,
        #[case] shown: &str,
        #[case] is_prerelease: bool,
    ) {
        let read = release(text);
        assert_eq!((read.to_string().as_str(), read.is_prerelease()), (shown, is_prerelease));
        assert_eq!(read.raw(), text.trim());
        let json = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<RocmRelease>(&json).unwrap(), read);
    }

    #[rstest]
    #[case("")]
    #[case("7")]
    #[case("720")]
    #[case("unknown")]
    #[case("7.1.52802")]
    #[case("7.2.3.70204-90")]
    #[case("7.0.0-preview")]
    #[case("7.2.4_ubuntu24.04")]
    #[case("7.2.x")]
    #[case("v7.2")]
    #[case("7..2")]
    #[case("99999999999.1")]
    fn other_texts_are_no_release(#[case] text: &str) {
        assert_eq!(text.parse::<RocmRelease>(), Err(InvalidRelease(text.to_owned())));
    }

    #[test]
    fn the_order_is_that_of_the_builds() {
        let ordered = [
            "6.4.1",
            "7.2.4-93",
            "7.14.0.dev0+abc",
            "7.14.0a20260608",
            "7.14.0",
            "7.14.1",
            "10.0.0~pre1",
            "10.0.0rc2",
            "10.0.0",
            "10.1.0~20260811",
            "10.1.0a20260811+bkc.20260814",
            "10.1.0~rc0",
            "10.1.0",
        ];
        let releases = ordered.map(release);
        assert!(releases.is_sorted_by(|left, right| left < right), "{releases:?}");
        assert_eq!(release("7.2.3-90"), release("7.2.3.70203-90"));
        assert_eq!(release("7.2.3-90").build(), Some(90));
    }
}
