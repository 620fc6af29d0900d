//! How fast the logs are read: all summaries of the corpus (a generated set where it is absent),
//! and a detail log, a pattern and the line splitter by the byte.
//!
//! The target is all 3,217 summaries of v4.1 in under a second, reading included.
#![expect(clippy::unwrap_used, reason = "benches")]

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use retrial_mlperf::loadgen::{detail, summary};
use retrial_readings::lines::LineSplitter;
use retrial_readings::pattern::{MatchSelection, Pattern};

fn main() {
    println!("{} summaries, {}", summaries().len(), source());
    divan::main();
}

const COUNT: usize = 3217;
const EXAMPLE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/crates/mlperf/tests/fixtures/summaries/own-server_tokens-perf_valid.txt"
));

fn archive() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/corpus/mlperf-inference-results-v4.1.tar.xz")
}

fn source() -> &'static str {
    if archive().is_file() {
        "from the corpus of v4.1"
    } else {
        "generated: the corpus is not there"
    }
}

/// The summaries as files, unpacked or generated once.
fn summaries() -> &'static [PathBuf] {
    static FILES: OnceLock<(tempfile::TempDir, Vec<PathBuf>)> = OnceLock::new();
    &FILES
        .get_or_init(|| {
            let directory = tempfile::tempdir().unwrap();
            if archive().is_file() {
                // `-C` counts for the names that follow it only.
                let tar = Command::new("tar")
                    .arg("-xJf")
                    .arg(archive())
                    .arg("-C")
                    .arg(directory.path())
                    .args(["--wildcards", "*/mlperf_log_summary.txt"])
                    .status();
                assert!(tar.unwrap().success());
            } else {
                for index in 0..COUNT {
                    fs::write(directory.path().join(format!("{index}.txt")), EXAMPLE).unwrap();
                }
            }
            let mut files = Vec::new();
            let mut open = vec![directory.path().to_owned()];
            while let Some(folder) = open.pop() {
                for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
                    let list =
                        if entry.file_type().unwrap().is_dir() { &mut open } else { &mut files };
                    list.push(entry.path());
                }
            }
            assert_eq!(files.len(), COUNT);
            (directory, files)
        })
        .1
}

#[divan::bench(sample_count = 20)]
fn all_summaries_read_and_parsed(bencher: Bencher) {
    let files = summaries();
    bencher.counter(ItemsCount::new(files.len())).bench(|| {
        let read = files.iter().map(|file| summary::parse_summary_bytes(&fs::read(file).unwrap()));
        read.flatten().count()
    });
}

#[divan::bench(sample_count = 20)]
fn all_summaries_parsed(bencher: Bencher) {
    let texts: Vec<_> = summaries().iter().map(|file| fs::read(file).unwrap()).collect();
    bencher
        .counter(ItemsCount::new(texts.len()))
        .bench(|| texts.iter().flat_map(|text| summary::parse_summary_bytes(text)).count());
}

/// A detail log of 64 MB: settings, results, and what fills large ones.
fn detail_log() -> String {
    let mut text = String::new();
    while text.len() < 64 << 20 {
        for key in ["generic_message", "logger_swap_request_slots_retry_count", "loaded_sample"] {
            let _ = writeln!(
                text,
                r#":::MLLOG {{"key": "{key}", "value": {}, "time_ms": 3011.452316, "namespace": "mlperf::logging", "event_type": "POINT_IN_TIME", "metadata": {{"is_error": false, "is_warning": false, "file": "results.cc", "line_no": 778, "pid": 1625, "tid": 1625}}}}"#,
                text.len()
            );
        }
    }
    text
}

#[divan::bench(sample_count = 10)]
fn detail_log_in_chunks(bencher: Bencher) {
    let text = detail_log();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut parser = detail::DetailParser::new();
        text.as_bytes().chunks(256 * 1024).for_each(|chunk| parser.push(chunk));
        parser.finish().entries
    });
}

/// 300 MB of a step's output, as the issue requires.
fn output() -> Vec<u8> {
    let line =
        b"2026-11-21 06:31:23 INFO  worker 3: decoded 128 sequences, 12345.6 tokens/s, queue 17\n";
    line.repeat(300_000_000 / line.len())
}

#[divan::bench(sample_count = 5)]
fn lines_of_300_mb(bencher: Bencher) {
    let bytes = output();
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| {
        let mut splitter = LineSplitter::new();
        let mut lines = 0_u64;
        for chunk in bytes.chunks(256 * 1024) {
            splitter.push(chunk, |line| {
                black_box(&line.text);
                lines += 1;
            });
        }
        splitter.finish(|_| lines += 1);
        lines
    });
}

#[divan::bench(sample_count = 5)]
fn lines_of_300_mb_with_a_pattern(bencher: Bencher) {
    let bytes = output();
    let pattern =
        Pattern::new(r"throughput: ([\d.,]+) tokens/s", MatchSelection::Last, "tokens/s").unwrap();
    bencher.counter(BytesCount::of_slice(&bytes)).bench(|| {
        let mut splitter = LineSplitter::new();
        let mut reader = pattern.reader();
        for chunk in bytes.chunks(256 * 1024) {
            splitter.push(chunk, |line| reader.feed_line(&line.text));
        }
        reader.into_entries().is_err()
    });
}
