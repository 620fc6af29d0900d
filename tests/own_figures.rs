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
    let directory = tempfile::tempdir().unwrap();
    let recipe = format!(
        "schema: 1\ntitle: Own figures\nsubmission: {{ suite: example, benchmark: own }}\nimage: debian:bookworm-slim\n\
         scenarios:\n  case:\n    performance:\n      run: ./bench\n      results: /results\n      figures:\n\
         \x20       rate: {{ {figure}, unit: tokens/s, noise: 1% }}\n        alive: {{ pattern: '^alive (\\d+)', file: alive.txt }}\n\
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
    let text = run(&[]);
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
    "output.log, line 2: `rate: nan` announces"
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
#[case::columns(
    CELL,
    "t.csv",
    "name,rate,rate\nb,40,1\n",
    "t.csv: 2 columns are named `rate`"
)]
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
    assert!(
        json["results"][0]["figures"].get("rate").is_none(),
        "{json}"
    );
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
    assert_eq!(
        (code, &json["outcome"]),
        (0, &"reproduced".into()),
        "{text}"
    );
    let read = &json["results"][0]["trials"][0]["figures"]["rate"];
    assert_eq!(read["value"], 41.0);
    assert_eq!(read["origin"]["file"], name);
    assert_eq!(read["origin"]["line"], line);
}

#[test]
fn what_was_passed_over_is_told() {
    let (_, text, _) = judge(LINE, "output.log", b"rate: n/a\nrate: -\nrate: 41\n");
    let expected =
        "output.log, line 3; passed over 2 records: line 1: `rate: n/a` announces the figure";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn json_of_any_length_is_read() {
    let text = format!("{{\"texts\": \"{}\", \"rate\": 41}}\n", "x".repeat(300_000));
    let (code, text, _) = judge(JSON, "output.log", text.as_bytes());
    assert_eq!(code, 0, "{text}");
}
