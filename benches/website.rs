//! The website of very many runs: written for the first time, again without a change, and after one more run:
//! `cargo bench --bench website`. The bound for 10,000 runs is 15 s and 500 MB.
#![allow(clippy::unwrap_used, reason = "a bench")]

#[path = "../tests/many_runs/mod.rs"]
mod many_runs;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use divan::Bencher;
use many_runs::Many;
use support::world::peak_memory_of;
use tempfile::TempDir;

const COUNT: usize = 10_000;

/// A home whose index is made.
static HOME: LazyLock<TempDir> = LazyLock::new(|| {
    let home = tempfile::tempdir().unwrap();
    Many::new().plant(home.path(), 0..COUNT);
    write(home.path());
    home
});

fn main() {
    let _ = fs::remove_dir_all(site(HOME.path()));
    let most = peak_memory_of(&mut command(HOME.path()));
    println!("{COUNT} runs: {} MB at most", most / 1_000_000);
    divan::main();
    // A static is never dropped.
    let _ = fs::remove_dir_all(HOME.path());
}

fn site(home: &Path) -> PathBuf {
    home.join("site")
}

/// `retrial report --all --to DIR` as a user runs it.
fn command(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrial"));
    command
        .env("RETRIAL_HOME", home)
        .args(["report", "--all", "--quiet", "--to"])
        .arg(site(home))
        .stdout(Stdio::null());
    command
}

fn write(home: &Path) {
    assert!(command(home).status().unwrap().success());
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn first(bencher: Bencher<'_, '_>) {
    bencher
        .with_inputs(|| {
            let _ = fs::remove_dir_all(site(HOME.path()));
        })
        .bench_local_values(|()| write(HOME.path()));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn unchanged(bencher: Bencher<'_, '_>) {
    write(HOME.path());
    bencher.bench_local(|| write(HOME.path()));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn one_more_run(bencher: Bencher<'_, '_>) {
    write(HOME.path());
    let many = Many::new();
    let mut next = COUNT..;
    bencher
        .with_inputs(|| many.plant_one(HOME.path(), next.next().unwrap()))
        .bench_local_values(|_| write(HOME.path()));
}
