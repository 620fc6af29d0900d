//! How fast `retrial judge` judges a submission tree, next to MLCommons' own checker, and how much memory it takes.
//!
//! The target is 20 times as fast as the checker of the tree's round. `RETRIAL_OFFICIAL_CHECKER` is the path of its
//! `submission_checker.py` (mlcommons/inference, `tools/submission` at the round's tag), `RETRIAL_SUBMISSIONS` a tree that
//! it accepts, `RETRIAL_ROUND` its round (v4.1). Without the first only our own speed is told, without the second the
//! example's tree is judged. Each tree is judged as it is, and multiplied to about 1 GB.
#![expect(clippy::unwrap_used, clippy::cast_precision_loss, reason = "benches; sizes in bytes")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use support::paired::{self, Pairs, timed};
use support::world::{RETRIAL, World, peak_memory_of};

const BYTES: u64 = 1_000_000_000;
const MAX_RATIO: f64 = 1.0 / 20.0;
/// What is no rule of a result, or asks for files that are not published.
const SKIPPED: [&str; 6] = [
    "--skip_compliance",
    "--skip-power-check",
    "--skip-meaningful-fields-emptiness-check",
    "--skip-empty-files-check",
    "--skip-check-power-measure-files",
    "--skip-extra-files-in-root-check",
];

fn main() {
    let submissions = std::env::var_os("RETRIAL_SUBMISSIONS").map(PathBuf::from);
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/submission");
    let tree = submissions.unwrap_or(example);
    let checker = std::env::var_os("RETRIAL_OFFICIAL_CHECKER")
        .map(|path| Path::new(&path).canonicalize().unwrap());
    if checker.is_none() {
        println!("skipped: the official checker (RETRIAL_OFFICIAL_CHECKER says where it is)");
    }
    let world = World::new();
    case("the tree", &tree, checker.as_deref(), 21);
    let many = world.path().join("many");
    multiply(&tree, &many);
    case("the tree, many times", &many, checker.as_deref(), 7);
}

fn case(label: &str, tree: &Path, checker: Option<&Path>, count: usize) {
    let bytes = size(tree) as f64;
    paired::wait_for_quiet(Duration::from_mins(1));
    println!("{label}: {:.3} GB  ({})", bytes / 1e9, paired::machine());
    let mut judge = Command::new(RETRIAL);
    judge.args(["judge", "--quiet"]).arg(tree);
    let mut ours = || timed(|| ended(&mut judge, &[0, 1, 5]));
    let pairs = if let Some(checker) = checker {
        let round = std::env::var("RETRIAL_ROUND").unwrap_or_else(|_| "v4.1".to_owned());
        let mut official = Command::new("python3");
        official
            .arg(checker)
            .args(["--input", ".", "--version", &round, "--csv", "/dev/null"])
            .args(SKIPPED)
            .current_dir(tree);
        let pairs = Pairs::run(count, ours, || timed(|| ended(&mut official, &[0])));
        pairs.report("retrial judge", "the official checker", Some(MAX_RATIO));
        pairs
    } else {
        Pairs::run(count, &mut ours, || 1.0)
    };
    pairs.report_rate("wall time", bytes, 0.0);
    let peak = peak_memory_of(Command::new(RETRIAL).args(["judge", "--quiet"]).arg(tree));
    println!("  most memory: {:.0} MB", peak as f64 / 1e6);
}

/// Runs a command to its end, silently; it must end with one of these codes.
fn ended(command: &mut Command, codes: &[i32]) {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().unwrap();
    assert!(status.code().is_some_and(|code| codes.contains(&code)), "{command:?}: {status}");
}

/// Copies a tree, its submitters under as many names as make it [`BYTES_UNIT`] large.
fn multiply(tree: &Path, into: &Path) {
    let times = BYTES / size(tree).max(1);
    for division in ["closed", "open", "network"] {
        let Ok(submitters) = fs::read_dir(tree.join(division)) else {
            continue;
        };
        fs::create_dir_all(into.join(division)).unwrap();
        for submitter in submitters.map(|entry| entry.unwrap()) {
            let name = submitter.file_name().into_string().unwrap();
            for copy in 0..times.clamp(1, 100) {
                let copy = format!("{name}{copy}");
                let to = into.join(division).join(&copy);
                let copied = Command::new("cp").arg("-r").arg(submitter.path()).arg(&to).status();
                assert!(copied.unwrap().success());
                rename(&to, &copy);
            }
        }
    }
}

/// Tells a submitter's systems whose they are: the checker leaves out results of another's.
fn rename(submitter: &Path, name: &str) {
    for system in fs::read_dir(submitter.join("systems")).unwrap() {
        let path = system.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let mut system: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        system["submitter"] = name.into();
        fs::write(&path, system.to_string()).unwrap();
    }
}

fn size(path: &Path) -> u64 {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            if entry.file_type().unwrap().is_dir() {
                size(&entry.path())
            } else {
                entry.metadata().unwrap().len()
            }
        })
        .sum()
}
