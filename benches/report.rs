//! Pages of very many runs, from a home whose index is there: `cargo bench --bench report`.
//! The bound is 2 s for 1,000 runs, and 15 s and 500 MB for 10,000.
#![allow(clippy::unwrap_used, reason = "a bench")]

#[path = "../tests/many_runs/mod.rs"]
mod many_runs;

use std::path::Path;
use std::process::Command;

use divan::Bencher;
use many_runs::Many;

fn main() {
    divan::main();
}

/// `retrial report --all` as a user runs it; gives the page's bytes.
fn report(home: &Path, output: &str) -> u64 {
    let to = home.join(format!("all.{output}"));
    let status = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .env("RETRIAL_HOME", home)
        .args(["report", "--all", "--output", output, "--to"])
        .arg(&to)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    std::fs::metadata(to).unwrap().len()
}

#[divan::bench(args = [1_000, 10_000], sample_count = 5)]
fn page(bencher: Bencher<'_, '_>, count: usize) {
    let home = tempfile::tempdir().unwrap();
    Many::new().plant(home.path(), 0..count);
    // The index is made once.
    assert!(report(home.path(), "html") < 4 << 20);
    bencher.bench_local(|| report(home.path(), "html"));
}

#[divan::bench(args = [1_000], sample_count = 3)]
fn csv(bencher: Bencher<'_, '_>, count: usize) {
    let home = tempfile::tempdir().unwrap();
    Many::new().plant(home.path(), 0..count);
    report(home.path(), "csv");
    bencher.bench_local(|| report(home.path(), "csv"));
}
