//! Figures that are not LoadGen's, from a real container: JSON, CSV, tables, training logs.

use serde_json::Value;

use crate::lab::{Lab, recipe_with};

/// A case with its own keys, indented below its mode.
fn with_keys(commands: &str, keys: &str) -> String {
    let indented = |text: &str, by: usize| -> String {
        let lines = text.lines();
        lines.map(|line| " ".repeat(by) + line + "\n").collect()
    };
    format!(
        "  main:\n    performance:\n      run: |\n{}{}",
        indented(commands, 8),
        indented(keys, 6)
    )
}

fn lab(commands: &str, keys: &str) -> Lab {
    let text = recipe_with("", &with_keys(commands, keys));
    Lab::new().recipe(&text)
}

fn figures(lab: &Lab) -> Value {
    lab.verdict()["results"][0]["figures"].clone()
}

#[test]
#[ignore = "needs the lab"]
fn from_json_and_csv_files_and_the_output() {
    let commands = r#"mkdir -p /out
printf '\xef\xbb\xbf{"scores": {"rouge1": 44.5, "lost": NaN}}' >/out/scores.json
printf 'dtype,n,TFLOP/s\nbf16,8192,"1,008.5"\nfp16,8192,990\n' >/out/gemm.csv
printf '{"step": 1, "loss": 2.5}\n{"step": 2, "loss": 1.5}\n'
echo 'median 2.5 ms of 3 runs'
printf 'Offline\n  7 items/s\nServer\n  8 items/s\n'
"#;
    let keys = "results: /out
figures:
  rouge1: { json: scores.rouge1, file: scores.json }
  tflops: { csv: { column: TFLOP/s, where: { dtype: bf16 } }, file: '*.csv', unit: TFLOP/s }
  gemm: { csv: TFLOP/s, by: [dtype, n], file: gemm.csv, unit: TFLOP/s, noise: 1% }
  loss: { json: $.loss, take: min, better: lower }
  median: { pattern: 'median (?<value>[0-9.]+) (?<unit>\\w+)', unit: µs, better: lower }
  offline: { pattern: '^ +(\\d+) items/s', below: ^Offline, unit: items/s }
expect:
  gemm: { kind: official, source: here, values: { bf16 8192: 1000, fp16 8192: 985 } }";
    let lab = lab(commands, keys);
    lab.run(&["--verbose"]).expect_exit(0).prints("gemm[bf16 8192]");
    let measured = figures(&lab);
    for (name, value) in [
        ("rouge1", 44.5),
        ("tflops", 1008.5),
        ("gemm[bf16 8192]", 1008.5),
        ("gemm[fp16 8192]", 990.0),
        ("loss", 1.5),
        ("median", 2500.0),
        ("offline", 7.0),
    ] {
        assert!(
            (measured[name]["value"].as_f64().unwrap() - value).abs() < 1e-6,
            "{name}: {measured}"
        );
    }
    // The run's own verdict again, from its files.
    let verdict = lab.text("verdict.json");
    lab.retrial(&["judge", &lab.id()]).expect_exit(0);
    assert_eq!(lab.text("verdict.json"), verdict);
}

#[test]
#[ignore = "needs the lab"]
fn color_escapes_are_not_part_of_figures() {
    let commands = r#"mkdir -p /out
printf 'speed: \033[1;32m42.5\033[0m\n'
printf '\033[1mbf16 8192\033[0m took \033[33m2.00\033[0m ms\n'
printf '\033[1m{"loss":\033[0m \033[31m1.5\033[0m}\n'
printf '\033[1mdtype\033[0m,n\nbf16,\033[32m7\033[0m\n' >/out/table.csv
"#;
    let keys = "results: /out
figures:
  speed: { pattern: 'speed: ([0-9.]+)' }
  gemm: { pattern: '^(?<shape>\\w+ \\d+) took (?<value>[0-9.]+)', by: [shape], unit: ms, better: lower, noise: 1% }
  loss: { json: $.loss, better: lower }
  n: { csv: { column: n, where: { dtype: bf16 } }, file: table.csv }
expect:
  gemm: { kind: official, source: here, values: { bf16 8192: 2 } }";
    let lab = lab(commands, keys);
    lab.run(&[]).expect_exit(0);
    let measured = figures(&lab);
    for (name, value) in [("speed", 42.5), ("gemm[bf16 8192]", 2.0), ("loss", 1.5), ("n", 7.0)] {
        assert_eq!(measured[name]["value"], value, "{measured}");
    }
    let logs = |options: &[&str]| lab.retrial(&[&["logs", "last"], options].concat());
    logs(&[]).expect_exit(0).prints("speed: 42.5\n");
    logs(&["--raw"]).expect_exit(0).prints("speed: \x1b[1;32m42.5\x1b[0m\n");
}

#[test]
#[ignore = "needs the lab"]
fn declared_figures_are_shown_and_missing_ones_invalid() {
    let keys = "figures:
  speed: { pattern: 'speed: ([0-9.]+)', unit: items/s }
  latency: { pattern: 'latency: ([0-9.]+)', unit: ms, better: lower }";
    let lab = lab("echo 'speed: 42.5'; echo 'latency: 3'", keys);
    lab.run(&["--verbose"])
        .expect_exit(0)
        .prints("speed: 42.5 items/s; latency: 3 ms; nothing was published");
    for format in ["text", "markdown", "html"] {
        let page = lab.retrial(&["report", "last", "--output", format, "--to", "-"]);
        page.expect_exit(0).prints("42.5 items/s").prints("3 ms");
    }
    let lab = self::lab("echo 'speed: 42.5'", keys);
    lab.run(&[])
        .expect_exit(1)
        .prints("latency is missing: steps/03-main-performance/output.log: no line matches");
    let rules = lab.verdict()["results"][0]["rules"].clone();
    let failed = |rule: &Value| rule["rule"] == "latency" && rule["passed"] == false;
    assert!(rules.as_array().unwrap().iter().any(failed), "{rules}");
}

#[test]
#[ignore = "needs the lab"]
fn a_missing_figure_names_the_nearest_match() {
    let keys = "results: /out
figures:
  rouge1: { json: $.scores.rouge1, file: scores.json }
expect:
  rouge1: { value: 44, kind: official, source: here }";
    let commands = "mkdir /out; echo '{\"scores\": {\"rouge_1\": 44.5}}' >/out/scores.json";
    let lab = lab(commands, keys);
    lab.run(&[])
        .expect_exit(1)
        .prints("rouge1 is missing: scores.json: no value at `$.scores.rouge1`")
        .prints("the nearest is `$.scores.rouge_1`: 44.5");
    assert_eq!(lab.verdict()["outcome"], "invalid");
}

#[test]
#[ignore = "needs the lab"]
fn an_entry_missing_in_a_table_is_invalid() {
    let keys = "figures:
  gemm: { pattern: '^(?<shape>\\w+): (?<value>[0-9.]+)', by: [shape], noise: 1% }
expect:
  gemm: { kind: official, source: here, values: { 8x8: 1, 9x9: 1 } }";
    let lab = lab("echo '8x8: 1.0'; echo '8x9: 1.0'", keys);
    lab.run(&[]).expect_exit(1).prints("gemm[9x9] is missing: the table has gemm[8x8], gemm[8x9]");
}

/// Prints a run as MLPerf Training's logger does; its end is its arguments.
const TRAIN: &str = r#"train() {
  at() { echo ":::MLLOG {\"namespace\": \"\", \"time_ms\": $1, \"event_type\": \"POINT_IN_TIME\", \"key\": \"$2\", \"value\": $3, \"metadata\": {$4}}"; }
  at 1000000 submission_benchmark '"llama2_70b_lora"'
  at 1000000 global_batch_size 8
  at 1000000 run_start null
  at 1000005 eval_accuracy 0.97 '"samples_count": 2688'
  at 1000006 block_stop null
  at $((1000000 + $1)) eval_accuracy $3 "\"samples_count\": $2"
  at $((1000000 + $1)) run_stop null "\"status\": \"$4\""
}
"#;

const SCORED: &str = "figures:
  time_to_train:
    mllog: time_to_train
    unit: min
    better: lower
    aggregate: olympic
    target: { max: 0.925 }
    rcp: { points: { 8: [3072, 2688, 3456, 3072, 3072, 3072, 3456, 3456, 3072, 2688, 3456, 3072, 3072, 3072, 3840, 3456, 2688, 3072, 3456, 3456] } }
  eval_loss: { mllog: eval_accuracy, better: lower }
expect:
  time_to_train: { value: 20.7, kind: official, source: here }";

#[test]
#[ignore = "needs the lab"]
fn ten_trials_of_a_training_are_one_score() {
    let commands = format!("{TRAIN}train $((1200000 + ${{{{ trial }}}} * 100)) 3072 0.92 success");
    let keys = format!("trials: 10\n{SCORED}");
    let lab = lab(&commands, &keys);
    lab.run(&["--verbose"]).expect_exit(0).prints("The Olympic mean of 10 trials");
    let verdict = lab.verdict();
    let judged = &verdict["results"][0]["judgements"][0];
    let factor = 3178.0 + 2.0 / 3.0;
    let expected = (1_200_550.0 / 60_000.0) * factor / 3072.0;
    let measured = judged["measured"]["value"].as_f64().unwrap();
    assert!((measured - expected).abs() < 1e-6, "{measured} {expected}");
    assert_eq!(verdict["results"][0]["trials"].as_array().unwrap().len(), 10);
}

#[test]
#[ignore = "needs the lab"]
fn a_step_that_trains_ten_times_is_ten_trials() {
    let ten = "for i in 1 2 3 4 5 6 7 8 9 10; do train $((1200000 + i * 100)) 3072 0.92 success";
    let one_log = format!("{TRAIN}{ten}; done");
    let ten_logs = format!("{TRAIN}mkdir /out; {ten} >/out/result_$i.txt; done");
    let files = SCORED.replace("unit: min", "unit: min\n    file: result_*.txt");
    for (commands, keys) in [
        (one_log, SCORED.to_owned()),
        (
            ten_logs,
            format!("results: /out\n{files}")
                .replace("mllog: eval_accuracy", "mllog: eval_accuracy, file: result_*.txt"),
        ),
    ] {
        let lab = lab(&commands, &keys);
        lab.run(&[]).expect_exit(0);
        let trials = lab.verdict()["results"][0]["trials"].clone();
        assert_eq!(trials.as_array().unwrap().len(), 10, "{trials:#}");
        assert_eq!(trials[9]["trial"], 10);
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_training_that_missed_its_target_is_invalid() {
    for (end, message) in [
        ("3072 0.93 success", "its last eval_accuracy 0.93 misses the target"),
        ("3072 0.93 aborted", "did not converge"),
    ] {
        let lab = lab(&format!("{TRAIN}train 1200000 {end}"), SCORED);
        lab.run(&[]).expect_exit(1).prints(message);
        assert_eq!(lab.verdict()["outcome"], "invalid");
    }
}

/// Prints the log of a run of a second, which began some seconds ago, as MLPerf Training's logger does.
const TRAIN_AGO: &str = r#"train() {
  start=$(($(date +%s%3N) - $1 * 1000))
  log() { echo ":::MLLOG {\"time_ms\": $(($start + $1)), \"key\": \"$2\", \"value\": $3, \"metadata\": {$4}}"; }
  log 0 run_start null; log 990 eval_accuracy 0.95 '"samples_count": 320'; log 1000 run_stop null '"status": "success"'
}
mkdir -p /results
"#;
const TRAINED: &str = "results: /results
figures: { ttt: { mllog: time_to_train, file: 'result_*.txt', unit: s, better: lower, noise: 1% } }
expect: { ttt: { value: 1, kind: official, source: here } }";

fn training(commands: &str) -> Lab {
    lab(&format!("{TRAIN_AGO}{commands}"), TRAINED)
}

#[test]
#[ignore = "needs the lab"]
fn a_training_log_of_before_the_step_is_no_result() {
    let lab = training("train 86400 >/results/result_0.txt");
    lab.run(&[])
        .expect_exit(1)
        .prints("result_0.txt: its run starts at")
        .prints("outside of the step");
    lab.retrial(&["judge", "last"]).expect_exit(1);
}

#[test]
#[ignore = "needs the lab"]
fn a_run_that_is_appended_to_an_older_log_is_the_result() {
    let commands = "train 86400 >/results/result_0.txt; train 0 >>/results/result_0.txt";
    let lab = training(commands);
    lab.run(&[]).expect_exit(0).prints("result_0.txt: its run starts at");
    let result = &lab.verdict()["results"][0];
    assert_eq!(result["trials"].as_array().unwrap().len(), 1, "{result:#}");
    assert_eq!(result["outcome"], "reproduced");
}

#[test]
#[ignore = "needs the lab"]
fn a_file_that_was_last_written_before_the_step_is_no_result() {
    let keys = "results: /out
figures: { speed: { json: $.speed, file: r.json, unit: MB/s, noise: 1% } }
expect: { speed: { value: 42, kind: official, source: here } }";
    let commands =
        "mkdir /out; echo '{\"speed\": 42}' >/out/r.json; touch -d 2024-05-06 /out/r.json";
    for (commands, code, outcome) in [
        (commands, 1, "invalid"),
        ("mkdir /out; echo '{\"speed\": 42}' >/out/r.json", 0, "reproduced"),
    ] {
        let lab = lab(commands, keys);
        lab.run(&[]).expect_exit(code);
        assert_eq!(lab.verdict()["outcome"], outcome, "{commands}");
    }
}

/// Results that somebody else made: their directory and the recipe are all there is.
#[test]
#[ignore = "needs the lab"]
fn judged_without_an_engine() {
    let lab = lab("echo no", SCORED);
    let directory = lab.path("theirs");
    std::fs::create_dir(&directory).unwrap();
    for run in 0..10 {
        let event = |time: u64, key: &str, value: &str, metadata: &str| {
            format!(
                ":::MLLOG {{\"time_ms\": {time}, \"key\": \"{key}\", \"value\": {value}, \"metadata\": {{{metadata}}}}}\n"
            )
        };
        let stop = 2_200_000 + run * 100;
        let log = event(1, "global_batch_size", "8", "")
            + &event(1_000_000, "run_start", "null", "")
            + &event(stop - 1, "eval_accuracy", "0.92", "\"samples_count\": 3072")
            + &event(stop, "run_stop", "null", "\"status\": \"success\"");
        std::fs::write(directory.join(format!("result_{run}.txt")), log).unwrap();
    }
    let recipe = lab.path("recipe.yaml");
    let arguments =
        ["judge", directory.to_str().unwrap(), "--recipe", recipe.to_str().unwrap(), "--verbose"];
    lab.retrial(&arguments).expect_exit(0).prints("1.03472 for its convergence");
}

/// Its trials are run and shown first, and not judged; the numbers count on.
#[test]
#[ignore = "needs the lab"]
fn warm_up_figures_are_shown_but_not_judged() {
    let commands = "mkdir /out_${{ trial }}; date >/out_${{ trial }}/when
echo \"speed: $(( ${{ trial }} <= 2 ? 10 : 100 )) MB/s\"";
    let keys = "results: /out_*
warmup: 2
trials: 2
figures: { speed: { pattern: 'speed: ([0-9.]+)', unit: MB/s, noise: 1% } }
expect: { speed: { value: 100, kind: official, source: here } }";
    let lab = lab(commands, keys);
    let run = lab.run(&[]).expect_exit(0).prints("reproduced");
    run.prints("trial 3 of 4");
    let result = &lab.verdict()["results"][0];
    let values = |trials: &str| -> Vec<(u64, f64)> {
        let trials = result[trials].as_array().unwrap().iter();
        let values = trials.map(|trial| {
            let speed = trial["figures"]["speed"]["value"].as_f64().unwrap();
            (trial["trial"].as_u64().unwrap(), speed)
        });
        values.collect()
    };
    assert_eq!(values("warmups"), [(1, 10.0), (2, 10.0)]);
    assert_eq!(values("trials"), [(3, 100.0), (4, 100.0)]);
    assert_eq!(lab.count("main-performance-warmup-1", "step_started"), 1);
    assert_eq!(lab.count("main-performance-3", "step_started"), 1);
    lab.retrial(&["judge", "last"]).expect_exit(0);
    let page = lab.retrial(&["report", "last", "--to", "-"]).expect_exit(0);
    assert!(page.out.contains("2 (warm-up)"), "{}", page.out);
    let csv = lab.retrial(&["report", "last", "--output", "csv"]);
    let mut rows = csv::Reader::from_reader(csv.out.as_bytes());
    let names = rows.headers().unwrap().clone();
    let column = |row: &csv::StringRecord, name: &str| {
        let column = names.iter().position(|heading| heading == name);
        row[column.unwrap()].to_owned()
    };
    let rows: Vec<_> = rows.records().map(Result::unwrap).collect();
    let shown = rows
        .iter()
        .map(|row| ["trial", "warmup", "value", "outcome"].map(|name| column(row, name)));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            ["1", "true", "10", ""],
            ["2", "true", "10", ""],
            ["3", "false", "100", "reproduced"],
            ["4", "false", "100", "reproduced"],
        ]
    );
}

/// The command line replaces what the recipe states.
#[test]
#[ignore = "needs the lab"]
fn a_warm_up_from_the_command_line() {
    let keys = "figures: { speed: { pattern: 'speed: ([0-9.]+)', unit: MB/s } }";
    let lab = lab("echo 'speed: 1 MB/s'", keys);
    lab.run(&["--warmup", "1"]).expect_exit(0);
    let result = &lab.verdict()["results"][0];
    let numbers = |trials: &str| {
        let trials = result[trials].as_array().unwrap().iter();
        trials.map(|trial| trial["trial"].clone()).collect::<Vec<_>>()
    };
    assert_eq!((numbers("warmups"), numbers("trials")), (vec![1.into()], vec![2.into()]));
}

/// A shared command is run once for each trial of all its measurements.
#[test]
#[ignore = "needs the lab"]
fn a_warm_up_needs_its_own_command() {
    let lab = lab("true", "");
    let from = "  first:\n    performance: { from: all, figures: { speed: { pattern: '([0-9]+) MB' } } }\n";
    let lab = lab.recipe(&recipe_with("commands:\n  all: { run: echo 1 MB }", from));
    lab.run(&["--warmup", "1"])
        .expect_exit(2)
        .prints("--warmup: first performance shares its command (all)");
}

/// A warm-up that fails is no measurement, and still a failure.
#[test]
#[ignore = "needs the lab"]
fn a_failed_warm_up_fails_the_run() {
    let keys = "warmup: 1
figures: { speed: { pattern: 'speed: ([0-9.]+)', unit: MB/s } }";
    let commands = "test ${{ trial }} = 2 || exit 3\necho 'speed: 1 MB/s'";
    let lab = lab(commands, keys);
    lab.run(&[]).expect_exit(4);
    assert_eq!(lab.verdict()["outcome"], "failed");
}
