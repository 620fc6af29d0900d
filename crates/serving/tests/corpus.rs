//! Real outputs of the six clients, clean and with faults that their servers had.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use retrial_serving::{Client, LoadCheck, LoadOutcome, LoadRule};

/// The faults of the servers, each with the rules of which one must be broken.
const FAULTS: [(&str, &[LoadRule]); 7] = [
    ("http500", &[LoadRule::Answered]),
    ("inband-error", &[LoadRule::Answered]),
    ("chatinband", &[LoadRule::Answered]),
    ("all-fail", &[LoadRule::Answered]),
    ("dead-port", &[LoadRule::Answered]),
    ("zero-tokens", &[LoadRule::Answered, LoadRule::Length, LoadRule::Tokens]),
    ("slow-first8", &[LoadRule::Warm]),
];
const CLEAN: [&str; 5] = ["c1", "c4", "c16", "chat4", "sweep"];

/// The outputs of a client, each with the name of its case.
fn outputs(client: Client, clients: &Path) -> Vec<(String, PathBuf)> {
    let (begin, end) = client.output_file().split_once('*').unwrap_or(("", client.output_file()));
    let entries = fs::read_dir(clients.join(client.word())).unwrap();
    let files = entries.map(|entry| entry.unwrap().path()).flat_map(|path| {
        let case = path.file_stem().unwrap().to_string_lossy().into_owned();
        let files = match fs::read_dir(&path) {
            Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
            Err(_) => vec![path],
        };
        files.into_iter().map(move |file| (case.clone(), file))
    });
    // `agg_…` is what InferenceX makes of an output.
    let is_output = |(case, file): &(String, PathBuf)| {
        let name = file.file_name().unwrap().to_string_lossy();
        name.starts_with(begin) && name.ends_with(end) && !case.starts_with("agg_")
    };
    files.filter(is_output).collect()
}

#[test]
fn faults_are_found_and_clean_loads_are_valid() {
    let corpus =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/serving.tar.xz");
    if !corpus.is_file() {
        eprintln!("skipped: {} is absent", corpus.display());
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let tar = Command::new("tar").arg("-xJf").arg(&corpus).arg("-C").arg(directory.path()).status();
    assert!(tar.unwrap().success());
    let clients = directory.path().join("serving/clients");
    let mut seen = BTreeSet::new();
    for client in Client::ALL {
        for (case, path) in outputs(client, &clients) {
            let name = format!("{}/{case}", client.word());
            let loads = client.read_loads(&fs::read_to_string(&path).unwrap()).unwrap();
            assert!(!loads.is_empty(), "{name}");
            for load in loads {
                let mut broken = load.check(None);
                broken.retain(|check| check.outcome != LoadOutcome::Kept);
                let is_violated = |check: &&LoadCheck| check.outcome == LoadOutcome::Violated;
                let violated = || broken.iter().filter(is_violated);
                if CLEAN.contains(&&*case) {
                    assert_eq!(violated().count(), 0, "{name}: {broken:?}");
                } else if let Some((_, rules)) = FAULTS.iter().find(|(fault, _)| *fault == case) {
                    assert!(
                        violated().any(|fault| rules.contains(&fault.rule)),
                        "{name}: {broken:?}"
                    );
                } else {
                    // Four tokens in a chunk, which the server does not count: guidellm states neither.
                    assert_eq!(case, "no-usage-chunk4", "{name}");
                    assert!(!broken.is_empty() || client == Client::Guidellm, "{name}");
                }
            }
            seen.insert(name);
        }
    }
    assert_eq!(seen.len(), 50, "{seen:#?}");
}
