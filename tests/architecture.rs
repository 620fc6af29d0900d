//! The pure rooms of the crate touch no file, socket or clock, and nobody imports against the
//! direction `cli → runner → {engine, evidence, fetch, host, store, catalog} → {recipe, plan, …}`.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

const PURE: [&str; 11] = [
    "batch",
    "recipe",
    "plan",
    "doctor",
    "logs",
    "verdict",
    "report",
    "journal",
    "rounds",
    "telemetry",
    "history",
];
const IMPURE: [&str; 8] = [
    "tokio",
    "bollard",
    "reqwest",
    "std::fs",
    "std::net",
    "std::process::Command",
    "SystemTime::now",
    "Timestamp::now",
];

fn sources(room: &str) -> Vec<(PathBuf, String)> {
    fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(room),
        &mut found,
    );
    found
        .into_iter()
        // Tests may read files.
        .filter(|path| {
            !path
                .file_stem()
                .is_some_and(|stem| stem.to_string_lossy().ends_with("tests"))
        })
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            let code: Vec<&str> = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
                .collect();
            (path, code.join("\n"))
        })
        .collect()
}

#[test]
fn pure_rooms_touch_nothing_outside() {
    let mut wrong = Vec::new();
    for room in PURE {
        for (path, code) in sources(room) {
            wrong.extend(
                IMPURE
                    .iter()
                    .filter(|word| code.contains(**word))
                    .map(|word| format!("{}: {word}", path.display())),
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn imports_go_one_way() {
    let deeper: [(&str, &[&str]); 5] = [
        ("runner", &["cli"]),
        (
            "engine",
            &["cli", "runner", "store", "evidence", "host", "catalog"],
        ),
        (
            "store",
            &["cli", "runner", "engine", "evidence", "host", "catalog"],
        ),
        (
            "host",
            &["cli", "runner", "engine", "store", "evidence", "catalog"],
        ),
        (
            "catalog",
            &["cli", "runner", "engine", "store", "evidence", "host"],
        ),
    ];
    let every_io = [
        "cli", "runner", "engine", "fetch", "store", "evidence", "host", "catalog",
    ];
    let rules = deeper
        .into_iter()
        .chain(PURE.map(|room| (room, &every_io[..])));
    let mut wrong = Vec::new();
    for (room, forbidden) in rules {
        for (path, code) in sources(room) {
            let hits = forbidden
                .iter()
                .filter(|other| code.contains(&format!("crate::{other}")));
            wrong.extend(hits.map(|other| format!("{}: crate::{other}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
