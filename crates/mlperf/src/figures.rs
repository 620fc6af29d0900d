//! The figures of MLPerf by name, each with its unit and whether higher or lower is better.
//!
//! A figure that is not here has both from whoever defines it; nothing is inferred from its words.

use retrial_readings::claim::Better;
use retrial_readings::figure::{QUERIES_PER_SECOND, SAMPLES_PER_SECOND, TOKENS_PER_SECOND};

/// A figure that a suite of MLPerf defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownFigure {
    /// The unit; empty for a number without one, and for accuracies, whose scripts print it.
    pub unit: &'static str,
    /// The direction; none if a range is required, as of the length of answers.
    pub better: Option<Better>,
}

/// The rates of `LoadGen`, with the names that recipes may use for them, and their units.
pub const RATES: [(&str, &str); 13] = [
    ("samples_per_second", SAMPLES_PER_SECOND),
    ("tokens_per_second", TOKENS_PER_SECOND),
    ("completed_samples_per_second", SAMPLES_PER_SECOND),
    ("completed_tokens_per_second", TOKENS_PER_SECOND),
    ("scheduled_samples_per_second", SAMPLES_PER_SECOND),
    ("tokens_per_second_inferred", TOKENS_PER_SECOND),
    ("inferred_tokens_per_second", TOKENS_PER_SECOND),
    ("completed_tokens_per_second_inferred", TOKENS_PER_SECOND),
    ("inferred_completed_tokens_per_second", TOKENS_PER_SECOND),
    ("queries_per_second_with_loadgen_overhead", QUERIES_PER_SECOND),
    ("queries_per_second_without_loadgen_overhead", QUERIES_PER_SECOND),
    ("tokens_per_second_with_loadgen_overhead", TOKENS_PER_SECOND),
    ("tokens_per_second_without_loadgen_overhead", TOKENS_PER_SECOND),
];

/// Accuracy figures of MLPerf Inference, as `MLCommons` publishes them, and their direction.
const ACCURACIES: [(&str, Option<Better>); 27] = [
    ("acc", Some(Better::Higher)),
    ("meanAcc", Some(Better::Higher)),
    ("mAP", Some(Better::Higher)),
    ("F1", Some(Better::Higher)),
    ("F1_HIERARCHICAL", Some(Better::Higher)),
    ("AUC", Some(Better::Higher)),
    ("DICE", Some(Better::Higher)),
    ("bleu", Some(Better::Higher)),
    ("ROUGE1", Some(Better::Higher)),
    ("ROUGE2", Some(Better::Higher)),
    ("ROUGEL", Some(Better::Higher)),
    ("ROUGELSUM", Some(Better::Higher)),
    ("GEN_LEN", None),
    ("TOKENS_PER_SAMPLE", None),
    ("exact_match", Some(Better::Higher)),
    ("gsm8k_accuracy", Some(Better::Higher)),
    ("mbxp_accuracy", Some(Better::Higher)),
    ("CLIP_SCORE", Some(Better::Higher)),
    ("FID_SCORE", Some(Better::Lower)),
    ("ACCURACY", Some(Better::Higher)),
    ("WER", Some(Better::Lower)),
    ("vbench_score", Some(Better::Higher)),
    ("normalized_single_turn_score", Some(Better::Higher)),
    // A normalized entropy.
    ("DLRM_NE", Some(Better::Lower)),
    ("DLRM_ACC", Some(Better::Higher)),
    ("DLRM_AUC", Some(Better::Higher)),
    ("E2E_ACCURACY", Some(Better::Higher)),
];

/// Figures of accuracy that are a part of a published score: a mean over categories.
const PARTS_OF_SCORES: [&str; 1] = ["normalized_single_turn_score"];

/// Results of the power suite, with their units: lower is better.
const POWER: [(&str, &str); 2] = [("average_power_w", "W"), ("energy_per_query_mj", "mJ")];

/// The times of `LoadGen` that have several statistics.
const TIMES: [&str; 4] = ["query_latency_", "latency_", "ttft_", "tpot_"];

/// The times of `LoadGen` that have one value, before their unit.
const SINGLE_TIMES: [&str; 3] =
    ["early_stopping_latency", "early_stopping_p99", "ttft_early_stopping_p99"];

/// The times that people mean.
const USUAL_TIMES: [&str; 6] = [
    "early_stopping_latency_ns",
    "latency_p90_ns",
    "latency_p99_ns",
    "latency_mean_ns",
    "ttft_p99_ns",
    "tpot_p99_ns",
];

/// Returns the figure of this name; of an accuracy in any case, as scripts differ in it.
pub fn find_known_figure(name: &str) -> Option<KnownFigure> {
    find_loadgen_figure(name)
        .or_else(|| {
            let mut accuracies = ACCURACIES.iter();
            let (_, better) = accuracies.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
            Some(KnownFigure { unit: "", better: *better })
        })
        .or_else(|| {
            let (_, unit) = POWER.iter().find(|(known, _)| *known == name)?;
            Some(KnownFigure { unit, better: Some(Better::Lower) })
        })
}

/// Returns the figure of this name that `LoadGen` writes: a rate, or a time in any unit.
pub fn find_loadgen_figure(name: &str) -> Option<KnownFigure> {
    let rate = RATES.iter().find(|(rate, _)| *rate == name);
    let rate = rate.map(|(_, unit)| KnownFigure { unit, better: Some(Better::Higher) });
    rate.or_else(|| Some(KnownFigure { unit: time_unit(name)?, better: Some(Better::Lower) }))
}

/// Returns the names of accuracy figures, for suggestions.
pub fn accuracy_figure_names() -> impl Iterator<Item = &'static str> {
    ACCURACIES.into_iter().map(|(name, _)| name)
}

/// Returns the names of rates and of the usual times, for suggestions.
pub fn loadgen_figure_names() -> impl Iterator<Item = &'static str> {
    let rates = RATES.into_iter().map(|(name, _)| name);
    rates.chain(USUAL_TIMES)
}

/// Returns whether the suite's scripts give an accuracy figure of this name, in any case.
pub fn is_accuracy_figure(name: &str) -> bool {
    let mut accuracies = ACCURACIES.iter();
    accuracies.any(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// Returns whether results are published by an accuracy figure of this name: not by a length, which does not measure
/// quality, nor by a part of a score.
pub fn is_published_accuracy(name: &str) -> bool {
    let has_direction = find_known_figure(name).is_none_or(|known| known.better.is_some());
    has_direction && !PARTS_OF_SCORES.contains(&name)
}

/// The unit at the end of a time's name: `ttft_p99_9_ms` is a quantity, a statistic and a unit.
fn time_unit(name: &str) -> Option<&'static str> {
    let (stem, suffix) = name.rsplit_once('_')?;
    let unit = ["ns", "us", "ms", "s"].into_iter().find(|unit| *unit == suffix)?;
    let mut families = TIMES.iter();
    let statistic = families.find_map(|family| stem.strip_prefix(family));
    let is_known = SINGLE_TIMES.contains(&stem) || statistic.is_some_and(is_statistic);
    is_known.then_some(unit)
}

/// `min`, `max`, `mean`, or a percentile: `p99_9`.
fn is_statistic(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match text.strip_prefix('p') {
        Some(percentile) => {
            percentile.split('_').count() <= 2 && percentile.split('_').all(is_number)
        }
        None => matches!(text, "min" | "max" | "mean"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("tokens_per_second", "tokens/s", Some(Better::Higher))]
    #[case("inferred_tokens_per_second", "tokens/s", Some(Better::Higher))]
    #[case("queries_per_second_with_loadgen_overhead", "queries/s", Some(Better::Higher))]
    #[case("early_stopping_latency_ns", "ns", Some(Better::Lower))]
    #[case("latency_p99_9_ns", "ns", Some(Better::Lower))]
    #[case("query_latency_min_us", "us", Some(Better::Lower))]
    #[case("ttft_mean_ms", "ms", Some(Better::Lower))]
    #[case("tpot_p99_s", "s", Some(Better::Lower))]
    #[case("rouge1", "", Some(Better::Higher))]
    #[case("FID_SCORE", "", Some(Better::Lower))]
    #[case("dlrm_ne", "", Some(Better::Lower))]
    #[case("TOKENS_PER_SAMPLE", "", None)]
    #[case("average_power_w", "W", Some(Better::Lower))]
    fn known_figures_have_a_unit_and_a_direction(
        #[case] name: &str,
        #[case] unit: &'static str,
        #[case] better: Option<Better>,
    ) {
        assert_eq!(find_known_figure(name), Some(KnownFigure { unit, better }));
    }

    #[test]
    fn lengths_and_parts_of_scores_are_not_published() {
        let published = ["ROUGE1", "exact_match", "CLIP_SCORE", "own_accuracy"];
        assert!(published.into_iter().all(is_published_accuracy));
        let others = ["GEN_LEN", "TOKENS_PER_SAMPLE", "normalized_single_turn_score"];
        assert!(!others.into_iter().any(is_published_accuracy));
    }

    /// Words such as `latency` in a name say nothing.
    #[rstest]
    fn other_names_are_unknown(
        #[values(
            "",
            "ns",
            "latency_ns",
            "latency_99_ns",
            "latency_p_ns",
            "latency_p99",
            "ttft_p99_9_9_ns",
            "tpot_median_ns",
            "latency_hiding_factor",
            "power_efficiency",
            "speed"
        )]
        name: &str,
    ) {
        assert_eq!(find_known_figure(name), None);
    }
}
