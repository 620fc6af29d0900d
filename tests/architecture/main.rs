//! What the compiler cannot hold: which crates and modules touch no file, socket or clock, that no two files need
//! each other, and that commands share code only by `app`. The directions between crates are those of their manifests.
#![expect(clippy::unwrap_used, reason = "tests")]

mod circles;
mod ignored;
mod lines;

use std::path::{Path, PathBuf};

/// Crates and modules that turn data into data.
const PURE: [&str; 22] = [
    "crates/bundle",
    "crates/cluster/src/site",
    "crates/cluster/src/slurm/rows.rs",
    "crates/container",
    "crates/document",
    "crates/import/src",
    "crates/mlperf/src",
    "crates/readings",
    "crates/recipe",
    "crates/rocm",
    "crates/stats",
    "crates/telemetry",
    "crates/host/src/model.rs",
    "crates/host/src/assign",
    "crates/host/src/checks",
    "crates/plan",
    "crates/results/src/evidence/tree/accelerators.rs",
    "crates/submission/src/import/readme.rs",
    "crates/submission/src/import/recipe",
    "crates/results/src/verdict",
    "crates/store/src/journal/state.rs",
    "crates/report",
];
const IMPURE: [&str; 9] = [
    "tokio",
    "bollard",
    "reqwest",
    "std::fs",
    "std::net::Tcp",
    "std::net::Udp",
    "std::process::Command",
    "SystemTime::now",
    "Timestamp::now",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn walk(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            walk(&entry.unwrap().path(), found);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        found.push(path.to_owned());
    }
}

/// The files of Rust below a folder, or the one file, without tests (which may read files).
fn rust_files(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    walk(path, &mut found);
    let is_test = |path: &Path| {
        let parts = path.strip_prefix(root()).unwrap().with_extension("");
        parts.iter().any(|part| part.to_string_lossy().ends_with("tests"))
    };
    found.retain(|path| !is_test(path));
    found
}

/// The code below a folder or of a file, without tests and comments.
fn sources(part: &str) -> Vec<(PathBuf, String)> {
    let mut found = rust_files(&root().join(part));
    found.sort();
    assert!(!found.is_empty(), "{part} is not there");
    found
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            let lines = code.lines().map(str::trim_start);
            let code: Vec<&str> = lines.filter(|line| !line.starts_with("//")).collect();
            (path, code.join("\n"))
        })
        .collect()
}

#[test]
fn pure_modules_have_no_side_effects() {
    let mut wrong = Vec::new();
    for part in PURE {
        for (path, code) in sources(part) {
            let words = IMPURE.iter().filter(|word| code.contains(**word));
            wrong.extend(words.map(|word| format!("{}: {word}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The files below some folders whose code contains one of these texts.
fn files_with(folders: &[&str], texts: &[&str]) -> Vec<String> {
    let files = folders.iter().flat_map(|folder| sources(folder));
    let found = files.filter(|(_, code)| texts.iter().any(|text| code.contains(text)));
    found
        .map(|(path, _)| {
            let below = path.strip_prefix(root()).unwrap();
            below.display().to_string()
        })
        .collect()
}

#[test]
fn names_of_a_submission_tree_are_written_once() {
    let names = [
        "\"performance/run_1\"",
        "\"measurements.json\"",
        "\"model_mapping.json\"",
        "/calibration.md",
        ".join(\"results\")",
        ".join(\"systems\")",
        ".join(\"measurements\")",
    ];
    let readers = files_with(&["crates/results", "crates/submission", "src"], &names);
    assert_eq!(readers, ["src/app/export.rs"], "the folder of a run's own results");
}

/// What is prepared was approved: the types of the steps hold it, where only their own files make one.
#[test]
fn runs_are_prepared_by_the_steps_of_their_start() {
    let made = files_with(&["src"], &["PreparedRun {", "ApprovedPlan {"]);
    assert!(made.iter().all(|file| file.starts_with("src/app/launch/")), "{made:?}");
    assert!(!made.is_empty());
}

/// Writing to a string cannot fail; every other result that is dropped has its reason in a comment above it.
#[test]
fn dropped_results_have_a_reason() {
    let mut wrong = Vec::new();
    let files = ["crates", "src"].map(|part| rust_files(&root().join(part)));
    for path in files.concat() {
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let lines: Vec<&str> = code.lines().map(str::trim).collect();
        for (index, line) in lines.iter().enumerate() {
            let Some(dropped) = line.strip_prefix("let _ = ") else {
                continue;
            };
            let is_write = dropped.starts_with("write!(") || dropped.starts_with("writeln!(");
            let is_stderr = dropped.contains("stderr") || dropped.contains("(err,");
            let has_reason = index > 0 && lines[index - 1].starts_with("//");
            if !(has_reason || is_write && !is_stderr) {
                wrong.push(format!("{}:{}: {line}", path.display(), index + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_commands_share_does_not_name_commands() {
    for (path, code) in sources("src/app") {
        assert!(!code.contains("crate::cli"), "{}", path.display());
    }
}

#[test]
fn pure_crates_do_not_depend_on_engine_or_network() {
    for name in [
        "bundle",
        "container",
        "document",
        "import",
        "mlperf",
        "plan",
        "readings",
        "recipe",
        "results",
        "rocm",
        "stats",
        "store",
        "telemetry",
    ] {
        let path = root().join(format!("crates/{name}/Cargo.toml"));
        let manifest = std::fs::read_to_string(&path).unwrap();
        for word in ["tokio", "bollard", "reqwest", "hf-hub", "retrial-engine", "retrial-hub"] {
            assert!(!manifest.contains(word), "{}: {word}", path.display());
        }
    }
}
