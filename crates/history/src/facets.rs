//! Filters that runs, recipes and published results share: the same names, values and errors wherever something is
//! listed.

use clap::Args;

use super::release_order::names_release;
use retrial_document::did_you_mean;
use retrial_rocm::RocmRelease;

/// Every word for a run's state.
pub const STATE_WORDS: [&str; 10] = [
    "running",
    "submitted",
    "interrupted",
    "stopped",
    "reproduced",
    "measured",
    "inconclusive",
    "not reproduced",
    "invalid",
    "failed",
];

/// Filters by properties that runs, recipes and published results have. Each may be given several times, in any case;
/// one value of each must match.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct FacetFilter {
    /// Match the outcome: reproduced, not-reproduced, inconclusive, invalid, failed, measured, running, stopped,
    /// interrupted; a recipe has that of its newest run
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',', value_parser = parse_outcome)]
    pub outcome: Vec<String>,
    /// Match the suite
    #[arg(long, value_name = "SUITE")]
    pub suite: Vec<String>,
    /// Match the submitter of the published figures
    #[arg(long, value_name = "NAME")]
    pub submitter: Vec<String>,
    /// Match the benchmark
    #[arg(long, value_name = "NAME")]
    pub benchmark: Vec<String>,
    /// Match the GPU's model, or a part of it
    #[arg(long, value_name = "MODEL")]
    pub gpu: Vec<String>,
    /// Match the release of ROCm in the container, of a recipe in one of its images: 10.1.0, or 7.2 for each of its
    /// releases
    #[arg(long, value_name = "RELEASE")]
    pub rocm: Vec<RocmRelease>,
}

/// The values of something for each filter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facets {
    /// The word for its outcome or state.
    pub outcome: Option<String>,
    pub suites: Vec<String>,
    pub submitters: Vec<String>,
    /// The names of its benchmark.
    pub benchmarks: Vec<String>,
    /// The models of its GPUs.
    pub gpus: Vec<String>,
    /// The releases of `ROCm` in its images.
    pub releases: Vec<RocmRelease>,
}

impl FacetFilter {
    /// Returns whether something with these values matches.
    pub fn matches(&self, facets: &Facets) -> bool {
        let outcome = facets.outcome.as_slice();
        let is_of_release = |requested: &RocmRelease| {
            facets.releases.iter().any(|release| names_release(requested, release))
        };
        (self.outcome.is_empty() || self.outcome.iter().any(|word| outcome.contains(word)))
            && self.named(facets).all(|(_, requested, own, matches)| {
                let is_own = |requested: &String| own.iter().any(|value| matches(requested, value));
                requested.is_empty() || requested.iter().any(is_own)
            })
            && (self.rocm.is_empty() || self.rocm.iter().any(is_of_release))
    }

    /// Returns the first requested value that nothing has, whatever the other filters are: the filter, the value, and
    /// the values that there are.
    pub fn find_unknown<'f>(
        &'f self,
        all: &'f [Facets],
    ) -> Option<(&'static str, String, Vec<String>)> {
        let mut known = Facets::default();
        for facets in all {
            known.suites.extend_from_slice(&facets.suites);
            known.submitters.extend_from_slice(&facets.submitters);
            known.benchmarks.extend_from_slice(&facets.benchmarks);
            known.gpus.extend_from_slice(&facets.gpus);
        }
        let unknown = self.named(&known).find_map(|(name, requested, known, matches)| {
            let is_unknown =
                |requested: &&String| !known.iter().any(|value| matches(requested, value));
            let requested = requested.iter().find(is_unknown)?;
            let mut values = known.to_vec();
            values.sort_unstable();
            values.dedup();
            Some((name, requested.clone(), values))
        });
        unknown.or_else(|| {
            let mut releases: Vec<&RocmRelease> =
                all.iter().flat_map(|facets| &facets.releases).collect();
            releases.sort_unstable();
            releases.dedup();
            let is_unknown = |requested: &&RocmRelease| {
                !releases.iter().any(|release| names_release(requested, release))
            };
            let requested = self.rocm.iter().find(is_unknown)?;
            let releases = releases.iter().map(ToString::to_string);
            Some(("ROCm release", requested.to_string(), releases.collect()))
        })
    }

    /// The filters by names: the name of each, the requested values, those of something, and how they are compared.
    fn named<'f>(&'f self, facets: &'f Facets) -> impl Iterator<Item = NamedFacet<'f>> {
        [
            ("suite", &self.suite[..], &facets.suites[..], names_value as NameComparison),
            ("submitter", &self.submitter, &facets.submitters, names_value),
            ("benchmark", &self.benchmark, &facets.benchmarks, names_value),
            ("gpu", &self.gpu, &facets.gpus, names_part),
        ]
        .into_iter()
    }
}

type NameComparison = fn(&str, &str) -> bool;
type NamedFacet<'f> = (&'static str, &'f [String], &'f [String], NameComparison);

fn names_part(requested: &str, value: &str) -> bool {
    value.to_lowercase().contains(&requested.to_lowercase())
}

/// Returns whether a requested name is that of a value, or of its beginning: `6.0` means `v6.0`, `llama2-70b` also
/// `llama2-70b-99.9`, `dell` also `Dell_AMD`.
pub fn names_value(requested: &str, value: &str) -> bool {
    let plain = |text: &str| {
        let normalized = text.trim().to_lowercase().replace([' ', '_'], "-");
        match normalized.strip_prefix('v') {
            Some(version) if version.starts_with(|first: char| first.is_ascii_digit()) => {
                version.to_owned()
            }
            _ => normalized,
        }
    };
    let (requested, value) = (plain(requested), plain(value));
    let rest = value.strip_prefix(&requested);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// A word that is no outcome.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UnknownOutcome(String);

/// Reads an outcome or a state as it is typed: `not-reproduced`.
///
/// # Errors
/// If there is no such outcome.
pub fn parse_outcome(text: &str) -> Result<String, UnknownOutcome> {
    let word = text.trim().to_lowercase().replace(['-', '_'], " ");
    if STATE_WORDS.contains(&word.as_str()) {
        return Ok(word);
    }
    let typed = STATE_WORDS.map(|word| word.replace(' ', "-"));
    let typed = typed.iter().map(String::as_str);
    Err(UnknownOutcome(did_you_mean(text, typed, "expected one of")))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn facets() -> Facets {
        Facets {
            outcome: Some("not reproduced".to_owned()),
            suites: vec!["mlperf-inference".to_owned()],
            submitters: vec!["Dell_AMD".to_owned()],
            benchmarks: vec!["llama2-70b-99.9".to_owned()],
            gpus: vec!["MI355X".to_owned()],
            releases: vec!["7.2.4".parse().unwrap()],
        }
    }

    fn filter(name: &str, value: &str) -> FacetFilter {
        use clap::Parser;
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            filter: FacetFilter,
        }
        Line::try_parse_from(["retrial", &format!("--{name}"), value]).unwrap().filter
    }

    #[rstest]
    #[case("outcome", "Not-Reproduced", true)]
    #[case("outcome", "failed,not_reproduced", true)]
    #[case("outcome", "reproduced", false)]
    #[case("suite", "mlperf inference", true)]
    #[case("suite", "mlperf-training", false)]
    #[case("submitter", "dell", true)]
    #[case("submitter", "AMD", false)]
    #[case("benchmark", "llama2-70b", true)]
    #[case("benchmark", "llama2", true)]
    #[case("benchmark", "llama", false)]
    #[case("gpu", "mi355x", true)]
    #[case("gpu", "mi35", true)]
    #[case("gpu", "mi300", false)]
    #[case("rocm", "7.2", true)]
    #[case("rocm", "7.2.4", true)]
    #[case("rocm", "7.1", false)]
    fn one_value_of_each_filter_matches(
        #[case] name: &str,
        #[case] value: &str,
        #[case] expected: bool,
    ) {
        assert_eq!(filter(name, value).matches(&facets()), expected);
        let unknown = filter(name, value).find_unknown(&[facets(), Facets::default()]);
        assert_eq!(unknown.is_none(), expected || name == "outcome", "{unknown:?}");
        assert!(!filter(name, value).matches(&Facets::default()), "nothing states it");
    }

    #[test]
    fn a_value_that_nothing_has_is_found_with_those_that_there_are() {
        let unknown = filter("gpu", "MI999X").find_unknown(&[facets(), facets()]);
        assert_eq!(unknown, Some(("gpu", "MI999X".to_owned(), vec!["MI355X".to_owned()])));
        let unknown = filter("rocm", "9.9").find_unknown(&[facets()]);
        assert_eq!(unknown, Some(("ROCm release", "9.9".to_owned(), vec!["7.2.4".to_owned()])));
    }

    #[rstest]
    #[case("6.0", "v6.0", true)]
    #[case("V6.0", "v6.0", true)]
    #[case("6", "v6.0", false)]
    #[case("vision", "ision", false)]
    fn versions_are_named_whole(
        #[case] requested: &str,
        #[case] value: &str,
        #[case] expected: bool,
    ) {
        assert_eq!(names_value(requested, value), expected);
    }

    #[test]
    fn a_word_that_is_no_outcome_is_corrected() {
        assert_eq!(parse_outcome("submitted").unwrap(), "submitted");
        let slip = parse_outcome("invald").unwrap_err().to_string();
        assert_eq!(slip, "did you mean `invalid`?");
        let other = parse_outcome("excellent").unwrap_err().to_string();
        assert!(other.starts_with("expected one of: running, submitted"), "{other}");
        assert!(other.contains("not-reproduced"), "{other}");
    }
}
