//! Rules that no excerpt has: evaluation of checkpoints, values that depend on others, reference
//! convergence points; and lines in any order.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

/// Returns a log of few lines: the keys of the rules, with these values, evaluations of checkpoints.
fn stable_diffusion(evaluated: &[(u32, f64, f64)], stop: u64) -> String {
    let line = |key: &str, time: u64, value: &str, metadata: &str| {
        format!(
            ":::MLLOG {{\"time_ms\": {time}, \"key\": \"{key}\", \"value\": {value}, \"metadata\": {{{metadata}}}}}"
        )
    };
    let mut lines =
        vec![line("cache_clear", 1_000, "true", ""), line("init_start", 2_000, "null", "")];
    for (key, value) in [
        ("submission_benchmark", "\"stable_diffusion\""),
        ("submission_division", "\"closed\""),
        ("global_batch_size", "512"),
        ("gradient_accumulation_steps", "1"),
        ("opt_name", "\"adamw\""),
        ("opt_adamw_beta_1", "0.9"),
        ("opt_adamw_beta_2", "0.999"),
        ("opt_adamw_epsilon", "1e-08"),
        ("opt_adamw_weight_decay", "0.01"),
        ("opt_base_learning_rate", "0.1"),
        ("opt_learning_rate_warmup_steps", "0"),
        ("train_samples", "100"),
        ("eval_samples", "100"),
    ] {
        lines.push(line(key, 3_000, value, ""));
    }
    lines.push(line("init_stop", 4_000, "null", ""));
    lines.push(line("run_start", 4_000, "null", ""));
    for (at, (count, fid, clip)) in (1..).zip(evaluated) {
        let metadata = format!("\"samples_count\": {count}");
        lines.push(line("block_start", at * 60_000, "null", &metadata));
        lines.push(line("block_stop", at * 60_000 + 50_000, "null", &metadata));
        for (metric, value) in [("FID", fid), ("CLIP", clip)] {
            let metadata = format!("{metadata}, \"metric\": \"{metric}\"");
            lines.push(line("eval_accuracy", 9_000_000, &value.to_string(), &metadata));
        }
    }
    lines.push(line("run_stop", stop, "null", "\"status\": \"success\""));
    lines.join("\n")
}

#[rstest]
#[case(&[(512_000, 95.0, 0.16), (1_024_000, 88.0, 0.16)], 170_000, Some(1_024_000.0), "")]
#[case(&[(512_000, 89.0, 0.16), (1_024_000, 88.0, 0.16)], 110_000, Some(512_000.0), "")]
#[case(&[(512_000, 95.0, 0.16), (1_024_000, 88.0, 0.14)], 170_000, None, "target: no checkpoint meets it; CLIP at least 0.15")]
#[case(&[(512_000, 89.0, 0.16)], 110_000, Some(512_000.0), "eval_accuracy: 1 checkpoints; at least 2")]
#[case(&[(512_000, 95.0, 0.16), (1_024_000, 88.0, 0.16)], 58_000, Some(1_024_000.0), "clock: run_stop is before the training of its checkpoint")]
#[case(&[(512_000, 95.0, 0.16), (1_024_000, 88.0, 0.16)], 140_000, Some(1_024_000.0), "clock: run_stop is 20 s away")]
fn checkpoints_are_evaluated_later(
    #[case] evaluated: &[(u32, f64, f64)],
    #[case] stop: u64,
    #[case] converged: Option<f64>,
    #[case] expected: &str,
) {
    let rules = rules("v5.0", "stable_diffusion", Division::Closed);
    let read = read(&rules, &[stable_diffusion(evaluated, stop)]);
    let log = &read[0].log;
    assert_eq!(log.converged_after, converged);
    let violated: Vec<String> = log
        .violated
        .iter()
        .map(|check| format!("{}: {}; {}", check.rule, check.measured, check.required))
        .collect();
    if expected.is_empty() {
        assert!(violated.is_empty(), "{violated:?}");
    } else {
        assert!(violated[0].starts_with(expected), "{violated:?}");
    }
}

/// Values that depend on others: of the batch size, in each form that a round has.
#[rstest]
#[case("deepseekv3_671b", "opt_base_learning_rate", "2.4e-5", 16_384, true)]
#[case("deepseekv3_671b", "opt_base_learning_rate", "2.5456e-5", 18_432, true)]
#[case("deepseekv3_671b", "opt_base_learning_rate", "2.4e-5", 18_432, false)]
#[case("llama31_405b", "opt_base_learning_rate", "8e-5", 1_152, true)]
#[case("llama31_405b", "opt_base_learning_rate", "8e-5", 2_304, false)]
#[case("llama31_405b", "opt_learning_rate_decay_steps", "1192000", 1_152, false)]
fn values_can_depend_on_other_values(
    #[case] benchmark: &str,
    #[case] key: &str,
    #[case] value: &str,
    #[case] batch: u32,
    #[case] passes: bool,
) {
    let rules = rules("v6.0", benchmark, Division::Closed);
    let line = |key: &str, value: &str| {
        format!(
            ":::MLLOG {{\"time_ms\": 1, \"key\": \"{key}\", \"value\": {value}, \"metadata\": {{}}}}\n"
        )
    };
    // A schedule that is logged before its warmup cannot be checked.
    let log = line("global_batch_size", &batch.to_string()) + &line(key, value);
    let read = read(&rules, &[log]);
    let violated = read[0].log.violated.iter().any(|check| check.rule == key);
    assert_eq!(!violated, passes, "{:?}", read[0].log.violated);
}

#[test]
fn points_match_the_official_checker() {
    let point = |benchmark: &str, size: u32, samples: f64| {
        let rules = rules("v5.1", benchmark, Division::Closed);
        let reference = rules.reference.unwrap();
        convergence::normalize_convergence(&reference, rules.runs, f64::from(size), &[samples; 10])
    };
    for (benchmark, size, mean, fewest) in [
        ("llama2_70b_lora", 8, 3_178.666_666, 2_960.633_961),
        ("llama2_70b_lora", 12, 3_605.333_333, 3_351.587_413),
        ("llama2_70b_lora", 16, 4_032.0, 3_732.957_371),
        ("llama2_70b_lora", 24, 4_548.571_428, 4_232.980_256),
        ("llama2_70b_lora", 128, 11_264.0, 10_649.842_998),
        ("llama31_8b", 8, 161_109.333_333, 157_919.545_490),
        ("llama31_8b", 24, 169_984.0, 165_862.485_775),
        ("llama31_8b", 48, 202_752.0, 196_405.659_663),
        ("llama31_8b", 112, 311_693.333_333, 298_932.276_947),
    ] {
        let actual = point(benchmark, size, mean).unwrap();
        assert!((actual.reference - mean).abs() < 1e-4, "{actual:?}");
        // The checker's own search ends within 1e-4.
        assert!((actual.fewest - fewest).abs() < 2e-4, "{actual:?}");
    }
    let none = point("llama2_70b_lora", 256, 12_000.0);
    assert_eq!(none, Err(ConvergenceError::NoPoint { size: 256.0 }));
}

proptest! {
    #[test]
    fn a_factor_is_at_least_one(
        samples in prop::collection::vec(1.0_f64..1e6, 3..12),
        size in 1_u32..200,
        points in prop::collection::btree_map(1_u64..128, prop::collection::vec(1.0_f64..1e6, 0..6), 0..5),
    ) {
        let reference = ReferencePoints { points, allowance: 0.0 };
        if let Ok(normal) = convergence::normalize_convergence(&reference, 10, f64::from(size), &samples) {
            prop_assert!(normal.factor >= 1.0 && normal.factor.is_finite());
            prop_assert!(normal.fewest <= normal.reference + 1e-6);
        }
    }

    #[test]
    fn any_lines_are_read(order in prop::collection::vec(0_usize..45, 0..90), at in 0_usize..2000) {
        let lines: Vec<&str> = LOGS[1].lines().collect();
        let shuffled = order.iter().filter_map(|index| lines.get(*index).copied());
        let mut text = shuffled.collect::<Vec<_>>().join("\n");
        if text.is_char_boundary(at) {
            text.truncate(at.max(text.len() / 2));
        }
        let rules = closed();
        let logs = read(&rules, &[text, LOGS[0].to_owned(), LOGS[2].to_owned()]);
        prop_assert!(!check_result(&rules, &logs, Some(f64::NAN)).checks.is_empty());
    }
}
