//! The names of figures: from what the summary prints, from the detail log's keys, and from what
//! a recipe may write.

use std::borrow::Cow;

use super::{Parameters, TestScenario};
use crate::figures::RATES;
use retrial_readings::figure::{Figure, NANOSECONDS, TOKENS_PER_SECOND};

/// A figure's name and unit, and how many of them one logged unit is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FigureDefinition {
    pub name: Cow<'static, str>,
    pub unit: &'static str,
    pub factor: f64,
}

impl FigureDefinition {
    fn new(name: impl Into<Cow<'static, str>>, unit: &'static str) -> Self {
        Self { name: name.into(), unit, factor: 1.0 }
    }
}

/// The name of SingleStream's and MultiStream's published figure.
pub(super) const EARLY_STOPPING_LATENCY: &str = "early_stopping_latency_ns";
/// The entries in which a detail log states whether early stopping is satisfied.
pub(crate) const EARLY_STOPPING_KEYS: [&str; 4] = [
    "early_stopping_met",
    "early_stopping_result",
    "early_stopping_ttft_result",
    "early_stopping_tpot_result",
];

/// Returns the name of a SingleStream run's estimate of the 99th percentile, from which MultiStream's figure
/// may be inferred. With token latencies it is the time to the first token's.
pub(super) fn multi_stream_estimate_name(settings: &Parameters) -> &'static str {
    if settings.use_token_latencies == Some(true) {
        "ttft_early_stopping_p99_ns"
    } else {
        "early_stopping_p99_ns"
    }
}

/// Returns the figure by which MLCommons publishes a scenario; `tokens` for benchmarks that are published in
/// tokens per second.
pub fn published_metric(scenario: TestScenario, tokens: bool) -> &'static str {
    match (scenario, tokens) {
        (TestScenario::Offline, true) => "tokens_per_second",
        (TestScenario::Offline, false) => "samples_per_second",
        (TestScenario::Server | TestScenario::Interactive, true) => "completed_tokens_per_second",
        (TestScenario::Server | TestScenario::Interactive, false) => "completed_samples_per_second",
        (TestScenario::SingleStream | TestScenario::MultiStream, _) => EARLY_STOPPING_LATENCY,
    }
}

/// Returns the other names under which a recipe may ask for a figure, each with the names that are looked
/// for in its place, in order.
pub fn figure_aliases(name: &str) -> &'static [&'static str] {
    match name {
        "samples_per_second" => &["completed_samples_per_second"],
        "tokens_per_second" => &["completed_tokens_per_second"],
        "tokens_per_second_inferred" | "inferred_completed_tokens_per_second" => {
            &["completed_tokens_per_second_inferred"]
        }
        "inferred_tokens_per_second" => {
            &["tokens_per_second_inferred", "completed_tokens_per_second_inferred"]
        }
        _ => &[],
    }
}

/// Returns the figure that a recipe means by `name`, of those that `figure` finds by their own names: its own
/// name, an [alias](figure_aliases), or either with `_us`, `_ms` or `_s` in place of `_ns`.
pub fn resolve_figure<'f>(
    name: &str,
    figure: impl Fn(&str) -> Option<&'f Figure>,
) -> Option<Figure> {
    let find = |name: &str| {
        let mut aliases = figure_aliases(name).iter();
        figure(name).or_else(|| aliases.find_map(|alias| figure(alias)))
    };
    find(name).cloned().or_else(|| {
        let (name, factor, unit) = split_time_unit(name)?;
        Some(find(&name)?.scale_to_unit(factor, unit))
    })
}

/// Returns a figure's name with another unit of time in place of ns: the name in ns, the factor, the unit.
fn split_time_unit(name: &str) -> Option<(String, f64, &'static str)> {
    let (stem, unit) = name.rsplit_once('_')?;
    let (factor, unit) = match unit {
        "us" => (1e-3, "us"),
        "ms" => (1e-6, "ms"),
        "s" => (1e-9, "s"),
        _ => return None,
    };
    Some((format!("{stem}_ns"), factor, unit))
}

/// `90.0th`, `90th` or `99.90` as `p90`, `p99_9`.
pub(super) fn percentile_label(text: &str) -> Option<String> {
    let digits = text.trim_end_matches("th");
    let whole_or_decimal = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = digits.parse().ok().filter(|_| whole_or_decimal && digits.len() <= 12)?;
    (value > 0.0 && value <= 100.0).then(|| format!("p{value}").replace('.', "_"))
}

/// The percentiles of every latency that both logs have.
const PERCENTILES: [&str; 6] = ["p50", "p90", "p95", "p97", "p99", "p99_9"];

/// Returns whether a figure is a percentile that only the summary's head has: the target of a test
/// whose target is none of the usual percentiles.
pub(super) fn is_of_target_percentile(name: &str) -> bool {
    let kinds = ["latency_", "ttft_"];
    let label = kinds.iter().find_map(|kind| name.strip_prefix(kind)?.strip_suffix("_ns"));
    label.is_some_and(|label| {
        let is_percentile =
            label.starts_with('p') && label[1..].starts_with(|c: char| c.is_ascii_digit());
        is_percentile && !PERCENTILES.contains(&label)
    })
}

/// Returns the name of a rate: both logs have the same names except for abbreviations, the place of `inferred`, and
/// the separator of words.
fn parse_rate_name(key: &str, separator: char) -> Option<FigureDefinition> {
    let (inferred, words): (Vec<&str>, Vec<&str>) = key
        .split(separator)
        .map(|word| match word {
            "qps" => "queries_per_second",
            "tps" => "tokens_per_second",
            "token" => "tokens_per",
            "throughput" | "sec" => "second",
            "w/" => "with",
            "w/o" => "without",
            "(inferred)" => "inferred",
            word => word,
        })
        .partition(|word| *word == "inferred");
    let joined_name = [words, inferred].concat().join("_");
    let (name, unit) = RATES.into_iter().find(|(rate, _)| *rate == joined_name)?;
    Some(FigureDefinition::new(name, unit))
}

/// Returns the figure that a line of the summary gives, by its key (squeezed, in lower case).
pub(super) fn figure_of_summary_key(key: &str) -> Option<FigureDefinition> {
    if let Some(named) = parse_rate_name(key, ' ') {
        return Some(named);
    }
    let (first, rest) = key.strip_suffix(" (ns)")?.split_once(' ')?;
    let (statistic, quantity) = match first {
        "min" | "max" | "mean" => (first.to_owned(), rest),
        // The head of the summary has `90.0th first token percentile latency`, the additional stats
        // `90.00 percentile first token latency`.
        _ => match rest.strip_prefix("percentile ") {
            Some(quantity) => (percentile_label(first)?, quantity),
            None if rest == "first token percentile latency" => {
                (percentile_label(first)?, "first token latency")
            }
            None => return None,
        },
    };
    let kind = match quantity {
        "latency" => "latency",
        "first token latency" => "ttft",
        // v4.1 and v5.1 print `Time to Output Token`, v6.x `Time per Output Token`.
        "time to output token" | "time per output token" => "tpot",
        _ => return None,
    };
    Some(FigureDefinition::new(format!("{kind}_{statistic}_ns"), NANOSECONDS))
}

/// Returns the name of the figure that a line of the summary gives.
pub(crate) fn figure_name_of_summary_line(line: &str) -> Option<Cow<'static, str>> {
    let (key, _) = line.split_once(':')?;
    let squeezed = key.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    figure_of_summary_key(&squeezed).map(|figure| figure.name)
}

/// Returns the name of the figure that an entry of the detail log gives, by its key.
pub(crate) fn figure_name_of_detail_key(key: &str) -> Option<Cow<'static, str>> {
    figure_of_detail_key(key).map(|figure| figure.name)
}

/// Returns the figure that an entry of the detail log gives, by its key. LoadGen's `_ss` and `_ms` stand
/// for SingleStream and MultiStream; both are nanoseconds, and are not handled here because what
/// they mean depends on the scenario.
pub(super) fn figure_of_detail_key(key: &str) -> Option<FigureDefinition> {
    let result_key = key.strip_prefix("result_")?;
    if result_key == "token_throughput" {
        // Tokens per nanosecond, unlike everything else: 5.77509e-06 where the summary prints
        // `TPS w/o loadgen overhead : 5775.09`.
        let name = "tokens_per_second_without_loadgen_overhead";
        return Some(FigureDefinition {
            factor: 1e9,
            ..FigureDefinition::new(name, TOKENS_PER_SECOND)
        });
    }
    if let Some(named) = parse_rate_name(result_key, '_') {
        return Some(named);
    }
    if let Some(statistic @ ("min" | "max" | "mean")) =
        result_key.strip_prefix("time_to_output_token_")
    {
        return Some(FigureDefinition::new(format!("tpot_{statistic}_ns"), NANOSECONDS));
    }
    let stem = result_key.strip_suffix("_ns")?;
    if let Some(text) = stem.strip_prefix("time_per_output_token_") {
        let label = percentile_label(text.strip_suffix("_percentile")?)?;
        return Some(FigureDefinition::new(format!("tpot_{label}_ns"), NANOSECONDS));
    }
    let (kind, stem) = match stem.strip_prefix("first_token_") {
        Some(stem) => ("ttft", stem),
        None => ("latency", stem),
    };
    // MultiStream logs both: latency per query, which the summary prints, and per sample.
    let latency_stem = stem.strip_suffix("_latency")?;
    let (statistic, kind) = match latency_stem.strip_suffix("_query") {
        Some(stem) => (stem.strip_suffix("_per").unwrap_or(stem), "query_latency"),
        None => (latency_stem, kind),
    };
    let statistic = match statistic {
        "min" | "max" | "mean" => statistic.to_owned(),
        _ => percentile_label(statistic.strip_suffix("_percentile")?)?,
    };
    Some(FigureDefinition::new(format!("{kind}_{statistic}_ns"), NANOSECONDS))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("90th percentile latency (ns)", "latency_p90_ns")]
    #[case("90.0th percentile latency (ns)", "latency_p90_ns")]
    #[case("99.90 percentile latency (ns)", "latency_p99_9_ns")]
    #[case("99.0th first token percentile latency (ns)", "ttft_p99_ns")]
    #[case("99.00 percentile first token latency (ns)", "ttft_p99_ns")]
    #[case("99.00 percentile time to output token (ns)", "tpot_p99_ns")]
    #[case("mean time per output token (ns)", "tpot_mean_ns")]
    #[case("mean time to output token (ns)", "tpot_mean_ns")]
    #[case("min first token latency (ns)", "ttft_min_ns")]
    #[case("tokens per second (inferred)", "tokens_per_second_inferred")]
    fn summary_keys_have_names(#[case] key: &str, #[case] name: &str) {
        assert_eq!(figure_of_summary_key(key).unwrap().name, name);
    }

    #[rstest]
    #[case("result_99.00_percentile_latency_ns", "latency_p99_ns")]
    #[case("result_99.90_percentile_per_query_latency_ns", "query_latency_p99_9_ns")]
    #[case("result_min_query_latency_ns", "query_latency_min_ns")]
    #[case("result_first_token_99.00_percentile_latency_ns", "ttft_p99_ns")]
    #[case("result_first_token_mean_latency_ns", "ttft_mean_ns")]
    #[case("result_time_per_output_token_99.90_percentile_ns", "tpot_p99_9_ns")]
    #[case("result_time_to_output_token_mean", "tpot_mean_ns")]
    #[case("result_inferred_completed_tokens_per_second", "completed_tokens_per_second_inferred")]
    fn detail_log_keys_have_names(#[case] key: &str, #[case] name: &str) {
        assert_eq!(figure_of_detail_key(key).unwrap().name, name);
    }

    #[rstest]
    fn unknown_keys_are_not_figures(
        #[values(
            "",
            "(ns)",
            " (ns)",
            "é (ns)",
            "101 percentile latency (ns)",
            "min (ns)",
            "inf percentile latency (ns)"
        )]
        key: &str,
    ) {
        assert_eq!(figure_of_summary_key(key), None);
        assert_eq!(figure_of_detail_key(&format!("result_{key}_ns")), None);
    }

    #[test]
    fn each_scenario_has_a_published_metric() {
        assert_eq!(published_metric(TestScenario::Offline, true), "tokens_per_second");
        assert_eq!(
            published_metric(TestScenario::Interactive, true),
            "completed_tokens_per_second"
        );
        assert_eq!(published_metric(TestScenario::Server, false), "completed_samples_per_second");
        assert_eq!(published_metric(TestScenario::SingleStream, true), "early_stopping_latency_ns");
    }
}
