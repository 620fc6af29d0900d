//! Files of a submission that are missing, damaged, or made to hurt: `retrial judge` says in words what is wrong with
//! each, judges the others as ever, and stays small. The kernel holds its memory to [`MEMORY_KB`]; a guard ends it
//! where it hangs.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::copy::copy;
use rstest::rstest;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;
use tempfile::TempDir;

/// What the process may write to of its own memory, kB.
const MEMORY_KB: u32 = 200_000;
/// The guard, seconds: far more than anything here takes.
const GUARD: &str = "300";
/// A benchmark of the example, below its root.
const BENCHMARK: &str = "closed/Example/results/8xEXAMPLE_2xCPU/llama2-70b-99";
const SUMMARY: &str = "mlperf_log_summary.txt";
const DETAIL: &str = "mlperf_log_detail.txt";

/// The example submission, to be damaged.
struct Tree(TempDir);

impl Tree {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/submission");
        copy(&example, directory.path());
        // It breaks a rule, as the example is there to show.
        fs::remove_dir_all(directory.path().join(BENCHMARK).join("Interactive")).unwrap();
        Self(directory)
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn offline(&self) -> PathBuf {
        self.root().join(BENCHMARK).join("Offline")
    }

    fn run(&self) -> PathBuf {
        self.offline().join("performance/run_1")
    }
}

/// Output and exit code of `retrial judge`.
struct Judgement {
    code: i32,
    printed: Vec<u8>,
    errors: String,
}

impl Judgement {
    fn results(&self) -> Vec<Value> {
        let mut document: Value = serde_json::from_slice(&self.printed).unwrap();
        serde_json::from_value(document["results"].take()).unwrap()
    }

    /// The violated rules of a result and of its benchmark, as `RULE: MEASURED`.
    fn broken(&self, path: &str) -> Vec<String> {
        let document: Value = serde_json::from_slice(&self.printed).unwrap();
        let list_of = |list: &str| document[list].as_array().unwrap().clone();
        let mut judged = list_of("results");
        judged.retain(|result| result["path"].as_str().unwrap().ends_with(path));
        assert_eq!(judged.len(), 1, "{path} is not told");
        judged.extend(list_of("benchmarks"));
        judged
            .iter()
            .flat_map(|item| item["rules"].as_array().unwrap())
            .filter(|rule| rule["passed"] == false)
            .map(|rule| format!("{}: {}", rule["rule"].as_str().unwrap(), rule["measured"]))
            .collect()
    }

    /// The results of the unchanged scenarios.
    fn others(&self) -> Vec<Value> {
        let mut results = self.results();
        results.retain(|result| result["scenario"] != "Offline");
        results
    }
}

fn judge(directory: &Path) -> Judgement {
    let home = tempfile::tempdir().unwrap();
    let limited = format!(
        "ulimit -d {MEMORY_KB} && exec timeout --kill-after=5 {GUARD} \"$0\" judge \"$1\" --output json"
    );
    let output = Command::new("sh")
        .args(["-c", &limited, env!("CARGO_BIN_EXE_retrial")])
        .arg(directory)
        .env("RETRIAL_HOME", home.path())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code();
    assert!(
        matches!(code, Some(0..=5)) && !errors.contains("panicked"),
        "{:?}: {errors}",
        output.status
    );
    Judgement { code: code.unwrap(), printed: output.stdout, errors }
}

/// Puts something in a file's place.
type Damage = fn(&Path);

fn missing(path: &Path) {
    fs::remove_file(path).unwrap();
}

fn empty(path: &Path) {
    fs::write(path, "").unwrap();
}

fn cut(path: &Path) {
    let text = fs::read(path).unwrap();
    fs::write(path, &text[..text.len() / 2]).unwrap();
}

fn binary(path: &Path) {
    let noise: Vec<u8> =
        (0..100_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(path, noise).unwrap();
}

fn link_outside(path: &Path) {
    missing(path);
    symlink("/etc/passwd", path).unwrap();
}

fn link_inside(path: &Path) {
    let renamed = path.with_extension("real");
    fs::rename(path, &renamed).unwrap();
    symlink(renamed, path).unwrap();
}

fn link_to_itself(path: &Path) {
    missing(path);
    symlink(path.file_name().unwrap(), path).unwrap();
}

fn link_to_nothing(path: &Path) {
    missing(path);
    symlink("nothing", path).unwrap();
}

fn pipe(path: &Path) {
    missing(path);
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

fn directory(path: &Path) {
    missing(path);
    fs::create_dir(path).unwrap();
}

/// Holes, which cost no disk.
fn five_gigabytes(path: &Path) {
    File::create(path).unwrap().set_len(5 << 30).unwrap();
}

fn one_line_of_200_megabytes(path: &Path) {
    let mut file = File::create(path).unwrap();
    let block = vec![b'x'; 1 << 20];
    for _ in 0..200 {
        file.write_all(&block).unwrap();
    }
}

#[test]
fn the_results_of_the_example_are_valid() {
    let tree = Tree::new();
    let results = judge(tree.root()).results();
    assert_eq!(results.len(), 6);
    assert!(results.iter().all(|result| result["valid"] == true));
}

#[rstest]
#[case(missing, "missing")]
#[case(empty, "")]
#[case(cut, "")]
#[case(binary, "")]
#[case(link_outside, "link")]
#[case(link_inside, "link")]
#[case(link_to_itself, "link")]
#[case(link_to_nothing, "link")]
#[case(pipe, "not a regular file")]
#[case(directory, "")]
#[case(five_gigabytes, "")]
#[case(one_line_of_200_megabytes, "")]
fn a_damaged_file_is_reported_and_the_others_are_judged(
    #[case] damage: Damage,
    #[case] message: &str,
    #[values(
        "performance/run_1/mlperf_log_summary.txt",
        "performance/run_1/mlperf_log_detail.txt",
        "accuracy/accuracy.txt"
    )]
    file: &str,
) {
    let tree = Tree::new();
    let sound = judge(tree.root());
    damage(&tree.offline().join(file));
    let judgement = judge(tree.root());
    let part =
        if file.starts_with("accuracy") { "Offline/accuracy" } else { "Offline/performance/run_1" };
    let before = sound.broken(part);
    let mut broken = judgement.broken(part);
    broken.retain(|rule| !before.contains(rule));
    assert!(!broken.is_empty(), "nothing is said");
    assert!(broken.iter().any(|rule| rule.contains(message)), "{broken:?}");
    assert_eq!(judgement.code, 1, "{}", judgement.errors);
    assert_eq!(judgement.others(), sound.others());
}

/// The content of the files next to the logs is judged elsewhere.
#[rstest]
fn damaged_submission_files_do_not_stop_judging(
    #[values(missing, empty, binary, link_outside, pipe, directory, five_gigabytes)] damage: Damage,
) {
    let tree = Tree::new();
    let sound = judge(tree.root());
    for file in [
        "accuracy/mlperf_log_accuracy.json",
        "TEST06/verify_accuracy.txt",
        "measurements.json",
        "user.conf",
    ] {
        damage(&tree.offline().join(file));
    }
    assert_eq!(judge(tree.root()).others(), sound.others());
    damage(&tree.root().join("closed/Example/systems/8xEXAMPLE_2xCPU.json"));
    assert_eq!(judge(tree.root()).code, 1);
}

#[rstest]
fn a_single_result_directory_is_judged_likewise(
    #[values(empty, cut, binary, link_outside, pipe, directory)] damage: Damage,
    #[values(SUMMARY, DETAIL)] file: &str,
) {
    // A folder that is part of no tree.
    let (tree, alone) = (Tree::new(), tempfile::tempdir().unwrap());
    copy(&tree.run(), alone.path());
    damage(&alone.path().join(file));
    let judgement = judge(alone.path());
    let printed = String::from_utf8_lossy(&judgement.printed);
    assert_ne!(judgement.code, 0, "{printed}");
    let words = judgement.errors.clone() + &printed;
    assert!(words.contains("log") || words.contains("summary"), "{words}");
}

#[test]
fn a_deep_directory_is_walked_to_a_maximum_depth() {
    let tree = Tree::new();
    let sound = judge(tree.root());
    let mut deep = tree.run();
    for _ in 0..500 {
        deep.push("deep");
    }
    fs::create_dir_all(&deep).unwrap();
    assert_eq!(judge(tree.root()).printed, sound.printed);
    judge(&tree.run());
}

#[test]
fn ten_thousand_folders_are_walked() {
    let tree = Tree::new();
    let systems = tree.root().join("closed/Example/results");
    for index in 0..10_000 {
        fs::create_dir_all(systems.join(format!("system-{index}/resnet/Offline"))).unwrap();
    }
    assert_eq!(judge(tree.root()).code, 1);
}

#[test]
fn a_tree_with_symlink_loops_terminates() {
    let tree = Tree::new();
    let sound = judge(tree.root());
    symlink(tree.root(), tree.offline().join("accuracy/up")).unwrap();
    symlink("..", tree.root().join(BENCHMARK).join("Offline_again")).unwrap();
    symlink(tree.root(), tree.root().join("closed/Again")).unwrap();
    assert_eq!(judge(tree.root()).others(), sound.others());
}
