//! The rules that came with v6.1: disclosures of each log, and when a run is evaluated.

use rstest::rstest;

use super::*;

const DISCLOSURES: [(&str, &str); 9] = [
    ("lowest_numerical_precision_in_linear", "\"mxfp6\""),
    ("lowest_numerical_precision_in_attn", "\"fp8\""),
    ("lowest_numerical_precision_in_comm", "\"bfloat16\""),
    ("tensor_parallelism", "4"),
    ("pipeline_parallelism", "1"),
    ("context_parallelism", "1"),
    ("expert_parallelism", "8"),
    ("micro_batch_size", "1"),
    ("config_filename", "\"config_8x8.sh\""),
];
/// The reference's values of a benchmark that has few.
const HYPERPARAMETERS: [(&str, &str); 10] = [
    ("global_batch_size", "1024"),
    ("gradient_accumulation_steps", "2"),
    ("evaluation_frequency", "262144"),
    ("opt_name", "\"adamw\""),
    ("opt_adamw_beta_1", "0.9"),
    ("opt_adamw_beta_2", "0.95"),
    ("opt_adamw_epsilon", "1e-08"),
    ("opt_adamw_weight_decay", "0.1"),
    ("opt_base_learning_rate", "0.0001"),
    ("opt_learning_rate_warmup_steps", "0"),
];

fn line(key: &str, value: &str, metadata: &str) -> String {
    format!(
        ":::MLLOG {{\"time_ms\": 1000, \"key\": \"{key}\", \"value\": {value}, \"metadata\": {{{metadata}}}}}\n"
    )
}

/// Lines of settings, in this order.
fn settings(all: &[(&str, &str)]) -> String {
    all.iter().map(|(key, value)| line(key, value, "")).collect()
}

/// Evaluations after so many samples each.
fn evaluations(counts: &[u64], value: &str) -> String {
    let lines = counts.iter().map(|count| {
        let metadata = format!("\"samples_count\": {count}");
        line("eval_accuracy", value, &metadata)
    });
    lines.collect()
}

/// Returns the rules that the lines of one log violate.
fn violated_by(benchmark: &str, division: Division, text: String) -> Vec<String> {
    let rules = rules("v6.1", benchmark, division);
    let log = read(&rules, &[text]).remove(0).log;
    let checks = log.violated.into_iter();
    checks.map(|check| format!("{}: {}; {}", check.rule, check.measured, check.required)).collect()
}

/// Returns a whole log of flux1, without some keys.
fn flux1(without: &str, changed: &[(&str, &str)]) -> String {
    let value = |key: &str, usual: &str| {
        let mut changed = changed.iter();
        let found = changed.find(|(other, _)| *other == key);
        found.map_or(usual, |(_, value)| value).to_owned()
    };
    let samples = "\"samples_count\": 262144, \"epoch_count\": 1, \"first_epoch_num\": 0";
    let mut log = line("cache_clear", "true", "") + &line("init_start", "null", "");
    let identity = [
        ("submission_benchmark", "\"flux1\""),
        ("submission_division", "\"closed\""),
        ("submission_org", "\"Example\""),
        ("submission_platform", "\"8xEXAMPLE\""),
        ("train_samples", "1000000"),
        ("eval_samples", "29696"),
        ("opt_gradient_clip_norm", "1.0"),
    ];
    for (key, usual) in DISCLOSURES.iter().chain(&identity).chain(&HYPERPARAMETERS) {
        if *key != without {
            log += &line(key, &value(key, usual), "");
        }
    }
    log += &line("init_stop", "null", "");
    log += &line("run_start", "null", "");
    log += &line("block_start", "null", samples);
    log += &evaluations(&[262_144], "0.58");
    log += &line("block_stop", "null", samples);
    let stop = "\"status\": \"success\", \"samples_count\": 262144";
    log + &line("run_stop", "null", stop).replace("1000,", "61000,")
}

#[test]
fn each_disclosure_is_required_of_each_log() {
    let violated = |without: &str| violated_by("flux1", Division::Closed, flux1(without, &[]));
    assert_eq!(violated(""), [""; 0]);
    for (key, _) in DISCLOSURES {
        assert_eq!(violated(key), [format!("{key}: missing; once in each log")]);
    }
    // v6.0 leaves them to the submitter, and does not know mxfp6.
    let before = rules("v6.0", "flux1", Division::Closed);
    let log = read(&before, &[flux1("config_filename", &[])]).remove(0).log;
    let violated: Vec<String> = log.violated.into_iter().map(|check| check.rule).collect();
    assert_eq!(violated, ["lowest_numerical_precision_in_linear"]);
}

#[rstest]
#[case("tensor_parallelism", "0", "tensor_parallelism: 0; at least 1, a whole number")]
#[case("micro_batch_size", "1.5", "micro_batch_size: 1.5; at least 1, a whole number")]
#[case("config_filename", "\"\"", "config_filename: ; not empty")]
#[case(
    "lowest_numerical_precision_in_comm",
    "\"fp7\"",
    "lowest_numerical_precision_in_comm: fp7; one of fp64"
)]
#[case(
    "evaluation_frequency",
    "262145",
    "evaluation_frequency: 262,145; global_batch_size × ⌈262,144 / global_batch_size⌉"
)]
fn values_of_a_log(#[case] key: &str, #[case] value: &str, #[case] expected: &str) {
    let log = flux1("", &[(key, value)]);
    let violated = violated_by("flux1", Division::Closed, log);
    assert_eq!(violated.len(), 1, "{violated:?}");
    assert!(violated[0].starts_with(expected), "{violated:?}");
}

/// Values that depend on others: each benchmark's first settings in the order of a log.
#[rstest]
#[case("flux1", &[("global_batch_size", "1000"), ("evaluation_frequency", "263000")], "")]
#[case("flux1", &[("global_batch_size", "1000"), ("evaluation_frequency", "262144")], "evaluation_frequency")]
#[case("dlrmv4", &[("global_batch_size", "16384"), ("opt_base_learning_rate", "3e-6")], "")]
#[case("dlrmv4", &[("global_batch_size", "16384"), ("opt_base_learning_rate", "1e-6")], "")]
#[case("dlrmv4", &[("global_batch_size", "16384"), ("opt_base_learning_rate", "3.01e-6")], "opt_base_learning_rate")]
#[case("dlrmv4", &[("opt_base_learning_rate", "2e-6"), ("global_batch_size", "16384")], "opt_base_learning_rate")]
#[case("dlrmv4", &[("global_batch_size", "8192"), ("opt_base_learning_rate", "1e-6"), ("opt_sparse_base_learning_rate", "1e-6")], "")]
#[case("dlrmv4", &[("global_batch_size", "8192"), ("opt_base_learning_rate", "1e-6"), ("opt_sparse_base_learning_rate", "1.1e-6")], "opt_sparse_base_learning_rate")]
#[case("qwen35_397b_grpo", &[("global_batch_size", "512"), ("opt_base_learning_rate", "1.4142135624e-06"), ("opt_gradient_clip_norm", "0.08838834765")], "")]
#[case("qwen35_397b_grpo", &[("global_batch_size", "512"), ("opt_gradient_clip_norm", "0.125")], "opt_gradient_clip_norm")]
#[case("qwen35_397b_grpo", &[("global_batch_size", "512"), ("num_prompts_per_step", "32"), ("num_generations_per_prompt", "16")], "")]
#[case("qwen35_397b_grpo", &[("global_batch_size", "512"), ("num_prompts_per_step", "16"), ("num_generations_per_prompt", "16")], "num_generations_per_prompt")]
#[case("qwen35_397b_grpo", &[("global_batch_size", "512"), ("num_prompts_per_step", "64"), ("num_generations_per_prompt", "8")], "num_generations_per_prompt")]
fn values_depend_on_those_before_them(
    #[case] benchmark: &str,
    #[case] values: &[(&str, &str)],
    #[case] wrong: &str,
) {
    let violated = violated_by(benchmark, Division::Closed, settings(values));
    let is_of = |key: &str| violated.iter().any(|check| check.starts_with(&format!("{key}: ")));
    for (key, _) in values {
        assert_eq!(is_of(key), *key == wrong, "{key}: {violated:?}");
    }
}

/// The counts of evaluations, and the rule that they violate.
#[rstest]
// 16,384 × ⌊42 + 24,576 / 16,384⌋
#[case("deepseekv3_671b", "16384", "3.7", &[704_512, 720_896], "")]
#[case("deepseekv3_671b", "16384", "3.7", &[720_896], "first evaluation: after 720,896 samples; after 704,512")]
#[case("deepseekv3_671b", "16384", "3.7", &[688_128, 704_512], "first evaluation")]
// The multiples of 2,293,760 from (4,480 × batch + 135,331,840) / 3 on: blocks 25, 31 and 41.
#[case("dlrmv4", "8192", "0.7", &[57_344_000, 59_637_760, 66_519_040], "")]
#[case("dlrmv4", "16384", "0.7", &[71_106_560, 73_400_320], "")]
#[case("dlrmv4", "32768", "0.7", &[94_044_160], "")]
#[case("dlrmv4", "8192", "0.7", &[59_637_760], "first evaluation: after 59,637,760 samples; after 57,344,000")]
#[case("dlrmv4", "8192", "0.7", &[57_344_000, 57_352_192], "evaluations: after 57,352,192 samples; every 2,293,760 samples")]
#[case("dlrmv4", "8192", "1.1", &[57_344_000], "eval_accuracy: 1.1; at least 0 and at most 1")]
// 512 × ⌈2.5 + 3,840 / 512⌉, and after each batch from then on.
#[case("qwen35_397b_grpo", "512", "0.6", &[5_120, 5_632, 6_144], "")]
#[case("qwen35_397b_grpo", "512", "0.6", &[5_632, 6_144], "first evaluation: after 5,632 samples; after 5,120")]
#[case("qwen35_397b_grpo", "512", "0.6", &[5_120, 6_144], "evaluations: after 6,144 samples; after 5,632, 512 later")]
#[case("qwen35_397b_grpo", "512", "0.6", &[5_120, 5_120], "evaluations: after 5,120 samples")]
// Other benchmarks are evaluated at any time.
#[case("llama31_8b", "512", "3.5", &[1_024, 5_120], "")]
fn evaluations_follow_the_schedule(
    #[case] benchmark: &str,
    #[case] batch: &str,
    #[case] value: &str,
    #[case] counts: &[u64],
    #[case] wrong: &str,
) {
    let log = settings(&[("global_batch_size", batch)]) + &evaluations(counts, value);
    let violated = violated_by(benchmark, Division::Closed, log.clone());
    let names = ["first evaluation", "evaluations", "eval_accuracy"];
    let is_of = |check: &&String| names.iter().any(|name| check.starts_with(&format!("{name}: ")));
    let of_schedule: Vec<&String> = violated.iter().filter(is_of).collect();
    match of_schedule[..] {
        [] => assert_eq!(wrong, "", "{violated:?}"),
        [check] => assert!(!wrong.is_empty() && check.starts_with(wrong), "{check}"),
        _ => panic!("{of_schedule:?}"),
    }
    // The open division is evaluated when it likes, with values of the same range.
    let open = violated_by(benchmark, Division::Open, log);
    assert!(!open.iter().any(|check| check.contains("evaluation")), "{open:?}");
}

#[test]
fn an_evaluation_before_the_batch_size_is_reported() {
    let log = evaluations(&[57_344_000], "0.7") + &settings(&[("global_batch_size", "8192")]);
    let violated = violated_by("dlrmv4", Division::Closed, log);
    let expected = "evaluations: before global_batch_size; after it";
    assert!(violated.iter().any(|check| check == expected), "{violated:?}");
}

/// Means and least means of `mlperf-logging` 4.1.68, `rcp_checker.py` with the rules of 6.1.0.
#[rstest]
#[case("dlrmv4", 8_192, 69_067_662.222_222, 66_297_354.444_010)]
#[case("dlrmv4", 12_288, 76_373_712.592_593, 73_233_022.203_374)]
#[case("dlrmv4", 32_768, 112_903_964.444_444, 107_555_508.726_262)]
#[case("qwen35_397b_grpo", 384, 4_864.0, 4_864.0)]
#[case("qwen35_397b_grpo", 1_024, 7_168.0, 7_168.0)]
#[case("deepseekv3_671b", 15_360, 725_760.0, 685_345.684_864)]
fn reference_points_match_the_official_checker(
    #[case] benchmark: &str,
    #[case] batch: u32,
    #[case] mean: f64,
    #[case] fewest: f64,
) {
    let rules = rules("v6.1", benchmark, Division::Closed);
    let samples = [mean; 10];
    let reference = rules.reference.unwrap();
    let actual =
        convergence::normalize_convergence(&reference, rules.runs, f64::from(batch), &samples)
            .unwrap();
    assert!((actual.reference - mean).abs() < 1e-4, "{actual:?}");
    // The checker's own search ends within 1e-4.
    assert!((actual.fewest - fewest).abs() < 2e-4, "{actual:?}");
}

#[test]
fn benchmarks_come_and_go() {
    let mut all = built_in_training_rounds().iter();
    let round = all.find(|round| round.round == "v6.1").unwrap();
    let names: Vec<&str> = round.benchmark_names().collect();
    assert_eq!(
        names,
        [
            "deepseekv3_671b",
            "dlrmv4",
            "flux1",
            "gpt_oss_20b",
            "llama2_70b_lora",
            "llama31_8b",
            "qwen35_397b_grpo"
        ]
    );
}
