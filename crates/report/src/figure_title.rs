//! Titles of figures as people write them: `latency_p99_ns` is `p99 latency`. The names of others are what a recipe calls
//! them, and stay.

use retrial_mlperf::figures::find_loadgen_figure;

/// `LoadGen`'s kinds of latency, by the beginning of their figures' names. Those to the first token and those between
/// tokens differ in magnitude.
pub(super) const LATENCY_KINDS: [(&str, &str); 4] = [
    ("latency", "latency"),
    ("query_latency", "latency of a query"),
    ("ttft", "time to first token"),
    ("tpot", "time per output token"),
];
/// The estimates of early stopping, without their unit.
const EARLY_STOPPING: [(&str, &str); 3] = [
    ("early_stopping_latency", "early-stopping latency"),
    ("early_stopping_p99", "early-stopping p99 latency"),
    ("ttft_early_stopping_p99", "early-stopping p99 time to first token"),
];

/// The title of a figure, without its unit.
pub(super) fn figure_title(name: &str) -> String {
    if find_loadgen_figure(name).is_none() {
        return name.to_owned();
    }
    latency_title(name).unwrap_or_else(|| name.replace('_', " "))
}

fn latency_title(name: &str) -> Option<String> {
    let stem = ["_ns", "_us", "_ms", "_s"].iter().find_map(|unit| name.strip_suffix(unit))?;
    if let Some((_, title)) = EARLY_STOPPING.iter().find(|(known, _)| *known == stem) {
        return Some((*title).to_owned());
    }
    LATENCY_KINDS.iter().find_map(|(kind, title)| {
        let statistic = stem.strip_prefix(kind)?.strip_prefix('_')?;
        Some(format!("{} {title}", statistic.replace('_', ".")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("latency_p99_ns", "p99 latency")]
    #[case("latency_p99_9_ms", "p99.9 latency")]
    #[case("query_latency_mean_ns", "mean latency of a query")]
    #[case("ttft_p99_ns", "p99 time to first token")]
    #[case("tpot_max_s", "max time per output token")]
    #[case("early_stopping_latency_ms", "early-stopping latency")]
    #[case("ttft_early_stopping_p99_ns", "early-stopping p99 time to first token")]
    #[case("completed_tokens_per_second", "completed tokens per second")]
    fn titles_of_loadgen_figures_are_words(#[case] name: &str, #[case] title: &str) {
        assert_eq!(figure_title(name), title);
    }

    #[rstest]
    #[case("rate_per_s")]
    #[case("ROUGE1")]
    #[case("latency_hiding_ns")]
    fn names_of_a_recipe_stay(#[case] name: &str) {
        assert_eq!(figure_title(name), name);
    }
}
