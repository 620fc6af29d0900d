//! Every seed of the fuzz targets goes through its target, without a fuzzer: what fuzzing has found stays found.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "../../fuzz/targets/mod.rs"]
mod targets;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use retrial_bundle::BundleHead;
use retrial_bundle::statement::Statement;
use retrial_store::journal::Event;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

#[test]
fn every_seed_passes() {
    for (name, target) in targets::TARGETS {
        let mut count = 0;
        for seed in fs::read_dir(fuzz().join("seeds").join(name)).unwrap() {
            let path = seed.unwrap().path();
            println!("{}", path.display());
            target(&fs::read(&path).unwrap());
            count += 1;
        }
        assert!(count > 0, "{name} has no seed");
    }
}

#[test]
fn every_target_has_a_program_and_all_seeds_have_a_target() {
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let programs: BTreeSet<&str> = manifest
        .split("[[bin]]\nname = \"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let targets: BTreeSet<&str> = targets::TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(programs, targets);
    let folders = fs::read_dir(fuzz().join("seeds")).unwrap();
    let folders: BTreeSet<String> =
        folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(folders.iter().all(|name| targets.contains(name.as_str())), "{folders:?}");
    targets::run("units", b"s\nms");
}

/// A seed in an old format would be refused at once, and its target would test nothing further.
#[test]
fn seeds_of_formats_that_can_change_are_read() {
    let seed = |path: &str| fs::read(fuzz().join("seeds").join(path)).unwrap();
    let journal = String::from_utf8(seed("journal/started")).unwrap();
    for line in journal.lines() {
        let event: Result<Event, _> = serde_json::from_str(line);
        assert!(event.is_ok(), "{line}: {event:?}");
    }
    let head = BundleHead::read(&mut &seed("bundle/signed")[..]).unwrap();
    Statement::parse(&head.statement, &head.manifest).unwrap();
}
