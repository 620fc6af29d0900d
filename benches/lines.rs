//! 300 MB of log lines from a step, followed, stored and scanned for a figure, against `docker exec`
//! of the same command writing to a file on a bind mount.
//!
//! The target is 1.2 times that, with less than 50 MB of memory whatever the length. The journal
//! gives the time of the step that prints the lines, and of the verdict that scans them.
#![expect(clippy::unwrap_used, reason = "benches")]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use support::paired::{self, Pairs, print_times, timed};
use support::world::{IMAGE, World, between, docker, ended, engine_has_image, must, started};

const PAIRS: usize = 21;
const MEGABYTE: usize = 1_000_000;
const FIGURES: &str = "      figures:\n        throughput: { pattern: 'throughput: ([0-9.]+) tokens/s', unit: tokens/s, better: higher, take: last }\n";

/// A shell command that prints `bytes` of lines; the last line with the figure is the first line of
/// all, so that they are all scanned. With `pipefail` the broken pipe of `yes` would fail the step.
fn printing(bytes: usize) -> String {
    let line =
        "2026-11-21 06:31:23 INFO  worker 3: decoded 128 sequences, 12345.6 tokens/s, queue 17";
    format!("echo 'throughput: 14164.5 tokens/s'; {}", repeated(line, bytes))
}

/// Lines that all hold the figure.
fn all_figures(bytes: usize) -> String {
    let line =
        "2026-11-21 06:31:23 INFO  worker 3: queue 17, batch 128, throughput: 12345.6 tokens/s";
    repeated(line, bytes)
}

fn repeated(line: &str, bytes: usize) -> String {
    let whole = bytes / (line.len() + 1) * (line.len() + 1);
    format!("(yes '{line}' || :) | head -c {whole}")
}

fn main() {
    if !engine_has_image() {
        return;
    }
    let world = World::new();
    let name = format!("retrial-bench-{}", std::process::id());
    let mount = world.path().join("mount");
    fs::create_dir(&mount).unwrap();
    let volume = format!("{}:/mount", mount.display());
    docker(&["run", "-d", "--name", &name, "-v", &volume, IMAGE, "sleep", "infinity"]);
    println!("300 MB of lines, the first with the figure");
    compare(&world, &name, "lines", &printing(300 * MEGABYTE), Some(1.2));
    println!("300 MB of lines, each with the figure");
    compare(&world, &name, "figures", &all_figures(300 * MEGABYTE), None);
    docker(&["rm", "-f", &name]);
    println!("peak resident memory of `retrial run`");
    for (label, run) in [
        ("30 MB of lines", printing(30 * MEGABYTE)),
        ("300 MB of lines", printing(300 * MEGABYTE)),
        ("300 MB of lines, each with the figure", all_figures(300 * MEGABYTE)),
        ("300 MB in one line", format!("head -c {} /dev/zero | tr '\\0' x", 300 * MEGABYTE)),
    ] {
        let peak = peak_memory(&world, &world.recipe("memory", &run, FIGURES));
        let held = if peak < 50.0 { "holds" } else { "MISSED" };
        println!("  {label:<44} {peak:>6.1} MB; limit 50: {held}");
    }
}

fn compare(world: &World, container: &str, recipe: &str, run: &str, limit: Option<f64>) {
    let path = world.recipe(recipe, run, FIGURES);
    let (mut steps, mut judged) = (Vec::new(), Vec::new());
    paired::wait_for_quiet(Duration::from_mins(1));
    println!("  {}", paired::machine());
    let to_file = format!("{{ {run}; }} >/mount/output.log 2>&1");
    let step = format!("{recipe}-performance");
    let pairs = Pairs::run(
        PAIRS,
        || {
            must(&mut world.retrial_run(&path));
            let journal = world.journal();
            let step = journal
                .iter()
                .filter_map(|event| event.name.as_deref())
                .find(|name| name.starts_with(&step))
                .unwrap();
            steps.push(between(started(&journal, step), ended(&journal, step)));
            judged.push(between(started(&journal, "judge"), ended(&journal, "judge")));
            world.clear();
            steps[steps.len() - 1] + judged[judged.len() - 1]
        },
        || {
            let wall = timed(|| {
                must(
                    Command::new("docker")
                        .args(["exec", container, "bash", "-eo", "pipefail", "-c", &to_file]),
                );
            });
            docker(&["exec", container, "rm", "/mount/output.log"]);
            wall
        },
    );
    pairs.report("retrial: the step and the scan", "docker exec to a file on a mount", limit);
    print_times("  step: printed, followed, kept", &steps[1..]);
    print_times("  judge: scanned", &judged[1..]);
    println!("  afterwards: {}", paired::machine());
}

/// The most memory that the process held, MB; the kernel keeps the mark, so it is read until the
/// process is gone.
fn peak_memory(world: &World, recipe: &Path) -> f64 {
    let mut child = world
        .retrial_run(recipe)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0.0_f64;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        let mark = text
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
        peak = peak.max(mark.unwrap_or(0.0) * 1024.0 / 1e6);
        std::thread::sleep(Duration::from_millis(1));
    };
    assert!(status.code().is_some_and(|code| code != 3 && code != 4), "{status}");
    world.clear();
    peak
}
