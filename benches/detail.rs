//! How fast a detail log of 1 GB is read, on one core, in bounded memory, from a file through the store's safe opening.
//!
//! The target is 500 MB/s. Beside it, in turn: only reading the same file, and `grep -c` of one word in it. The lines
//! are a real log's, many times: of the corpus where it is there, else of one that is written here as LoadGen does.
#![expect(clippy::unwrap_used, clippy::cast_precision_loss, reason = "benches; a size in bytes")]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use retrial_mlperf::loadgen::LoadgenDetail;
use retrial_results::evidence::folder;
use retrial_store::open;
use support::paired::{self, Pairs, timed};
use support::world::{World, peak_memory, processor_seconds};

const BYTES: usize = 1_000_000_000;
const PAIRS: usize = 11;
const MIN_RATE: f64 = 500e6;
const BLOCK: usize = 256 << 10;
/// One of the corpus's longest logs.
const REAL: &str = "closed/AMD/results/8xMI300X_2xEPYC-9374F/llama2-70b-99/Server/performance/run_1/mlperf_log_detail.txt";

fn main() {
    let world = World::new();
    let log = real().unwrap_or_else(written);
    let short: String = log
        .lines()
        .filter(|line| line.len() < 4096)
        .fold(String::new(), |text, line| text + line + "\n");
    let warnings: String = (0..2000)
        .map(|index| line("warning_generic_message", &format!("\"late by {index}\""), true))
        .collect();
    for (label, text) in [
        ("a test's log, many times", &log),
        ("its settings and results only", &short),
        ("warnings only", &warnings),
    ] {
        fill(&world.path().join(folder::DETAIL), text);
        case(label, world.path());
    }
    println!("most memory that this process had: {} MB", peak_memory() / 1_000_000);
}

fn case(label: &str, directory: &Path) {
    let path = directory.join(folder::DETAIL);
    let size = fs::metadata(&path).unwrap().len() as f64;
    paired::wait_for_quiet(Duration::from_mins(1));
    println!("{label}: {:.3} GB  ({})", size / 1e9, paired::machine());
    let mut processor = Pairs::default();
    let mut ours = || {
        let before = processor_seconds();
        let seconds = timed(|| assert!(black_box(read(directory)).entries > 0));
        processor.push(processor_seconds() - before, seconds);
        seconds
    };
    let read_only = || timed(|| assert!(bytes(directory) > 0));
    let grep = || {
        timed(|| {
            let mut command = Command::new("grep");
            command.args(["-c", "is_error"]).arg(&path).env("LC_ALL", "C");
            // Into a pipe: with `/dev/null` it ends at the first line that it finds.
            assert!(command.stdout(Stdio::piped()).output().unwrap().status.success());
        })
    };
    let pairs = Pairs::run(PAIRS, &mut ours, read_only);
    pairs.report("parsed", "only read", None);
    pairs.report_rate("wall time", size, MIN_RATE);
    Pairs::run(PAIRS, &mut ours, grep).report("parsed", "grep -c is_error", None);
    // What else the machine does takes wall time, and hardly this.
    processor.report_rate("processor time", size, MIN_RATE);
}

fn read(directory: &Path) -> LoadgenDetail {
    folder::read_detail_log(directory, Path::new("")).unwrap()
}

fn bytes(directory: &Path) -> usize {
    let mut file = open::open_beneath(directory, Path::new(folder::DETAIL)).unwrap();
    let mut block = vec![0; BLOCK];
    let mut sum = 0;
    loop {
        let count = file.read(&mut block).unwrap();
        if count == 0 {
            return sum;
        }
        sum += black_box(&block[..count]).len();
    }
}

fn fill(path: &Path, text: &str) {
    let mut file = fs::File::create(path).unwrap();
    for _ in 0..BYTES.div_ceil(text.len()) {
        file.write_all(text.as_bytes()).unwrap();
    }
}

/// A published log, from the corpus.
fn real() -> Option<String> {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/corpus/mlperf-inference-results-v4.1.tar.xz");
    if !archive.is_file() {
        println!("skipped: a published log (the corpus is not there)");
        return None;
    }
    let mut tar = Command::new("tar");
    tar.arg("-xJOf").arg(archive).args(["--wildcards", &format!("*{REAL}")]);
    let output = tar.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// A log as LoadGen writes it: settings and results in short lines, and one of all samples.
fn written() -> String {
    let mut text = String::new();
    for index in 0..60 {
        text += &line(&format!("effective_setting_{index}"), &(index * 7919).to_string(), false);
        text += &line(
            &format!("result_{index}.00_percentile_latency_ns"),
            &(index * 104_729).to_string(),
            false,
        );
    }
    let mut samples = String::from("[0");
    for sample in 1..24_576 {
        let _ = write!(samples, ",{sample}");
    }
    text + &line("loaded_qsl_set", &(samples + "]"), false)
}

fn line(key: &str, value: &str, warning: bool) -> String {
    format!(
        r#":::MLLOG {{"key": "{key}", "value": {value}, "time_ms": 3011.452316, "namespace": "mlperf::logging", "event_type": "POINT_IN_TIME", "metadata": {{"is_error": false, "is_warning": {warning}, "file": "results.cc", "line_no": 778, "pid": 1625, "tid": 1625}}}}"#
    ) + "\n"
}
