//! The notice that `MLCommons`' policy requires next to every unverified `MLPerf` figure.
//!
//! Its results messaging guidelines ask for the word 'unverified' next to each score, the suite
//! with round, division and benchmark, the sentence on verification, and the trademark's line.

use itertools::join;

use retrial_recipe::model::Submission;

/// Returns the notice for a suite of `MLCommons`'; none for others.
pub fn trademark_notice(submission: &Submission) -> Option<String> {
    let suite = submission.suite.strip_prefix("mlperf")?;
    let suite = join(suite.split(['-', '_', ' ']).map(capitalize), " ");
    let division = submission.division.map(|division| capitalize(division.word()));
    let words = [
        "Unverified MLPerf",
        submission.round.as_deref().unwrap_or_default(),
        suite.trim(),
        division.as_deref().unwrap_or_default(),
        &submission.benchmark,
    ];
    let words = join(words.into_iter().filter(|word| !word.is_empty()), " ");
    Some(format!("{words} results. Results not verified by MLCommons Association. {TRADEMARK}"))
}

/// The part of the notice that is also due where published figures stand alone.
const TRADEMARK: &str = "The MLPerf name and logo are registered and unregistered trademarks of \
    MLCommons Association in the United States and other countries. All rights reserved. \
    Unauthorized use strictly prohibited. See www.mlcommons.org for more information.";

/// Returns the notice for published figures of these suites; none if no suite is `MLCommons`'.
pub fn published_notice<'a>(suites: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut suites = suites.into_iter();
    let is_mlperf = suites.any(|suite| suite.starts_with("mlperf"));
    is_mlperf
        .then(|| format!("Published MLPerf figures, as the submitters reported them. {TRADEMARK}"))
}

fn capitalize(word: &str) -> String {
    // `hpc` is no word.
    if word == "hpc" {
        return "HPC".to_owned();
    }
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrial_mlperf::Division;

    fn submission(suite: &str, round: Option<&str>, division: Option<Division>) -> Submission {
        Submission {
            suite: suite.to_owned(),
            round: round.map(str::to_owned),
            division,
            benchmark: "llama2-70b-99".to_owned(),
            ..Submission::default()
        }
    }

    #[test]
    fn the_notice_names_round_and_division() {
        let text =
            trademark_notice(&submission("mlperf-inference", Some("v6.0"), Some(Division::Closed)))
                .unwrap();
        assert!(text.starts_with("Unverified MLPerf v6.0 Inference Closed llama2-70b-99 results."));
        assert!(text.contains("not verified by MLCommons Association"));
        assert!(text.contains("trademarks of MLCommons Association"));
    }

    #[test]
    fn unknown_round_and_division_are_omitted() {
        let text = trademark_notice(&submission("mlperf-hpc", None, None)).unwrap();
        assert!(text.starts_with("Unverified MLPerf HPC llama2-70b-99 results."));
        assert!(!text.contains("  "));
    }

    #[test]
    fn other_suites_have_no_notice() {
        assert_eq!(trademark_notice(&submission("quickstart", None, None)), None);
    }
}
