//! The lines of a result's files that state what a rule is about, so that a reader can check a verdict in the logs.

use crate::accuracy::AccuracyReader;
use crate::loadgen::detail::{entry_key, is_error_entry};
use crate::loadgen::{DETAIL_FILE, SUMMARY_FILE, figure_name_of_detail_key};

/// The output of the accuracy script.
const ACCURACY_FILE: &str = "accuracy.txt";
/// The outputs of the scripts of compliance tests, each with what a line of its result has.
const TEST_ANSWERS: (&str, &[&str]) =
    ("verify_accuracy.txt", &["TEST FAIL", "TEST PASS", "check pass", "Accuracy score"]);
const TEST_PERFORMANCE: (&str, &[&str]) =
    ("verify_performance.txt", &["TEST FAIL", "TEST PASS", "reference score", "test score"]);
const TEST_LENGTH: (&str, &[&str]) =
    ("verify_output_len.txt", &["TEST FAIL", "TEST PASS", "Mean output tokens"]);

/// The keys of the detail log's entries that state what rules are about, by the names of the rules.
const ENTRIES: [(&[&str], &[&str]); 38] = [
    (&["LoadGen's result", "LoadGen's logs"], &["result_validity", "result_invalid_reason"]),
    (&["LoadGen's errors"], &["num_errors"]),
    (&["LoadGen's version"], &["loadgen_version"]),
    (&["changes of LoadGen's source"], &["loadgen_git_status_message"]),
    (&["scenario"], &["effective_scenario"]),
    (&["mode"], &["effective_test_mode"]),
    (&["qsl_rng_seed"], &["effective_qsl_rng_seed"]),
    (&["sample_index_rng_seed"], &["effective_sample_index_rng_seed"]),
    (&["schedule_rng_seed"], &["effective_schedule_rng_seed"]),
    (&["sample_concatenate_permutation"], &["effective_sample_concatenate_permutation"]),
    (&["performance sample count"], &["effective_performance_sample_count"]),
    (&["accuracy sample count"], &["effective_accuracy_sample_count", "qsl_reported_total_count"]),
    (
        &["early stopping", "early stopping's text", "early stopping estimate"],
        &[
            "early_stopping_met",
            "early_stopping_result",
            "early_stopping_ttft_result",
            "early_stopping_tpot_result",
        ],
    ),
    (&["min_query_count"], &["effective_min_query_count"]),
    (&["samples per query"], &["effective_samples_per_query", "generated_samples_per_query"]),
    (&["target percentile"], &["effective_target_latency_percentile"]),
    (&["latency target"], &["effective_target_latency_ns"]),
    (&["latency, 99th percentile"], &["result_99.00_percentile_latency_ns"]),
    (&["token latencies"], &["requested_use_token_latencies"]),
    (&["time to first token target"], &["requested_server_ttft_latency"]),
    (&["time per output token target"], &["requested_server_tpot_latency"]),
    (
        &["time to first token, 99th percentile"],
        &["result_first_token_99.00_percentile_latency_ns"],
    ),
    (
        &["time per output token, 99th percentile"],
        &["result_time_per_output_token_99.00_percentile_ns"],
    ),
    (&["min_duration"], &["effective_min_duration_ms"]),
    (
        &["duration for min_duration_met"],
        &["result_min_duration_met", "effective_min_duration_ms", "power_begin", "power_end"],
    ),
    (
        &["duration of the run", "duration by power_begin and power_end"],
        &["power_begin", "power_end", "result_max_latency_ns"],
    ),
    (
        &["start of the run by power_begin"],
        &["test_datetime", "generated_query_count", "power_begin"],
    ),
    (
        &["samples/s times the longest latency"],
        &["result_samples_per_second", "result_max_latency_ns", "generated_samples_per_query"],
    ),
    (
        &["completed samples/s", "end of the last query"],
        &[
            "result_completed_samples_per_sec",
            "result_scheduled_samples_per_sec",
            "result_query_count",
        ],
    ),
    (&["scheduled samples/s"], &["result_scheduled_samples_per_sec", "effective_target_qps"]),
    (
        &["tokens per sample by completed tokens/s"],
        &[
            "result_completed_tokens_per_second",
            "result_token_throughput",
            "result_mean_latency_ns",
        ],
    ),
    (
        &["queries/s times the mean latency"],
        &["result_qps_without_loadgen_overhead", "result_mean_latency_ns"],
    ),
    (
        &["queries of the result", "queries above the latency limit"],
        &["generated_query_count", "result_query_count", "result_overlatency_query_count"],
    ),
    (
        &["queries of the result, by its settings"],
        &["effective_min_query_count", "effective_max_query_count", "result_query_count"],
    ),
    (
        &["samples of the result, by its settings"],
        &["effective_min_sample_count", "result_query_count", "generated_samples_per_query"],
    ),
    (
        &["samples of loaded_qsl_set"],
        &["loaded_qsl_set", "effective_performance_sample_count", "qsl_reported_total_count"],
    ),
    (
        &["generated_query_duration"],
        &["generated_query_count", "generated_query_duration", "effective_target_qps"],
    ),
    (&["generated_query_count"], &["generated_query_count", "qsl_reported_total_count"]),
];

/// The names of rules about all statistics of a latency, and what the names of these figures begin with.
const STATISTICS: [([&str; 2], &str); 4] = [
    (["latency percentiles", "mean latency"], "latency_"),
    (["sample latency percentiles", "mean sample latency"], "sample_latency_"),
    (["time to first token percentiles", "mean time to first token"], "ttft_"),
    (["time per output token percentiles", "mean time per output token"], "tpot_"),
];

/// Finds the lines of one file that state what a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleLines<'a> {
    /// The name of the file, next to `LoadGen`'s logs or in the folder of a compliance test.
    pub file: &'static str,
    sought: SoughtLines<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum SoughtLines<'a> {
    /// Entries of the detail log with these keys.
    Entries(&'static [&'static str]),
    /// Entries that report an error.
    Errors,
    /// Entries of figures whose names begin so.
    Statistics(&'static str),
    /// Entries or printed lines of the figure of this name.
    Figure(&'a str),
    /// Lines with one of these texts.
    Texts(&'static [&'static str]),
}

impl<'a> RuleLines<'a> {
    /// Returns what states the subject of a rule; nothing for rules of other files, which name them.
    pub fn of_rule(rule: &'a str) -> Vec<Self> {
        let in_file = |file, sought| Self { file, sought };
        if let Some((_, keys)) = ENTRIES.iter().find(|(rules, _)| rules.contains(&rule)) {
            let mut lines = vec![in_file(DETAIL_FILE, SoughtLines::Entries(keys))];
            match rule {
                "LoadGen's result" => {
                    lines.push(in_file(SUMMARY_FILE, SoughtLines::Texts(&["Result is"])));
                }
                "LoadGen's errors" | "LoadGen's logs" => {
                    lines.push(in_file(DETAIL_FILE, SoughtLines::Errors));
                }
                _ => {}
            }
            return lines;
        }
        if let Some((_, begin)) = STATISTICS.iter().find(|(rules, _)| rules.contains(&rule)) {
            return vec![in_file(DETAIL_FILE, SoughtLines::Statistics(begin))];
        }
        if let Some(("TEST01" | "TEST04" | "TEST06" | "TEST07" | "TEST08" | "TEST09", what)) =
            rule.split_once(' ')
        {
            let outputs: &[(&str, &[&str])] = match what {
                "performance" => &[TEST_PERFORMANCE],
                "score" => &[TEST_ANSWERS, TEST_PERFORMANCE],
                "output length" | "mean output tokens" => &[TEST_LENGTH],
                _ => &[TEST_ANSWERS],
            };
            let outputs = outputs.iter();
            return outputs.map(|(file, texts)| in_file(file, SoughtLines::Texts(texts))).collect();
        }
        if rule.starts_with("accuracy log's hash") || rule.starts_with("hash of") {
            return vec![in_file(ACCURACY_FILE, SoughtLines::Texts(&["hash="]))];
        }
        // `possible ROUGE1`, `ROUGE1 in accuracy.txt`
        let name = rule.strip_prefix("possible ").unwrap_or(rule);
        let name = name.strip_suffix(" in accuracy.txt").unwrap_or(name);
        [DETAIL_FILE, ACCURACY_FILE].map(|file| in_file(file, SoughtLines::Figure(name))).into()
    }

    /// Returns whether a line of the file is one of them.
    pub fn is_match(&self, line: &str) -> bool {
        let figure_name = || figure_name_of_detail_key(entry_key(line)?.as_ref());
        match self.sought {
            SoughtLines::Entries(keys) => {
                entry_key(line).is_some_and(|key| keys.contains(&key.as_ref()))
            }
            SoughtLines::Errors => is_error_entry(line),
            SoughtLines::Statistics(begin) => {
                figure_name().is_some_and(|name| name.starts_with(begin))
            }
            SoughtLines::Figure(name) if self.file == DETAIL_FILE => {
                figure_name().is_some_and(|figure| figure == name)
            }
            SoughtLines::Figure(name) => {
                let mut reader = AccuracyReader::default().with_requested_figures([name]);
                reader.push(line.as_bytes());
                let printed = reader.finish();
                printed.figure(name).is_some() || printed.not_numbers.contains_key(name)
            }
            SoughtLines::Texts(texts) => texts.iter().any(|text| line.contains(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::loadgen::{LoadgenRun, TestScenario, detail::parse_detail_log};
    use crate::rounds::built_in_rounds;

    /// Every rule of a round about a value of the detail log finds the entry that states it.
    #[test]
    fn each_rule_of_a_round_finds_its_entry() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../examples/submission/closed/Example/results/8xEXAMPLE_2xCPU/llama2-70b-99");
        let mut found = 0;
        for scenario in [TestScenario::Offline, TestScenario::Server, TestScenario::Interactive] {
            let log = results.join(scenario.word()).join("performance/run_1").join(DETAIL_FILE);
            let log = std::fs::read_to_string(log).unwrap();
            let detail = Some(parse_detail_log(log.as_bytes()));
            let run = LoadgenRun { summary: None, detail };
            let figure = |name: &str| {
                let figure = run.resolve_figure(name)?;
                Some((figure.value, figure.unit.into_owned()))
            };
            let round = built_in_rounds().get("mlperf-inference", "v6.0").unwrap();
            let rules = round.benchmark_rules("llama2-70b-99", scenario).unwrap();
            for check in rules.check_performance(&run.run_settings(), &figure) {
                let sought = RuleLines::of_rule(&check.rule);
                let states = |line: &str| sought.iter().any(|lines| lines.is_match(line));
                let lines: Vec<&str> = log.lines().filter(|line| states(line)).collect();
                assert!(!lines.is_empty(), "{scenario}: {check}");
                found += 1;
            }
        }
        assert!(found > 30, "{found}");
    }

    #[test]
    fn a_test_is_found_in_the_output_of_its_script() {
        let matches = |rule: &str, line: &str| -> Vec<&str> {
            let lines = RuleLines::of_rule(rule).into_iter();
            lines.filter(|lines| lines.is_match(line)).map(|lines| lines.file).collect()
        };
        assert_eq!(matches("TEST01 answers", "TEST FAIL"), ["verify_accuracy.txt"]);
        assert_eq!(matches("TEST04 performance", "TEST PASS"), ["verify_performance.txt"]);
        assert_eq!(matches("TEST09 output length", "TEST PASS"), ["verify_output_len.txt"]);
        assert_eq!(matches("ROUGE1", "{'rouge1': 44.5, 'rouge2': 22.1}"), [ACCURACY_FILE]);
        assert!(matches("ROUGE2", "{'rouge1': 44.5}").is_empty());
        let error =
            r#":::MLLOG {"key": "error_runtime", "value": "x", "metadata": {"is_error": true}}"#;
        assert_eq!(matches("LoadGen's errors", error), [DETAIL_FILE]);
    }
}
