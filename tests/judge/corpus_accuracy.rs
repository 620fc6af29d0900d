//! Every published `accuracy.txt` of round v4.1 against what the official checker read in it.
//!
//! The corpus is next to the repository in `../shared/corpus` and is too large to be part of it.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::fs;
use std::path::Path;
use std::process::Command;

use retrial_mlperf::accuracy::parse_accuracy;

/// The figure that the checker writes down: the first of a benchmark's targets.
fn figure(benchmark: &str) -> &'static str {
    match benchmark.trim_end_matches("-99.9").trim_end_matches("-99") {
        "resnet" => "acc",
        "retinanet" => "mAP",
        "bert" => "F1",
        "dlrm-v2" => "AUC",
        "3d-unet" => "DICE",
        "stable-diffusion-xl" => "CLIP_SCORE",
        "gptj" | "llama2-70b" | "mixtral-8x7b" => "ROUGE1",
        other => panic!("{other}"),
    }
}

#[test]
#[ignore = "needs the corpus"]
fn every_v41_accuracy_equals_the_official_one() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let archive = corpus.join("mlperf-inference-results-v4.1.tar.xz");
    let official = corpus.join("official-checker-v4.1.csv");
    assert!(archive.is_file() && official.is_file(), "this test needs {}", corpus.display());
    let directory = tempfile::tempdir().unwrap();
    let tar = Command::new("tar")
        .args(["-xJf"])
        .arg(&archive)
        .arg("-C")
        .arg(directory.path())
        .args(["--wildcards", "*/accuracy/accuracy.txt"])
        .status();
    let tar =
        tar.expect("tar and xz are needed to unpack the corpus: apt-get install tar xz-utils");
    assert!(tar.success(), "tar: {tar}");
    let mut rows = csv::Reader::from_path(official).unwrap();
    let heads = rows.headers().unwrap().clone();
    let column = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let [model, location, accuracy] = ["MlperfModel", "Location", "Accuracy"].map(column);
    let mut equal = 0;
    for row in rows.records() {
        let row = row.unwrap();
        let location = directory.path().join("v4.1").join(&row[location]);
        let path = location.join("accuracy/accuracy.txt");
        let parsed = parse_accuracy(&fs::read(&path).unwrap());
        let name = figure(&row[model]);
        let entry = &parsed.figures[name];
        let expected: f64 = row[accuracy].parse().unwrap();
        assert!(
            (entry.value - expected).abs() <= 1e-12 * expected,
            "{}: {} of {expected}",
            path.display(),
            entry.value
        );
        assert!(entry.others.is_empty(), "{}: {entry:?}", path.display());
        assert!(parsed.hash.is_some(), "{}", path.display());
        equal += 1;
    }
    assert_eq!(equal, 842);
}
