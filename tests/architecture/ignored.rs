//! Tests that are ignored by default: `make test` runs those whose needs are met, by the filter of `tests/lab/runnable`,
//! which reads a reason and the name of the function on the line below it.

use std::path::PathBuf;
use std::process::Command;

use crate::{root, walk};

fn all_sources() -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    for part in ["crates", "src", "tests"] {
        walk(&root().join(part), &mut paths);
    }
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// The function's name on a line that begins one.
fn function_name(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let is_function = matches!(before.trim(), "" | "async" | "pub" | "pub async");
    let (name, _) = rest.split_once(['(', '<'])?;
    is_function.then_some(name)
}

#[test]
fn a_reason_stands_above_its_function() {
    let mut ignored = 0;
    for (path, text) in all_sources() {
        for (line, next) in text.lines().zip(text.lines().skip(1)) {
            if line.trim().starts_with("#[ignore") {
                let is_read = line.trim().starts_with("#[ignore = \"");
                let place = path.display();
                assert!(is_read && function_name(next).is_some(), "{place}: {next}");
                ignored += 1;
            }
        }
    }
    assert!(ignored > 300, "{ignored}");
}

#[test]
fn all_needs_are_known_to_the_lab() {
    let filter = Command::new(root().join("tests/lab/runnable")).output();
    let filter = filter.unwrap();
    let problem = String::from_utf8_lossy(&filter.stderr);
    assert!(filter.status.success(), "{problem}");
    let filter = String::from_utf8(filter.stdout).unwrap();
    assert!(filter.contains("|tests::(tests::)?play_on_the_terminal"), "{filter}");
}
