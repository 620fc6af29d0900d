//! `retrial judge` with a recipe of its own figures: a record that announces a figure and cannot be
//! read is a fault that is shown, and no other value takes its place.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::process::Command;

use rstest::rstest;
use serde_json::Value;

/// Judges a folder with one file of the figure `rate`, next to an output with the figure `alive`.
/// Returns the exit code, and what is printed: text and JSON.
fn judge(figure: &str, name: &str, content: &[u8]) -> (i32, String, Value) {
    judge_with(figure, ", noise: 1%", name, content)
}

/// The same, with these keys of the figure.
fn judge_with(figure: &str, keys: &str, name: &str, content: &[u8]) -> (i32, String, Value) {
    let directory = tempfile::tempdir().unwrap();
    let recipe = format!(
        "schema: 1\ntitle: Own figures\nsubmission: {{ suite: example, benchmark: own }}\nimage: debian:bookworm-slim\n\
         scenarios:\n  case:\n    performance:\n      run: ./bench\n      results: /results\n      figures:\n\
         \x20       rate: {{ {figure}, unit: tokens/s{keys} }}\n        alive: {{ pattern: '^alive (\\d+)', file: alive.txt }}\n\
         \x20     expect:\n        rate: {{ value: 40, kind: official, source: example }}\n"
    );
    fs::write(directory.path().join("recipe.yaml"), recipe).unwrap();
    let results = directory.path().join("results");
    fs::create_dir(&results).unwrap();
    fs::write(results.join("alive.txt"), "alive 1\n").unwrap();
    fs::write(results.join(name), content).unwrap();
    let run = |format: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_retrial"))
            .args(["judge", "results", "--recipe", "./recipe.yaml"])
            .args(format)
            .current_dir(directory.path())
            .env("RETRIAL_HOME", directory.path())
            .output()
            .unwrap()
    };
    let text = run(&["--verbose"]);
    let json = run(&["--output", "json"]).stdout;
    let printed = [text.stdout, text.stderr].concat();
    let words = String::from_utf8(printed).unwrap();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let json = serde_json::from_slice(&json).unwrap_or_default();
    (text.status.code().unwrap(), words, json)
}

const LINE: &str = r"pattern: 'rate: ([0-9.]+)'";
const BLOCK: &str = r"pattern: '^rate: ([0-9.]+)', below: '^clients 8$'";
const CELL: &str = "csv: { column: rate, where: { name: b } }, file: t.csv";
const JSON: &str = "json: $.rate";

#[rstest]
#[case::pattern(
    LINE,
    "output.log",
    "rate: 40\nrate: nan\n",
    "output.log, line 2: `rate: nan` has the figure's name"
)]
#[case::block(
    BLOCK,
    "output.log",
    "clients 8\nkilled\nclients 16\nrate: 40\n",
    "below one that matches"
)]
#[case::row(
    CELL,
    "t.csv",
    "name,rate,note\nb,40,x\nb,4",
    "t.csv, line 3: the row `b, 4` has 2 cells"
)]
#[case::columns(CELL, "t.csv", "name,rate,rate\nb,40,1\n", "t.csv: 2 columns are named `rate`")]
#[case::cut(
    JSON,
    "output.log",
    "{\"rate\": 40}\n{\"rate\": 4",
    "output.log, line 2: `{\"rate\": 4` announces"
)]
#[case::error(
    "json: $.rate, file: r.jsonl",
    "r.jsonl",
    "{\"n\": 1, \"rate\": 40}\n{\"n\": 2, \"error\": \"died\"}\n",
    "r.jsonl, line 2: "
)]
fn an_announcement_that_cannot_be_read_is_shown(
    #[case] figure: &str,
    #[case] name: &str,
    #[case] content: &str,
    #[case] reason: &str,
) {
    let (code, text, json) = judge(figure, name, content.as_bytes());
    assert_eq!((code, &json["outcome"]), (1, &"invalid".into()), "{text}");
    assert!(text.contains(reason), "{text}");
    assert!(json["results"][0]["figures"].get("rate").is_none(), "{json}");
}

/// A text in UTF-16, as `PowerShell` writes it.
fn utf16(text: &str) -> Vec<u8> {
    let marked = format!("\u{feff}{text}");
    marked.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[rstest]
#[case::later(LINE, "output.log", b"rate: nan\nrate: 41\n".to_vec(), 2)]
#[case::block(BLOCK, "output.log", b"clients 8\nrate: 41\nclients 16\nrate: 80\n".to_vec(), 2)]
#[case::until("pattern: '^rate: ([0-9.]+)', below: '^clients 8$', until: '^end'", "output.log", b"clients 8\nclients 16\nrate: 41\nend\n".to_vec(), 3)]
#[case::utf16(LINE, "output.log", utf16("start\r\nrate: 41\r\n"), 2)]
#[case::marked("pattern: '^rate: ([0-9.]+)'", "output.log", b"\xef\xbb\xbfrate: 41\n".to_vec(), 1)]
#[case::row(CELL, "t.csv", b"name, rate\nb, \"n/a\"\nb, \"41\"\na, nan\n\n2 rows\n".to_vec(), 3)]
#[case::utf16_row(CELL, "t.csv", utf16("name,rate\r\nb,41\r\n"), 2)]
#[case::pretty(JSON, "output.log", b"start\n{\n \"p99\": -inf,\n \"rate\": 41\n}\nend\n".to_vec(), 2)]
#[case::prefixed(JSON, "output.log", b"INFO {main} ready\n[rank0]: {\"rate\": 41}\n".to_vec(), 2)]
fn the_record_that_counts_is_read(
    #[case] figure: &str,
    #[case] name: &str,
    #[case] content: Vec<u8>,
    #[case] line: u64,
) {
    let (code, text, json) = judge(figure, name, &content);
    assert_eq!((code, &json["outcome"]), (0, &"reproduced".into()), "{text}");
    let read = &json["results"][0]["trials"][0]["figures"]["rate"];
    assert_eq!(read["value"], 41.0);
    assert_eq!(read["origin"]["file"], name);
    assert_eq!(read["origin"]["line"], line);
}

#[test]
fn what_was_passed_over_is_told() {
    let (_, text, _) = judge(LINE, "output.log", b"rate: n/a\nrate: -\nrate: 41\n");
    let expected =
        "output.log, line 3; passed over 2 records: line 1: `rate: n/a` has the figure's name";
    assert!(text.contains(expected), "{text}");
}

const REPEATED: &str = "values of rate: printed 2 times with different values, the last is taken";

#[rstest]
#[case::lines(LINE, "output.log", "rate: 38\nrate: 41\n", true)]
#[case::columns("csv: rate, file: t.csv", "t.csv", "name,rate\na,40\nb,41\n", true)]
#[case::records(JSON, "output.log", "{\"rate\": 40}\n{\"rate\": 41}\n", true)]
#[case::choice(
    "pattern: 'rate: ([0-9.]+)', take: last",
    "output.log",
    "rate: 38\nrate: 41\n",
    false
)]
#[case::first(
    "pattern: 'rate: ([0-9.]+)', take: first",
    "output.log",
    "rate: 41\nrate: 38\n",
    false
)]
#[case::rounded(LINE, "output.log", "rate: 41.02\nrate: 41.0\n", false)]
#[case::equal(LINE, "output.log", "rate: 41\nrate: 41\n", false)]
fn a_figure_that_is_printed_with_different_values_is_reported(
    #[case] figure: &str,
    #[case] name: &str,
    #[case] content: &str,
    #[case] is_reported: bool,
) {
    let (code, text, _) = judge(figure, name, content.as_bytes());
    assert_eq!((code, text.contains(REPEATED)), (0, is_reported), "{text}");
}

#[test]
fn an_earlier_value_is_found_far_before_the_last_one() {
    let between = "another line\n".repeat(300_000);
    let log = format!("rate: 38\n{between}rate: 41\n");
    let (_, text, json) = judge(LINE, "output.log", log.as_bytes());
    assert!(text.contains(REPEATED), "{text}");
    let repeated = &json["results"][0]["trials"][0]["figures"]["rate"]["origin"]["repeated"];
    let expected = serde_json::json!({ "count": 2, "least": 38.0, "greatest": 41.0 });
    assert_eq!(*repeated, expected);
}

#[test]
fn json_of_any_length_is_read() {
    let text = format!("{{\"texts\": \"{}\", \"rate\": 41}}\n", "x".repeat(300_000));
    let (code, text, _) = judge(JSON, "output.log", text.as_bytes());
    assert_eq!(code, 0, "{text}");
}

/// Judges a recipe of one case with these keys on these files.
fn judge_files(keys: &str, files: &[(&str, &str)]) -> (i32, String, Value) {
    judge_files_of("house", keys, files)
}

fn judge_files_of(suite: &str, keys: &str, files: &[(&str, &str)]) -> (i32, String, Value) {
    let directory = tempfile::tempdir().unwrap();
    let recipe = format!(
        "schema: 1\ntitle: Own figures\nsubmission: {{ suite: {suite}, benchmark: own }}\nimage: debian:bookworm-slim\n\
         scenarios:\n  case:\n    performance:\n      run: ./bench\n      results: /results\n{keys}"
    );
    fs::write(directory.path().join("recipe.yaml"), recipe).unwrap();
    for (name, content) in files {
        let path = directory.path().join("results").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let judged = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["judge", "results", "--recipe", "./recipe.yaml", "--output", "json"])
        .current_dir(directory.path())
        .env("RETRIAL_HOME", directory.path())
        .output()
        .unwrap();
    let json: Value = serde_json::from_slice(&judged.stdout).unwrap_or_default();
    (judged.status.code().unwrap(), json.to_string(), json)
}

/// Of the logs of all ranks, one that died.
#[rstest]
#[case::mean("pattern: 'rate: ${number}', take: mean", ["rate: 40\n", "killed\n"])]
#[case::last("pattern: 'rate: ${number}', take: last", ["rate: 40\n", ""])]
#[case::sum_of_tables("pattern: '^(?<type>\\w+) rate: (?<value>[0-9.]+)', by: [type], take: sum", ["a rate: 20\nb rate: 1\n", "a rate: 20\n"])]
#[case::json("json: $.rate, take: mean", ["{\"rate\": 40}", "{\"users\": 3}"])]
#[case::csv("csv: rate, take: mean", ["rate,users\n40,3\n", ""])]
fn each_file_that_matches_must_have_the_figure(#[case] figure: &str, #[case] logs: [&str; 2]) {
    let expect = if figure.contains("by:") {
        "rate: { kind: official, source: example, values: { a: 40 } }"
    } else {
        "rate: { value: 40, kind: official, source: example }"
    };
    let keys = format!(
        "      figures: {{ rate: {{ {figure}, file: 'rank*.log', unit: tokens/s, noise: 1% }} }}\n      expect: {{ {expect} }}\n"
    );
    let both = [("rank0.log", logs[0]), ("rank1.log", logs[1])];
    let (code, text, json) = judge_files(&keys, &both);
    assert_eq!((code, &json["outcome"]), (1, &"invalid".into()), "{text}");
    assert!(text.contains("every file that matches must have"), "{text}");
    let whole = [("rank0.log", logs[0]), ("rank1.log", logs[0])];
    let (_, text, json) = judge_files(&keys, &whole);
    assert_ne!(json["outcome"], "invalid", "{text}");
}

#[test]
fn figures_of_one_missing_file_have_one_cause() {
    let missing = "      figures:
        rate: { json: $.rate, file: r.json, unit: tokens/s }
        users: { json: $.users, file: r.json }
";
    let partly =
        format!("{missing}        alive: {{ pattern: 'alive (\\d+)', file: alive.txt }}\n");
    let (code, text, _) = judge_files(&partly, &[("alive.txt", "alive 1\n")]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("r.json") && !text.contains("more rule"), "{text}");
}

const LIMITED: &str = "      limits: { ttft: { max: 450 } }
      figures:
        rate: { pattern: 'rate: ${number}', unit: items/s, noise: 1% }
        ttft: { pattern: 'ttft: ${number}', unit: ms, better: lower }
      expect: { rate: { value: 100, kind: official, source: here } }
";

#[rstest]
#[case::measured("ttft: 440 ms", 0)]
#[case::a_mark_of_nothing_measured("ttft: -1 ms", 1)]
fn no_time_below_zero_keeps_a_limit(#[case] printed: &str, #[case] expected: i32) {
    let output = format!("rate: 101 items/s\n{printed}\n");
    let (code, text, _) = judge_files(LIMITED, &[("output.log", &output)]);
    assert_eq!(code, expected, "{text}");
}

const SIGNS: &str = "      fail_on: ['HIP out of memory', { pattern: Polling, after: 1h }]
      figures: { rate: { pattern: 'rate: ${number}', unit: items/s, noise: 1% } }
      expect: { rate: { value: 100, kind: official, source: here } }
";

/// As a run does; when a line was printed is not known.
#[rstest]
#[case::a_sign("rate: 101\nHIP out of memory\n", 4)]
#[case::a_last_line_without_an_end("rate: 101\nHIP out of memory", 4)]
#[case::a_sign_after_a_time("Polling\nrate: 101\n", 0)]
fn a_line_of_a_failure_fails_the_step(#[case] output: &str, #[case] expected: i32) {
    let (code, text, _) = judge_files(SIGNS, &[("output.log", output)]);
    assert_eq!(code, expected, "{text}");
    let reason = "line 2 of its output matches 'HIP out of memory': HIP out of memory";
    assert_eq!(text.contains(reason), expected == 4, "{text}");
}

/// Of a suite of one's own nobody else has another program: what was published is required.
#[rstest]
#[case::absent("pattern: 'throughput: ${number}'", "", "throughput is missing")]
#[case::not_a_number("pattern: 'throughput: ${number}'", "throughput: nan", "throughput: nan")]
#[case::part_of_a_number("pattern: 'throughput: ([0-9.]+)'", "throughput: 1,010.5", "1,010.5")]
#[case::not_tracked("mllog: tracked_stats.throughput", "", "throughput is missing")]
fn a_published_figure_of_a_training_is_not_dropped(
    #[case] figure: &str,
    #[case] printed: &str,
    #[case] reason: &str,
) {
    let keys = format!(
        "      figures:\n        ttt: {{ mllog: time_to_train, unit: s, better: lower, noise: 1% }}\n\
         \x20       throughput: {{ {figure}, unit: samples/s, noise: 1% }}\n\
         \x20     expect:\n        ttt: {{ value: 600, kind: official, source: here }}\n\
         \x20       throughput: {{ value: 1, kind: official, source: here }}\n"
    );
    let event = |time: u64, key: &str, metadata: &str| {
        format!(
            ":::MLLOG {{\"time_ms\": {time}, \"key\": \"{key}\", \"value\": 0.95, \"metadata\": {{{metadata}}}}}\n"
        )
    };
    let log = event(1_000_000, "run_start", "")
        + &format!("{printed}\n")
        + &event(1_599_000, "eval_accuracy", "\"samples_count\": 640")
        + &event(1_600_000, "run_stop", "\"status\": \"success\"");
    for (suite, is_dropped) in [("house", false), ("mlperf-training", printed.is_empty())] {
        let (code, text, _) = judge_files_of(suite, &keys, &[("result_0.txt", &log)]);
        assert_eq!(code, i32::from(!is_dropped), "{suite}: {text}");
        assert!(is_dropped || text.contains(reason), "{suite}: {text}");
    }
}

/// The published rate is 40 tokens/s: no machine is as far from it as a pattern of another number or a wrong unit.
#[rstest]
#[case::too_low("rate: 0.0004\n", 5)]
#[case::too_high("rate: 4000000\n", 5)]
fn a_figure_that_is_probably_misread_is_not_measured_again(
    #[case] output: &str,
    #[case] exit: i32,
) {
    let (code, text, _) = judge_with(LINE, "", "output.log", output.as_bytes());
    assert_eq!(code, exit, "{text}");
    assert!(text.contains("it may be misread: check the line, the pattern and the unit"), "{text}");
    assert!(text.contains("help: see the line from which `rate` was read"), "{text}");
    assert!(text.contains("--recipe FILE"), "{text}");
    assert!(!text.contains("more trials") && !text.contains("--trials"), "{text}");
}

/// Nine times slower may be another machine.
#[test]
fn a_slow_figure_is_measured_again() {
    let (code, text, _) = judge_with(LINE, "", "output.log", b"rate: 4.5\n");
    assert_eq!(code, 5, "{text}");
    assert!(text.contains("help: more trials: ") && !text.contains("misread"), "{text}");
}
