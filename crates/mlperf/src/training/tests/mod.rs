//! Published logs (excerpts of `examples/training`), and changed copies of them: each
//! change is found, by its own rule.

use rstest::rstest;

use super::*;
use crate::Division;
use crate::check::StatingLines;

mod v6_1;
mod values;

const LOGS: [&str; 3] = [
    include_str!(
        "../../../../../examples/training/Example/results/56xEXAMPLE/llama31_405b/result_0.txt"
    ),
    include_str!(
        "../../../../../examples/training/Example/results/56xEXAMPLE/llama31_405b/result_1.txt"
    ),
    include_str!(
        "../../../../../examples/training/Example/results/56xEXAMPLE/llama31_405b/result_2.txt"
    ),
];

fn rules(round: &str, benchmark: &str, division: Division) -> TrainingRules {
    let mut rounds = built_in_training_rounds().iter();
    let round = rounds.find(|candidate| candidate.round == round).unwrap();
    round.benchmark_rules(benchmark, division).unwrap()
}

fn read(rules: &TrainingRules, logs: &[String]) -> Vec<NamedLog> {
    let read = |text: &String| {
        let mut reader = LogReader::new(rules, "result_0.txt");
        text.lines().for_each(|line| reader.feed_line(line));
        reader.finish()
    };
    let named = logs
        .iter()
        .enumerate()
        .map(|(number, text)| NamedLog { name: format!("result_{number}.txt"), log: read(text) });
    named.collect()
}

fn violated(rules: &TrainingRules, logs: &[String], scaling: Option<f64>) -> Vec<String> {
    let checked = check_result(rules, &read(rules, logs), scaling);
    let failed = checked.checks.into_iter().filter(|check| !check.passed);
    failed.map(|check| format!("{}: {}; {}", check.rule, check.measured, check.required)).collect()
}

fn logs() -> Vec<String> {
    LOGS.map(str::to_owned).to_vec()
}

fn closed() -> TrainingRules {
    rules("v5.1", "llama31_405b", Division::Closed)
}

/// Replaces a text of a log, in the lines of a key; in all lines where the key is empty.
fn edited(log: &str, key: &str, from: &str, to: &str) -> String {
    let key = format!("\"key\": \"{key}");
    let mut found = false;
    let lines = log.lines().map(|line| {
        let matches = line.contains(&key) && line.contains(from);
        found |= matches;
        if matches { line.replace(from, to) } else { line.to_owned() }
    });
    let lines: Vec<String> = lines.collect();
    assert!(found, "{key} {from}");
    lines.join("\n")
}

#[test]
fn the_published_result_passes() {
    let rules = closed();
    let read = read(&rules, &logs());
    let checked = check_result(&rules, &read, Some(1.022_556_390_977_443_6));
    let failed: Vec<_> = checked.checks.iter().filter(|check| !check.passed).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert!((checked.factor - 1.022_556_390_977_443_6).abs() < 1e-12);
    let converged: Vec<_> = read.iter().map(|log| log.log.converged_after).collect();
    assert_eq!(converged, [Some(306_432.0), Some(325_584.0), Some(306_432.0)]);
    let minutes = read[0].log.minutes.unwrap();
    assert!((minutes - (1_759_769_416_739.0 - 1_759_760_794_219.0) / 60_000.0).abs() < 1e-9);
}

/// Changes one log of three: key, text, its replacement, the expected violation.
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
#[case::uncounted("eval_accuracy", "samples_count", "samples", "result_1.txt: eval_accuracy: 5.6")]
#[case::not_a_batch(
    "eval_accuracy",
    "\"samples_count\": 325584",
    "\"samples_count\": 325585",
    "result_1.txt: samples_count: 325,585; batches of 1,008"
)]
fn one_edited_log_is_reported(
    #[case] key: &str,
    #[case] from: &str,
    #[case] to: &str,
    #[case] expected: &str,
) {
    let mut changed = logs();
    changed[1] = edited(&changed[1], key, from, to);
    let violated = violated(&closed(), &changed, None);
    assert!(violated.iter().any(|check| check.starts_with(expected)), "{violated:#?}");
}

fn only(expected: &str, violated: &[String]) {
    assert!(violated.iter().any(|check| check.contains(expected)), "{expected}: {violated:#?}");
}

#[test]
fn shifted_times_are_reported() {
    let mut changed = logs();
    changed[2] = shifted(&changed[2], "run_start", 120_000);
    only("result_2.txt: clock: block_start is", &violated(&closed(), &changed, None));
    let mut changed = logs();
    changed[2] = shifted(&changed[2], "run_stop", -120_000);
    only("result_2.txt: clock: run_stop is", &violated(&closed(), &changed, None));
    let mut changed = logs();
    changed[2] = shifted(&changed[2], "eval_accuracy", -900_000);
    only("result_2.txt: clock: eval_accuracy is", &violated(&closed(), &changed, None));
    let mut changed = logs();
    changed[2] = shifted(&changed[2], "init_stop", 3_600_000);
    let violations = violated(&closed(), &changed, None);
    only("result_2.txt: initialization:", &violations);
}

/// Returns a log with the times of a key moved by so many milliseconds; all times where it is empty.
fn shifted(log: &str, key: &str, by: i64) -> String {
    let lines = log.lines().map(|line| {
        let (before, rest) = line.split_once("\"time_ms\": ").unwrap();
        let (time, rest) = rest.split_once(',').unwrap();
        let matches = key.is_empty() || line.contains(&format!("\"key\": \"{key}\""));
        let time: i64 = time.parse().unwrap();
        let time = if matches { time + by } else { time };
        format!("{before}\"time_ms\": {time},{rest}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_run_stops_where_its_target_is_met() {
    let rules = closed();
    let log = &logs()[0];
    let missed = edited(log, "eval_accuracy", "5.5890045166015625", "5.6890045166015625");
    let early = edited(log, "eval_accuracy", "5.6470818519592285", "5.5470818519592285");
    for (changed, expected) in [
        (missed, "result_0.txt: target: the last eval_accuracy is 5.689; at most 5.6 and above 0"),
        (early, "result_0.txt: target: eval_accuracy 5.54708 met it at 287,280 already"),
    ] {
        let mut all = logs();
        all[0] = changed;
        let violations = violated(&rules, &all, None);
        assert!(violations.iter().any(|check| check.starts_with(expected)), "{violations:#?}");
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
    let violations = violated(&rules, &all, None);
    only("runs: result_0.txt and result_2.txt are the same run", &violations);
    only("result_2.txt: seed: 3414, as in result_0.txt", &violations);
    // The seeds are repeated, the run is another.
    let mut all = logs();
    let seed = all[1].lines().find(|line| line.contains("\"key\": \"seed\"")).unwrap();
    let seed = seed.split("\"value\": ").nth(1).unwrap().split(',').next().unwrap().to_owned();
    all[1] = edited(&all[1], "seed", &seed, "3414");
    only("result_1.txt: seed: 3414, as in result_0.txt", &violated(&rules, &all, None));
    all[1] = edited(&all[1], "seed", "3414", "null");
    only("result_1.txt: seed: not a number", &violated(&rules, &all, None));
    // A log of another round.
    let mut all = logs();
    all[1] = shifted(&all[1], "", -200 * 86_400_000);
    only("dates: result_1.txt is 200 days older", &violated(&rules, &all, None));
}

/// The numbers of the lines that state the only violated rule, with their files.
fn stated_in(rules: &TrainingRules, logs: &[String], rule: &str) -> Vec<(String, u64)> {
    let checked = check_result(rules, &read(rules, logs), None);
    let check = checked.checks.into_iter().find(|check| !check.passed && check.rule == rule);
    let lines = check.unwrap().stated_in.into_iter().map(|lines| match lines {
        StatingLines::Line { file, number } => (file.into_owned(), number),
        other => panic!("{other:?}"),
    });
    lines.collect()
}

fn line_of(log: &str, key: &str) -> u64 {
    let key = format!("\"key\": \"{key}\"");
    log.lines().position(|line| line.contains(&key)).unwrap() as u64 + 1
}

#[test]
fn rules_across_logs_name_the_line_of_each() {
    let rules = closed();
    let both = |line: u64| [("result_0.txt".to_owned(), line), ("result_2.txt".to_owned(), line)];
    let mut all = logs();
    all[2] = all[0].clone();
    assert_eq!(stated_in(&rules, &all, "runs"), both(line_of(&all[0], "run_start")));
    let [first, second] = both(line_of(&all[0], "seed"));
    assert_eq!(stated_in(&rules, &all, "result_2.txt: seed"), [second, first]);
    // What is missing is missing up to the last line.
    let without = |log: &str, key: &str| {
        let key = format!("\"key\": \"{key}\"");
        let lines = log.lines().filter(|line| !line.contains(&key));
        lines.collect::<Vec<_>>().join("\n")
    };
    for key in ["seed", "submission_org"] {
        let mut all = logs();
        all[1] = without(&all[1], key);
        let last = line_of(&all[1], "run_stop");
        let rule = format!("result_1.txt: {key}");
        let lines = stated_in(&rules, &all, &rule);
        // The tests read each log under the name of the first.
        assert!(lines.iter().all(|(_, line)| *line == last) && lines.len() == 1, "{lines:?}");
    }
    let mut all = logs();
    all[1] = edited(&all[1], "opt_end_learning_rate", "8e-07", "9e-07");
    assert_eq!(stated_in(&rules, &all, "result_1.txt: opt_end_learning_rate").len(), 2);
}

/// Whatever stood in a line that cannot be read, it is one violation: that of the line.
#[test]
fn a_damaged_line_is_one_violation() {
    let rules = closed();
    for (number, line) in LOGS[0].lines().enumerate() {
        let mut all = logs();
        let cut = line.strip_suffix("}}").unwrap();
        all[0] = all[0].replacen(line, cut, 1);
        let violations = violated(&rules, &all, None);
        assert_eq!(violations.len(), 1, "line {}: {violations:#?}", number + 1);
        only("result_0.txt: lines: 1 line cannot be read", &violations);
    }
    // A value that its own line states is still checked.
    let mut all = logs();
    let damaged = all[0].replacen("\"key\": \"seed\"", "", 1);
    all[0] = edited(&damaged, "opt_gradient_clip_norm", "\"value\": 1.0", "\"value\": 2.0");
    let violations = violated(&rules, &all, None);
    only("result_0.txt: opt_gradient_clip_norm: 2; 1", &violations);
    assert_eq!(violations.len(), 2, "{violations:#?}");
}

#[test]
fn a_failed_run_is_ranked_slowest() {
    let rules = closed();
    let mut all = logs();
    let cut: Vec<&str> = LOGS[1].lines().take(30).collect();
    all[1] = cut.join("\n");
    let read_logs = read(&rules, &all);
    assert_eq!(read_logs[1].log.ending, LogEnding::Truncated);
    assert_eq!(read_logs[1].log.minutes, Some(f64::INFINITY));
    assert!(violated(&rules, &all, None).is_empty());
    all[0] = edited(&all[0], "run_stop", "success", "aborted");
    only("runs that converged: all but result_0.txt, result_1.txt", &violated(&rules, &all, None));
    // It is truncated in the middle of a line.
    all[1] = format!("{}\n{}", all[1], &LOGS[1].lines().nth(30).unwrap_or_default()[..40]);
    only("result_1.txt: lines: 1 line cannot be read", &violated(&rules, &all, None));
    let mut all = logs();
    all[1] = all[1].replacen("\"event_type\"", "", 1);
    only("result_1.txt: lines: 1 line cannot be read", &violated(&rules, &all, None));
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
    only("scaling.json: 1; at least 1.02256", &violated(&rules, &logs(), Some(1.0)));
    assert!(violated(&rules, &logs(), Some(1.05)).is_empty());
    // Nobody checks the open division's convergence.
    let open = self::rules("v5.1", "llama31_405b", Division::Open);
    let all = all.map_all(|log| {
        let log = edited(&log, "submission_division", "closed", "open");
        log.replace("\"samples_count\"", "\"epoch_num\": 1, \"samples_count\"")
    });
    let checked = check_result(&open, &read(&open, &all), None);
    let failed: Vec<_> = checked.checks.iter().filter(|check| !check.passed).collect();
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
