//! Published logs (excerpts of `examples/training`), and what was changed in copies of them: each
//! change is found, and by its own rule.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

const LOGS: [&str; 3] = [
    include_str!(
        "../../../../examples/training/Example/results/56xEXAMPLE/llama31_405b/result_0.txt"
    ),
    include_str!(
        "../../../../examples/training/Example/results/56xEXAMPLE/llama31_405b/result_1.txt"
    ),
    include_str!(
        "../../../../examples/training/Example/results/56xEXAMPLE/llama31_405b/result_2.txt"
    ),
];

fn rules(round: &str, benchmark: &str, division: Division) -> TrainingRules {
    let mut rounds = rounds().iter();
    let round = rounds.find(|known| known.round == round).unwrap();
    round.rules(benchmark, division).unwrap()
}

fn read(rules: &TrainingRules, logs: &[String]) -> Vec<NamedLog> {
    let read = |text: &String| {
        let mut reader = LogReader::new(rules);
        text.lines().for_each(|line| reader.feed(line));
        reader.finish()
    };
    let named = logs.iter().enumerate().map(|(number, text)| NamedLog {
        name: format!("result_{number}.txt"),
        log: read(text),
    });
    named.collect()
}

/// The rules that these logs violate.
fn violated(rules: &TrainingRules, logs: &[String], scaling: Option<f64>) -> Vec<String> {
    let checked = check(rules, &read(rules, logs), scaling);
    let failed = checked.checks.into_iter().filter(|check| !check.passed);
    failed
        .map(|check| format!("{}: {}; {}", check.rule, check.measured, check.required))
        .collect()
}

fn logs() -> Vec<String> {
    LOGS.map(str::to_owned).to_vec()
}

fn closed() -> TrainingRules {
    rules("v5.1", "llama31_405b", Division::Closed)
}

/// The log with this text in place of that one, in the lines of a key; all lines where it is empty.
fn edited(log: &str, key: &str, from: &str, to: &str) -> String {
    let key = format!("\"key\": \"{key}");
    let mut found = false;
    let lines = log.lines().map(|line| {
        let is_meant = line.contains(&key) && line.contains(from);
        found |= is_meant;
        if is_meant {
            line.replace(from, to)
        } else {
            line.to_owned()
        }
    });
    let lines: Vec<String> = lines.collect();
    assert!(found, "{key} {from}");
    lines.join("\n")
}

#[test]
fn the_published_result_passes() {
    let rules = closed();
    let read = read(&rules, &logs());
    let checked = check(&rules, &read, Some(1.022_556_390_977_443_6));
    let failed: Vec<_> = checked
        .checks
        .iter()
        .filter(|check| !check.passed)
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert!((checked.factor - 1.022_556_390_977_443_6).abs() < 1e-12);
    let converged: Vec<_> = read.iter().map(|one| one.log.converged_after).collect();
    assert_eq!(
        converged,
        [Some(306_432.0), Some(325_584.0), Some(306_432.0)]
    );
    let minutes = read[0].log.minutes.unwrap();
    assert!((minutes - (1_759_769_416_739.0 - 1_759_760_794_219.0) / 60_000.0).abs() < 1e-9);
}

/// One log of three is changed: key, text, other text, what is told.
#[rstest]
#[case::clipped(
    "opt_gradient_clip_norm",
    "\"value\": 1.0",
    "\"value\": 2.0",
    "result_1.txt: opt_gradient_clip_norm: 2; 1"
)]
#[case::unconstrained(
    "opt_end_learning_rate",
    "\"value\": 8e-07",
    "\"value\": 9e-07",
    "result_1.txt: opt_end_learning_rate: 0.0000009, 0.0000008 in the others; the same"
)]
#[case::schedule(
    "opt_learning_rate_decay_steps",
    "\"value\": 1",
    "\"value\": 2",
    "result_1.txt: opt_learning_rate_decay_steps: 2"
)]
#[case::rate(
    "opt_base_learning_rate",
    "\"value\": ",
    "\"value\": 1",
    "result_1.txt: opt_base_learning_rate: 0.00017; 0.00008 × (global_batch_size / 1,152)"
)]
#[case::batch(
    "global_batch_size",
    "1008",
    "1152",
    "result_1.txt: global_batch_size: 1,152, 1,008 in the others"
)]
#[case::benchmark(
    "submission_benchmark",
    "llama31_405b",
    "llama31_8b",
    "result_1.txt: submission_benchmark: llama31_8b, llama31_405b in"
)]
#[case::division(
    "submission_division",
    "closed",
    "open",
    "result_1.txt: submission_division: open, closed in"
)]
#[case::platform(
    "submission_platform",
    "56x",
    "64x",
    "result_1.txt: submission_platform: 64xEXAMPLE, 56xEXAMPLE in"
)]
#[case::submitter(
    "submission_org",
    "Example",
    "Other",
    "result_1.txt: submission_org: Other, Example in"
)]
#[case::key_renamed(
    "eval_samples",
    "eval_samples",
    "eval_sample",
    "result_1.txt: eval_samples: missing; once in each log"
)]
#[case::status(
    "run_stop",
    "\"status\": \"success\"",
    "\"state\": \"success\"",
    "result_1.txt: run_stop: not in its metadata; a status"
)]
#[case::samples(
    "run_stop",
    "\"samples_count\": 325584",
    "\"samples_count\": 306432",
    "result_1.txt: samples_count: 325,584 at the last evaluation, 306,432 at run_stop"
)]
#[case::uncounted(
    "eval_accuracy",
    "samples_count",
    "samples",
    "result_1.txt: eval_accuracy: 5.6"
)]
#[case::not_a_batch(
    "eval_accuracy",
    "\"samples_count\": 325584",
    "\"samples_count\": 325585",
    "result_1.txt: samples_count: 325,585; batches of 1,008"
)]
fn one_log_changed(#[case] key: &str, #[case] from: &str, #[case] to: &str, #[case] told: &str) {
    let mut changed = logs();
    changed[1] = edited(&changed[1], key, from, to);
    let violated = violated(&closed(), &changed, None);
    assert!(
        violated.iter().any(|one| one.starts_with(told)),
        "{violated:#?}"
    );
}

fn only(told: &str, violated: &[String]) {
    assert!(
        violated.iter().any(|one| one.contains(told)),
        "{told}: {violated:#?}"
    );
}

#[test]
fn times_that_were_moved() {
    let mut changed = logs();
    changed[2] = shifted(&changed[2], "run_start", 120_000);
    only(
        "result_2.txt: clock: block_start is",
        &violated(&closed(), &changed, None),
    );
    let mut changed = logs();
    changed[2] = shifted(&changed[2], "run_stop", -120_000);
    only(
        "result_2.txt: clock: run_stop is",
        &violated(&closed(), &changed, None),
    );
    let mut changed = logs();
    changed[2] = shifted(&changed[2], "eval_accuracy", -900_000);
    only(
        "result_2.txt: clock: eval_accuracy is",
        &violated(&closed(), &changed, None),
    );
    let mut changed = logs();
    changed[2] = shifted(&changed[2], "init_stop", 3_600_000);
    let found = violated(&closed(), &changed, None);
    only("result_2.txt: initialization:", &found);
}

/// A log with the times of a key moved by so many milliseconds; all times where it is empty.
fn shifted(log: &str, key: &str, by: i64) -> String {
    let lines = log.lines().map(|line| {
        let (before, rest) = line.split_once("\"time_ms\": ").unwrap();
        let (time, rest) = rest.split_once(',').unwrap();
        let is_meant = key.is_empty() || line.contains(&format!("\"key\": \"{key}\""));
        let time: i64 = time.parse().unwrap();
        let time = if is_meant { time + by } else { time };
        format!("{before}\"time_ms\": {time},{rest}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn targets() {
    let rules = closed();
    let log = &logs()[0];
    let missed = edited(
        log,
        "eval_accuracy",
        "5.5890045166015625",
        "5.6890045166015625",
    );
    let early = edited(
        log,
        "eval_accuracy",
        "5.6470818519592285",
        "5.5470818519592285",
    );
    for (changed, told) in [
        (
            missed,
            "result_0.txt: target: the last eval_accuracy is 5.689; at most 5.6 and above 0",
        ),
        (
            early,
            "result_0.txt: target: eval_accuracy 5.54708 met it at 287,280 already",
        ),
    ] {
        let mut all = logs();
        all[0] = changed;
        let found = violated(&rules, &all, None);
        assert!(found.iter().any(|one| one.starts_with(told)), "{found:#?}");
    }
}

#[test]
fn runs_that_are_missing_or_repeated() {
    let rules = closed();
    let mut all = logs();
    all.truncate(2);
    only("logs: 2; 3 (result_*.txt)", &violated(&rules, &all, None));
    let mut all = logs();
    all[2] = all[0].clone();
    let found = violated(&rules, &all, None);
    only("runs: result_0.txt and result_2.txt are one", &found);
    only("result_2.txt: seed: 3414, as in result_0.txt", &found);
    // The seeds are repeated, the run is another.
    let mut all = logs();
    let seed = all[1]
        .lines()
        .find(|line| line.contains("\"key\": \"seed\""))
        .unwrap();
    let seed = seed
        .split("\"value\": ")
        .nth(1)
        .unwrap()
        .split(',')
        .next()
        .unwrap()
        .to_owned();
    all[1] = edited(&all[1], "seed", &seed, "3414");
    only(
        "result_1.txt: seed: 3414, as in result_0.txt",
        &violated(&rules, &all, None),
    );
    all[1] = edited(&all[1], "seed", "3414", "null");
    only(
        "result_1.txt: seed: not a number",
        &violated(&rules, &all, None),
    );
    // A log of another round.
    let mut all = logs();
    all[1] = shifted(&all[1], "", -200 * 86_400_000);
    only(
        "dates: result_1.txt is 200 days older",
        &violated(&rules, &all, None),
    );
}

#[test]
fn a_run_that_failed_is_the_slowest() {
    let rules = closed();
    let mut all = logs();
    let cut: Vec<&str> = LOGS[1].lines().take(30).collect();
    all[1] = cut.join("\n");
    let read_logs = read(&rules, &all);
    assert_eq!(read_logs[1].log.ending, Ending::Cut);
    assert_eq!(read_logs[1].log.minutes, Some(f64::INFINITY));
    assert!(violated(&rules, &all, None).is_empty());
    all[0] = edited(&all[0], "run_stop", "success", "aborted");
    only(
        "runs that converged: all but result_0.txt, result_1.txt",
        &violated(&rules, &all, None),
    );
    // It was cut in the middle of a line.
    all[1] = format!(
        "{}\n{}",
        all[1],
        &LOGS[1].lines().nth(30).unwrap_or_default()[..40]
    );
    only(
        "result_1.txt: lines: 1 lines cannot be read",
        &violated(&rules, &all, None),
    );
    let mut all = logs();
    all[1] = all[1].replacen("\"event_type\"", "", 1);
    only(
        "result_1.txt: lines: 1 lines cannot be read",
        &violated(&rules, &all, None),
    );
    all[1] = String::new();
    only("result_1.txt: run:", &violated(&rules, &all, None));
}

#[test]
fn convergence_and_its_factor() {
    let rules = closed();
    let all = logs().map_all(|log| {
        let log = log.replace("\"samples_count\": 306432", "\"samples_count\": 206640");
        let log = log.replace("\"samples_count\": 287280", "\"samples_count\": 187488");
        log.replace("\"samples_count\": 325584", "\"samples_count\": 225792")
    });
    only(
        "convergence: 206,640 samples, 313,344 in the reference: faster",
        &violated(&rules, &all, None),
    );
    only(
        "scaling.json: 1; at least 1.02256",
        &violated(&rules, &logs(), Some(1.0)),
    );
    assert!(violated(&rules, &logs(), Some(1.05)).is_empty());
    // Nobody checks the open division's convergence.
    let open = self::rules("v5.1", "llama31_405b", Division::Open);
    let all = all.map_all(|log| {
        let log = edited(&log, "submission_division", "closed", "open");
        log.replace("\"samples_count\"", "\"epoch_num\": 1, \"samples_count\"")
    });
    let checked = check(&open, &read(&open, &all), None);
    let failed: Vec<_> = checked
        .checks
        .iter()
        .filter(|check| !check.passed)
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
}

trait MapAll {
    fn map_all(self, change: impl Fn(String) -> String) -> Self;
}

impl MapAll for Vec<String> {
    fn map_all(self, change: impl Fn(String) -> String) -> Self {
        self.into_iter().map(change).collect()
    }
}

/// A log of few lines: the keys of the rules, with these values, evaluations of checkpoints.
fn stable_diffusion(evaluated: &[(u32, f64, f64)], stop: u64) -> String {
    let line = |key: &str, time: u64, value: &str, metadata: &str| {
        format!(
            ":::MLLOG {{\"time_ms\": {time}, \"key\": \"{key}\", \"value\": {value}, \"metadata\": {{{metadata}}}}}"
        )
    };
    let mut lines = vec![
        line("cache_clear", 1_000, "true", ""),
        line("init_start", 2_000, "null", ""),
    ];
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
            lines.push(line(
                "eval_accuracy",
                9_000_000,
                &value.to_string(),
                &metadata,
            ));
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
    #[case] told: &str,
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
    if told.is_empty() {
        assert!(violated.is_empty(), "{violated:?}");
    } else {
        assert!(violated[0].starts_with(told), "{violated:?}");
    }
}

/// Values that depend on others: of the batch size, in each form that a round has.
#[rstest]
#[case("deepseekv3_671b", "opt_base_learning_rate", "2.4e-5", 16_384, true)]
#[case("deepseekv3_671b", "opt_base_learning_rate", "2.5456e-5", 18_432, true)]
#[case("deepseekv3_671b", "opt_base_learning_rate", "2.4e-5", 18_432, false)]
#[case("llama31_405b", "opt_base_learning_rate", "8e-5", 1_152, true)]
#[case("llama31_405b", "opt_base_learning_rate", "8e-5", 2_304, false)]
#[case(
    "llama31_405b",
    "opt_learning_rate_decay_steps",
    "1192000",
    1_152,
    false
)]
fn values_that_depend_on_others(
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
    // A schedule that is told before its warmup cannot be checked.
    let log = line("global_batch_size", &batch.to_string()) + &line(key, value);
    let read = read(&rules, &[log]);
    let violated = read[0].log.violated.iter().any(|check| check.rule == key);
    assert_eq!(!violated, passes, "{:?}", read[0].log.violated);
}

#[test]
fn points_are_those_of_the_checker() {
    let point = |benchmark: &str, size: u64, samples: f64| {
        let rules = rules("v5.1", benchmark, Division::Closed);
        convergence::normalise(&rules.reference.unwrap(), size, &[samples; 10])
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
        let found = point(benchmark, size, mean).unwrap();
        assert!((found.reference - mean).abs() < 1e-4, "{found:?}");
        // The checker's own search ends within 1e-4.
        assert!((found.fewest - fewest).abs() < 2e-4, "{found:?}");
    }
    let none = point("llama2_70b_lora", 256, 12_000.0);
    assert_eq!(none, Err(ConvergenceError::NoPoint { size: 256 }));
}

proptest! {
    #[test]
    fn a_factor_is_never_below_one(
        samples in prop::collection::vec(1.0_f64..1e6, 3..12),
        size in 1_u64..200,
        points in prop::collection::vec((1_u64..128, prop::collection::vec(1.0_f64..1e6, 0..6)), 0..5),
    ) {
        let reference = ReferencePoints { runs: 10, points, allowance: 0.0 };
        if let Ok(found) = convergence::normalise(&reference, size, &samples) {
            prop_assert!(found.factor >= 1.0 && found.factor.is_finite());
            prop_assert!(found.fewest <= found.reference + 1e-6);
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
        prop_assert!(!check(&rules, &logs, Some(f64::NAN)).checks.is_empty());
    }
}
