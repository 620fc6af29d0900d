//! Figures that `LoadGen`'s own logs give to a mode that has `results`, under the names that the
//! log parsers use.

/// Those that people mean; rates are all of them, of times the usual ones.
pub const LOADGEN_FIGURES: &[&str] = &[
    "samples_per_second",
    "tokens_per_second",
    "completed_samples_per_second",
    "completed_tokens_per_second",
    "scheduled_samples_per_second",
    "tokens_per_second_inferred",
    "inferred_tokens_per_second",
    "completed_tokens_per_second_inferred",
    "inferred_completed_tokens_per_second",
    "queries_per_second_with_loadgen_overhead",
    "queries_per_second_without_loadgen_overhead",
    "tokens_per_second_with_loadgen_overhead",
    "tokens_per_second_without_loadgen_overhead",
    "early_stopping_latency_ns",
    "latency_p90_ns",
    "latency_p99_ns",
    "latency_mean_ns",
    "ttft_p99_ns",
    "tpot_p99_ns",
];

/// Accuracy figures of MLPerf Inference, as MLCommons publishes them. The suite's scripts print them
/// into `accuracy.txt` or as the check's output, and both are read without a declaration.
pub const ACCURACY_FIGURES: &[&str] = &[
    "acc",
    "mAP",
    "F1",
    "F1_HIERARCHICAL",
    "AUC",
    "DICE",
    "ROUGE1",
    "ROUGE2",
    "ROUGEL",
    "ROUGELSUM",
    "GEN_LEN",
    "TOKENS_PER_SAMPLE",
    "exact_match",
    "gsm8k_accuracy",
    "mbxp_accuracy",
    "CLIP_SCORE",
    "FID_SCORE",
    "ACCURACY",
    "WER",
    "vbench_score",
    "DLRM_NE",
    "DLRM_ACC",
    "DLRM_AUC",
    "E2E_ACCURACY",
];

/// Whether the suite's scripts give an accuracy figure of this name, in any case.
pub fn is_accuracy_figure(name: &str) -> bool {
    let mut figures = ACCURACY_FIGURES.iter();
    figures.any(|figure| figure.eq_ignore_ascii_case(name))
}

/// Whether `LoadGen` gives a figure of this name.
pub fn is_loadgen_figure(name: &str) -> bool {
    LOADGEN_FIGURES.contains(&name) || is_time_figure(name)
}

/// `ttft_p99_9_ms`: quantity, statistic, unit.
fn is_time_figure(name: &str) -> bool {
    let Some((stem, "ns" | "us" | "ms" | "s")) = name.rsplit_once('_') else {
        return false;
    };
    if stem == "early_stopping_latency" {
        return true;
    }
    let families = ["query_latency_", "latency_", "ttft_", "tpot_"];
    let statistic = families.iter().find_map(|family| stem.strip_prefix(family));
    statistic.is_some_and(|statistic| match statistic {
        "min" | "max" | "mean" => true,
        _ => statistic.strip_prefix('p').is_some_and(|percentile| {
            let digits =
                |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            percentile.split('_').count() <= 2 && percentile.split('_').all(digits)
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loadgen_figure_names_are_recognized() {
        for name in LOADGEN_FIGURES {
            assert!(is_loadgen_figure(name), "{name}");
        }
        for name in [
            "latency_p99_9_ns",
            "query_latency_min_us",
            "ttft_mean_ms",
            "tpot_p99_s",
            "early_stopping_latency_ms",
        ] {
            assert!(is_loadgen_figure(name), "{name}");
        }
        for name in [
            "",
            "ns",
            "latency_ns",
            "latency_99_ns",
            "latency_p_ns",
            "latency_p99",
            "ttft_p99_9_9_ns",
            "rouge1",
            "tpot_median_ns",
        ] {
            assert!(!is_loadgen_figure(name), "{name}");
        }
    }
}
