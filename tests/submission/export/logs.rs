//! LoadGen's logs of Llama 2 70B with the settings of a round, small: what a checker reads, and no more.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "times and counts of logs that nobody measured"
)]

use std::fmt::Write as _;

/// A round's three seeds.
pub struct Seeds(pub u64, pub u64, pub u64);

pub const V6_0: Seeds =
    Seeds(2_465_351_861_681_999_779, 14_276_810_075_590_677_512, 3_936_089_224_930_324_775);
pub const V5_1: Seeds =
    Seeds(1_780_908_523_862_526_354, 14_771_362_308_971_278_857, 18_209_322_760_996_052_031);

/// The time so many milliseconds after 12:00:00, as a detail log has it.
fn clock(milliseconds: u64) -> String {
    let (minutes, rest) = (milliseconds / 60_000, milliseconds % 60_000);
    let (hour, minute) = (12 + minutes / 60, minutes % 60);
    let (second, fraction) = (rest / 1000, rest % 1000);
    format!("\"11-21-2026 {hour}:{minute:02}:{second:02}.{fraction:03}\"")
}

/// One LoadGen run.
pub struct Run {
    pub scenario: &'static str,
    pub accuracy: bool,
    pub tokens_per_second: f64,
    pub valid: bool,
    pub seeds: Seeds,
}

impl Run {
    /// Enough whole passes through the data set for ten minutes.
    fn samples(&self) -> u64 {
        let passes = (600.0 * self.tokens_per_second / 290.0 / 24576.0).ceil();
        passes as u64 * 24576
    }

    /// How long the run took, seconds.
    fn duration(&self) -> f64 {
        self.samples() as f64 * 290.0 / self.tokens_per_second
    }

    /// The longest latency, ns: in Offline, of the last sample.
    fn longest(&self) -> u64 {
        let seconds = if self.scenario == "Offline" { self.duration() } else { 5.0 };
        (seconds * 1e9) as u64
    }

    /// When it begins after 12:00:00, ms: no two runs begin in the same millisecond.
    fn offset_ms(&self) -> u64 {
        self.tokens_per_second as u64 % 1000
    }

    fn end(&self) -> String {
        clock(self.offset_ms() + (self.duration() * 1e3) as u64)
    }

    pub fn detail(&self, started: &str) -> String {
        let mut text = String::new();
        let mode = if self.accuracy { "AccuracyOnly" } else { "PerformanceOnly" };
        let offline = self.scenario == "Offline";
        let Seeds(qsl, sample, schedule) = &self.seeds;
        for (key, value) in [
            ("loadgen_version", "\"5.1.0 @ d6147c7eb7\"".to_owned()),
            ("test_datetime", format!("\"{started}\"")),
            ("sut_name", "\"PySUT\"".to_owned()),
            ("qsl_reported_total_count", "24576".to_owned()),
            ("qsl_reported_performance_count", "24576".to_owned()),
            ("requested_use_token_latencies", "true".to_owned()),
            ("requested_server_ttft_latency", "2000000000".to_owned()),
            ("requested_server_tpot_latency", "200000000".to_owned()),
            ("effective_scenario", format!("\"{}\"", self.scenario)),
            ("effective_test_mode", format!("\"{mode}\"")),
            ("effective_samples_per_query", if offline { self.samples() } else { 1 }.to_string()),
            ("effective_target_qps", (self.tokens_per_second / 290.0).to_string()),
            ("effective_target_latency_ns", "0".to_owned()),
            ("effective_target_latency_percentile", "0.99".to_owned()),
            ("effective_min_duration_ms", "600000".to_owned()),
            ("effective_max_duration_ms", "0".to_owned()),
            ("effective_min_query_count", if offline { "1" } else { "100" }.to_owned()),
            ("effective_max_query_count", "0".to_owned()),
            ("effective_min_sample_count", "24576".to_owned()),
            ("effective_qsl_rng_seed", qsl.to_string()),
            ("effective_sample_index_rng_seed", sample.to_string()),
            ("effective_schedule_rng_seed", schedule.to_string()),
            ("effective_performance_sample_count", "24576".to_owned()),
            ("effective_accuracy_sample_count", "24576".to_owned()),
            ("effective_sample_concatenate_permutation", "true".to_owned()),
            ("power_begin", clock(self.offset_ms())),
            ("power_end", self.end()),
        ] {
            log(&mut text, key, &value);
        }
        if !self.accuracy {
            self.results(&mut text);
        }
        text
    }

    fn results(&self, text: &mut String) {
        let offline = self.scenario == "Offline";
        let validity = if self.valid { "\"VALID\"" } else { "\"INVALID\"" };
        let rate = self.tokens_per_second;
        let (tokens, samples) = if offline {
            ("result_tokens_per_second", "result_samples_per_second")
        } else {
            ("result_completed_tokens_per_second", "result_completed_samples_per_sec")
        };
        for (key, value) in [
            ("result_validity", validity.to_owned()),
            ("result_perf_constraints_met", "true".to_owned()),
            ("result_min_duration_met", self.valid.to_string()),
            ("result_min_queries_met", "true".to_owned()),
            ("early_stopping_met", "true".to_owned()),
            (tokens, rate.to_string()),
            (samples, (rate / 290.0).to_string()),
            ("result_scheduled_samples_per_sec", (rate / 290.0 * 1.0002).to_string()),
            ("result_query_count", self.samples().to_string()),
            ("result_50.00_percentile_latency_ns", "500000000".to_owned()),
            ("result_90.00_percentile_latency_ns", "600000000".to_owned()),
            ("result_95.00_percentile_latency_ns", "600000000".to_owned()),
            ("result_97.00_percentile_latency_ns", "600000000".to_owned()),
            ("result_99.00_percentile_latency_ns", "600000000".to_owned()),
            ("result_99.90_percentile_latency_ns", "600000000".to_owned()),
            ("result_first_token_99.00_percentile_latency_ns", "300000000".to_owned()),
            ("result_time_per_output_token_99.00_percentile_ns", "30000000".to_owned()),
            ("result_mean_latency_ns", "500000000".to_owned()),
            ("result_min_latency_ns", "400000000".to_owned()),
            ("result_max_latency_ns", self.longest().to_string()),
            ("num_errors", "0".to_owned()),
        ] {
            if offline && (key.contains("query_count") || key.contains("scheduled")) {
                continue;
            }
            log(text, key, &value);
        }
    }

    pub fn summary(&self) -> String {
        let end = "\nNo warnings encountered during test.\n\nNo errors encountered during test.\n";
        if self.accuracy {
            return end.to_owned();
        }
        let line = "=".repeat(48);
        let rate = self.tokens_per_second;
        let samples = rate / 290.0;
        let figures = if self.scenario == "Offline" {
            format!("Samples per second: {samples}\nTokens per second: {rate}\n")
        } else {
            format!(
                "Completed samples per second    : {samples:.2}\nCompleted tokens per second: {rate}\n"
            )
        };
        let (word, satisfied) = if self.valid { ("VALID", "Yes") } else { ("INVALID", "NO") };
        format!(
            "{line}\nMLPerf Results Summary\n{line}\nSUT name : PySUT\nScenario : {}\nMode     : PerformanceOnly\n\
             {figures}Result is : {word}\n  Min duration satisfied : {satisfied}\n  Min queries satisfied : Yes\n  \
             Early stopping satisfied: Yes\n{end}",
            self.scenario
        )
    }

    /// As the reference's script writes it, for the targets of llama2-70b-99.
    pub fn accuracy_text() -> &'static str {
        "\nResults\n\n{'rouge1': 44.45, 'rouge2': 22.09, 'rougeL': 28.86, 'rougeLsum': 42.0, 'gen_len': 27279507, \
         'gen_num': 24576, 'gen_tok_len': 6952673, 'tokens_per_sample': 290.9}\n"
    }

    /// Larger than a submission may have it.
    pub fn answers() -> String {
        let answer = |index: usize| {
            format!(
                "{{ \"seq_id\" : {index}, \"qsl_idx\" : {index}, \"data\" : \"1F09000001000000\", \"token_count\" : 2 }}"
            )
        };
        let all: Vec<String> = (0..400).map(answer).collect();
        format!("[\n{}\n]\n", all.join(",\n"))
    }
}

fn log(text: &mut String, key: &str, value: &str) {
    let _ = writeln!(
        text,
        ":::MLLOG {{\"key\": \"{key}\", \"value\": {value}, \"time_ms\": 1.0, \"namespace\": \
         \"mlperf::logging\", \"event_type\": \"POINT_IN_TIME\", \"metadata\": {{\"is_error\": false, \
         \"is_warning\": false, \"file\": \"loadgen.cc\", \"line_no\": 1, \"pid\": 1, \"tid\": 1}}}}"
    );
}
