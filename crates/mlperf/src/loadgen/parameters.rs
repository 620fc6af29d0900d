//! The settings of a test, as the summary prints them and as the detail log records them.

use serde::Serialize;
use serde_json::Value;

/// A setting's value, from the summary's text or the detail log's JSON.
trait Setting: Sized + PartialEq {
    fn from_text(text: &str) -> Option<Self>;
    fn from_json(value: &Value) -> Option<Self>;
    /// Returns whether the two logs agree.
    fn agrees(self, other: Self) -> bool {
        self == other
    }
}

impl Setting for u64 {
    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn from_json(value: &Value) -> Option<Self> {
        value.as_u64()
    }
}

impl Setting for f64 {
    fn from_text(text: &str) -> Option<Self> {
        retrial_readings::lexer::parse_number(text).map(|printed| printed.value)
    }

    fn from_json(value: &Value) -> Option<Self> {
        value.as_f64()
    }

    /// Equal but for the six digits that LoadGen prints of a real number.
    fn agrees(self, other: Self) -> bool {
        (self - other).abs() <= 2e-5 * self.abs().max(other.abs())
    }
}

impl Setting for bool {
    fn from_text(text: &str) -> Option<Self> {
        match text {
            "0" | "false" => Some(false),
            "1" | "true" => Some(true),
            _ => None,
        }
    }

    fn from_json(value: &Value) -> Option<Self> {
        value.as_bool().or_else(|| Some(value.as_u64()? != 0))
    }
}

macro_rules! parameters {
    ($($(#[$doc:meta])* $field:ident: $kind:ty = $printed:literal, $logged:literal;)*) => {
        /// The settings that a test ran with; those that a log does not state are `None`.
        #[derive(Debug, Clone, PartialEq, Default, Serialize)]
        pub struct Parameters {
            $($(#[$doc])* #[serde(skip_serializing_if = "Option::is_none")] pub $field: Option<$kind>,)*
        }

        impl Parameters {
            /// Takes a line of the summary; `None` where `key` is no setting, `Some(false)` where
            /// its value cannot be read.
            pub(super) fn store_printed(&mut self, key: &str, value: &str) -> Option<bool> {
                match key {
                    $($printed => {
                        let read = <$kind as Setting>::from_text(value);
                        let readable = read.is_some();
                        self.$field = read.or(self.$field);
                        Some(readable)
                    })*
                    _ => None,
                }
            }

            /// Takes an entry of the detail log, where `key` is a setting. Returns whether its value could be read.
            pub(super) fn store_logged(&mut self, key: &str, value: &Value) -> bool {
                match key {
                    $($logged => {
                        let read = <$kind as Setting>::from_json(value);
                        let readable = read.is_some();
                        self.$field = read.or(self.$field);
                        readable
                    })*
                    _ => true,
                }
            }

            /// Takes each setting from here, else from `other`.
            #[must_use]
            pub(super) fn or(&self, other: &Self) -> Self {
                Self { $($field: self.$field.or(other.$field),)* }
            }

            /// Returns the settings that both state, with different values.
            pub(super) fn names_of_differing(&self, other: &Self) -> Vec<&'static str> {
                let mut names = Vec::new();
                $(if let (Some(ours), Some(theirs)) = (self.$field, other.$field)
                    && !ours.agrees(theirs)
                {
                    names.push(stringify!($field));
                })*
                names
            }
        }
    };
}

parameters! {
    /// Samples in one query; in Offline all samples of the test.
    samples_per_query: u64 = "samples_per_query", "effective_samples_per_query";
    /// Server: queries scheduled per second. Elsewhere the expected rate.
    target_qps: f64 = "target_qps", "effective_target_qps";
    /// Server's latency limit, ns.
    target_latency_ns: u64 = "target_latency (ns)", "effective_target_latency_ns";
    /// The required share of queries under the limit, 0.99.
    target_latency_percentile: f64 = "\0percentile", "effective_target_latency_percentile";
    /// The limit of the time to first token, ns.
    ttft_latency_ns: u64 = "ttft_latency (ns)", "requested_server_ttft_latency";
    /// The limit of the time per output token, ns.
    tpot_latency_ns: u64 = "tpot_latency (ns)", "requested_server_tpot_latency";
    /// Most queries at once; 0 is no limit.
    max_async_queries: u64 = "max_async_queries", "effective_max_async_queries";
    /// Least duration, ms.
    min_duration_ms: u64 = "min_duration (ms)", "effective_min_duration_ms";
    /// Most duration, ms; 0 is no limit.
    max_duration_ms: u64 = "max_duration (ms)", "effective_max_duration_ms";
    /// Least number of queries.
    min_query_count: u64 = "min_query_count", "effective_min_query_count";
    /// Most queries; 0 is no limit.
    max_query_count: u64 = "max_query_count", "effective_max_query_count";
    /// Least number of samples; the summary does not print it.
    min_sample_count: u64 = "\0samples", "effective_min_sample_count";
    /// The seed of the sample library.
    qsl_rng_seed: u64 = "qsl_rng_seed", "effective_qsl_rng_seed";
    /// The seed of the samples' order.
    sample_index_rng_seed: u64 = "sample_index_rng_seed", "effective_sample_index_rng_seed";
    /// The seed of the arrival times.
    schedule_rng_seed: u64 = "schedule_rng_seed", "effective_schedule_rng_seed";
    /// The seed of the samples that are logged for accuracy in performance mode.
    accuracy_log_rng_seed: u64 = "accuracy_log_rng_seed", "effective_accuracy_log_rng_seed";
    /// The share of samples logged for accuracy in performance mode.
    accuracy_log_probability: f64 = "accuracy_log_probability", "effective_accuracy_log_probability";
    /// Number of samples that are logged for accuracy in performance mode.
    accuracy_log_sampling_target: u64 = "accuracy_log_sampling_target", "effective_accuracy_log_sampling_target";
    /// Whether timestamps are printed.
    print_timestamps: bool = "print_timestamps", "effective_print_timestamps";
    /// Compliance: every sample once.
    performance_issue_unique: bool = "performance_issue_unique", "effective_performance_issue_unique";
    /// Compliance: the same sample again and again.
    performance_issue_same: bool = "performance_issue_same", "effective_performance_issue_same";
    /// Compliance: which sample that is.
    performance_issue_same_index: u64 = "performance_issue_same_index", "effective_performance_issue_same_index";
    /// Samples held for performance.
    performance_sample_count: u64 = "performance_sample_count", "effective_performance_sample_count";
    /// Samples of the accuracy set (v6.x).
    accuracy_sample_count: u64 = "accuracy_sample_count", "effective_accuracy_sample_count";
    /// Whether an Offline query is assembled from whole permutations of the samples.
    sample_concatenate_permutation: bool = "sample_concatenate_permutation", "effective_sample_concatenate_permutation";
    /// Whether token latencies are measured.
    use_token_latencies: bool = "use_token_latencies", "requested_use_token_latencies";
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_64_bit_seed_keeps_its_precision() {
        let mut printed = Parameters::default();
        assert_eq!(printed.store_printed("schedule_rng_seed", "18209322760996052031"), Some(true));
        let mut logged = Parameters::default();
        let entry: Value = serde_json::from_str("18209322760996052031").unwrap();
        logged.store_logged("effective_schedule_rng_seed", &entry);
        assert_eq!(printed.schedule_rng_seed, Some(18_209_322_760_996_052_031));
        assert_eq!(printed, logged);
    }

    #[test]
    fn unknown_settings_and_unreadable_values_are_refused() {
        let mut parameters = Parameters::default();
        assert_eq!(parameters.store_printed("colour", "red"), None);
        assert_eq!(parameters.store_printed("target_qps", "fast"), Some(false));
        assert_eq!(parameters, Parameters::default());
    }

    #[test]
    fn printed_settings_differ_only_beyond_their_rounding() {
        let with = |qps: f64, count: u64| {
            let mut parameters = Parameters::default();
            parameters.store_logged("effective_target_qps", &json!(qps));
            parameters.store_logged("effective_min_query_count", &json!(count));
            parameters
        };
        assert!(with(1666.67, 600).names_of_differing(&with(1_666.666_67, 600)).is_empty());
        assert_eq!(
            with(300.0, 600).names_of_differing(&with(400.0, 601)),
            ["target_qps", "min_query_count"]
        );
    }
}
