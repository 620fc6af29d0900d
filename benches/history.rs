//! How fast `retrial runs` and `retrial compare --by` are on 10,000 runs, and how fast their index is
//! rebuilt.
//!
//! The targets: 0.3 s of wall time with a warm index, and 5,000 runs a second when it is made from
//! the run directories, their files in the page cache. `RETRIAL_MANY_RUNS` is a home that
//! `cargo run --example many-runs` made before (2 GB for 10,000); else one is planted.
#![expect(clippy::unwrap_used, clippy::cast_precision_loss, reason = "benches")]

#[path = "../tests/many_runs/mod.rs"]
mod many_runs;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use many_runs::Many;
use support::paired::{self, Pairs, timed};
use support::world::{RETRIAL, World, must, peak_memory_of};

const COUNT: usize = 10_000;
const WARM_LIMIT_S: f64 = 0.3;
const MIN_RATE: f64 = 5_000.0;

fn main() {
    let world = World::new();
    let existing = std::env::var_os("RETRIAL_MANY_RUNS").map(PathBuf::from);
    let home = existing.unwrap_or_else(|| {
        Many::new().plant(world.path(), 0..COUNT);
        world.path().to_owned()
    });
    let runs = fs::read_dir(home.join("runs")).unwrap().count();
    let retrial = |words: &[&str]| {
        let mut command = Command::new(RETRIAL);
        command.args(words).arg("--home").arg(&home);
        command
    };
    let newest = ["runs", "--limit", "1"];
    // Once, so that the files are in the page cache.
    must(&mut retrial(&newest));
    for words in [
        &["runs"][..],
        &["runs", "--output", "json"],
        &["runs", "--recipe", "llama2", "--set", "rocm=7.1.1", "--limit", "20"],
        &["runs", "--batch", "b000"],
        &["compare", "--by", "rocm"],
        &["compare", "--by", "rocm", "--output", "json"],
    ] {
        paired::wait_for_quiet(Duration::from_mins(1));
        println!("retrial {}, {runs} runs  ({})", words.join(" "), paired::machine());
        let ours = || timed(|| must(&mut retrial(words)));
        Pairs::run(21, ours, || 1.0).report_limit(WARM_LIMIT_S);
    }
    paired::wait_for_quiet(Duration::from_mins(1));
    println!("the index of {runs} runs rebuilt  ({})", paired::machine());
    let anew = || {
        forget(&home);
        timed(|| must(&mut retrial(&newest)))
    };
    let limit = runs as f64 / MIN_RATE;
    let pairs = Pairs::run(11, anew, || 1.0);
    pairs.report_limit(limit);
    println!("  ({MIN_RATE} runs a second are {limit:.1} s)");
    forget(&home);
    let peak = peak_memory_of(&mut retrial(&newest));
    println!("  most memory: {:.0} MB", peak as f64 / 1e6);
}

fn forget(home: &Path) {
    fs::remove_file(home.join("index.sqlite")).unwrap();
}
