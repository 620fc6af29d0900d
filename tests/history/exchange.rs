//! Runs between machines: packed runs are imported unchanged, hostile archives are refused.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tar::{Builder, EntryType, Header};

use super::{Scene, ids};

fn json(path: PathBuf) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Without the warning that says that a run was imported.
fn unmarked(mut verdict: Value) -> Value {
    let warnings = verdict["warnings"].take();
    let warnings = warnings.as_array().unwrap();
    assert!(warnings[0].as_str().unwrap().starts_with("imported from mi355x-a"));
    verdict.as_object_mut().unwrap().remove("warnings");
    verdict
}

#[test]
fn an_imported_run_has_the_same_verdict() {
    let (there, here) = (Scene::new(0..6), Scene::new(0..0));
    let archive = there.home().join("some.tar.gz");
    let path = archive.display().to_string();
    let output = there.retrial(&["runs", "pack", "--recipe", "llama2", "--to", &path]);
    assert_eq!(output.code, 0, "{}", output.err);
    let output = here.retrial(&["runs", "import", &path]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(output.out.contains("imported from mi355x-a"), "{}", output.out);
    assert_eq!(here.listed(&[]), ids(0..6));
    for number in 0..6 {
        let output = here.retrial(&["judge", &ids([number])[0], "--output", "json"]);
        let again: Value = serde_json::from_str(&output.out).unwrap();
        assert_eq!(again, json(here.run(number).join("verdict.json")));
        assert_eq!(unmarked(again), json(there.run(number).join("verdict.json")));
        assert!(!here.run(number).join("lock").exists(), "what is its machine's stays there");
    }
    let output = here.retrial(&["runs", "-n", "1", "--output", "json"]);
    let rows: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(rows[0]["imported_from"], "mi355x-a");
    // Once more, and back to where they came from: they are there already.
    for scene in [&here, &there] {
        let output = scene.retrial(&["runs", "import", &path]);
        assert_eq!(output.code, 0, "{}", output.err);
        assert_eq!(output.out.matches("already imported").count(), 6, "{}", output.out);
    }
    let output = there.retrial(&["runs", "pack", "last", "--to", &path]);
    assert!(output.code != 0 && output.err.contains("already exists"), "{}", output.err);
}

/// No user of this machine approved its privileges.
#[test]
fn an_imported_run_cannot_be_resumed() {
    let (there, here) = (Scene::new(0..1), Scene::new(0..0));
    let journal = fs::read_to_string(there.run(0).join("journal.jsonl")).unwrap();
    let open: Vec<&str> = journal
        .lines()
        .filter(|line| !line.contains("run_ended") && !line.contains("container_removed"))
        .collect();
    fs::write(there.run(0).join("journal.jsonl"), open.join("\n") + "\n").unwrap();
    // Somebody's own mark takes nothing away.
    fs::write(there.run(0).join("imported.json"), "{}").unwrap();
    let output = here.retrial(&["runs", "import", &there.run(0).display().to_string()]);
    assert_eq!(output.code, 0, "{}", output.err);
    for command in ["resume", "stop", "shell"] {
        let output = here.retrial(&[command, "last"]);
        assert_eq!(output.code, 2, "{command}: {}", output.err);
        assert!(output.err.contains("was imported from mi355x-a"), "{}", output.err);
    }
    let output = here.retrial(&["runs", "remove", "--yes", "last"]);
    assert_eq!(output.code, 0, "its container is not here: {}", output.err);
}

#[test]
fn directories_are_imported_and_name_conflicts_refused() {
    let (there, here) = (Scene::new(0..1), Scene::new(0..0));
    let path = there.run(0).display().to_string();
    let output = here.retrial(&["runs", "import", &path]);
    assert_eq!(output.code, 0, "{}", output.err);
    let same = |name: &str| {
        fs::read(there.run(0).join(name)).unwrap() == fs::read(here.run(0).join(name)).unwrap()
    };
    assert!(same("journal.jsonl") && same("telemetry.csv"));
    let mut journal =
        File::options().append(true).open(there.run(0).join("journal.jsonl")).unwrap();
    writeln!(journal, "{{}}").unwrap();
    let output = here.retrial(&["runs", "import", &path]);
    assert_eq!(output.code, 2);
    assert!(output.err.contains("a different run of this name"), "{}", output.err);
    assert!(!same("journal.jsonl"));
}

#[test]
fn every_refused_entry_is_listed_with_its_own_remedy() {
    let (there, here) = (Scene::new(0..1), Scene::new(0..0));
    let run = there.run(0);
    let imported = here.retrial(&["runs", "import", &run.display().to_string()]);
    assert_eq!(imported.code, 0, "{}", imported.err);
    let mut journal = File::options().append(true).open(run.join("journal.jsonl")).unwrap();
    writeln!(journal, "{{}}").unwrap();
    let path = there.home().join("two.tar");
    let mut builder = Builder::new(File::create(&path).unwrap());
    let id = &ids([0])[0];
    builder.append_dir_all("no run", &run).unwrap();
    builder.append_dir_all(id, &run).unwrap();
    builder.finish().unwrap();
    let path = path.to_str().unwrap();
    let output = here.retrial(&["runs", "import", path, "--output", "json"]);
    assert_eq!(output.code, 2);
    let report: Value = serde_json::from_str(&output.out).unwrap();
    let [taken, unnamed] = &report["refused"].as_array().unwrap()[..] else { panic!("{report:#}") };
    let message = |error: &Value| error["message"].as_str().unwrap().to_owned();
    let lead = format!("{path}: {id}: a different run of this name");
    assert!(message(taken).starts_with(&lead), "{report:#}");
    assert_eq!(taken["help"], serde_json::json!(["move it away first"]));
    assert!(message(unnamed).ends_with("that is not the name of a run"));
    let lines: Vec<&str> = output.err.lines().collect();
    let expected = [
        format!("not imported: {}", message(taken)),
        "help: move it away first".to_owned(),
        format!("not imported: {}", message(unnamed)),
    ];
    assert_eq!(lines, expected);
}

/// A run's own files, and entries that a test adds to them.
struct Archive {
    builder: Builder<File>,
    id: String,
}

impl Archive {
    fn new(run: &Path, to: &Path) -> Self {
        let mut builder = Builder::new(File::create(to).unwrap());
        let id = run.file_name().unwrap().to_str().unwrap().to_owned();
        builder.append_dir_all(&id, run).unwrap();
        Self { builder, id }
    }

    /// Written raw: the crate itself refuses to write such names.
    fn add(&mut self, name: &str, kind: EntryType, link: &str, content: &[u8]) {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(0o4777);
        header.set_size(content.len() as u64);
        if !link.is_empty() {
            header.set_link_name(link).unwrap();
        }
        header.set_cksum();
        self.builder.append(&header, content).unwrap();
    }
}

#[test]
fn a_hostile_archive_imports_only_its_run() {
    let (there, here) = (Scene::new(0..1), Scene::new(0..0));
    let path = there.home().join("hostile.tar");
    let outside = tempfile::tempdir().unwrap();
    let precious = outside.path().join("precious");
    fs::write(&precious, "kept").unwrap();
    let mut archive = Archive::new(&there.run(0), &path);
    let id = archive.id.clone();
    archive.add(&format!("{id}/../../../escaped"), EntryType::Regular, "", b"out");
    archive.add("/tmp/retrial-history-absolute", EntryType::Regular, "", b"out");
    archive.add(
        &format!("{id}/steps/link"),
        EntryType::Symlink,
        outside.path().to_str().unwrap(),
        b"",
    );
    archive.add(&format!("{id}/steps/link/precious"), EntryType::Regular, "", b"gone");
    archive.add(&format!("{id}/hard"), EntryType::Link, precious.to_str().unwrap(), b"");
    archive.add(&format!("{id}/null"), EntryType::Char, "", b"");
    archive.add(&format!("{id}/pipe"), EntryType::Fifo, "", b"");
    archive.add(".arriving-1/plan.json", EntryType::Regular, "", b"{}");
    archive.add("index.sqlite", EntryType::Regular, "", b"{}");
    archive.builder.finish().unwrap();
    let output = here.retrial(&["runs", "import", path.to_str().unwrap()]);
    assert!(output.out.contains("imported from mi355x-a"), "{output:?}");
    assert_eq!(output.code, 2, "what is no run is told");
    assert_eq!(output.err.matches("a link").count(), 2, "{}", output.err);
    assert_eq!(here.listed(&[]), ids([0]));
    assert_eq!(fs::read_to_string(&precious).unwrap(), "kept");
    assert!(!Path::new("/tmp/retrial-history-absolute").exists());
    assert!(!here.home().join("escaped").exists());
    for name in ["hard", "null", "pipe"] {
        assert!(!here.run(0).join(name).exists(), "{name}");
    }
    let runs: Vec<_> = fs::read_dir(here.home().join("runs")).unwrap().collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    let judged = here.retrial(&["judge", "last", "--output", "json"]);
    let judged: Value = serde_json::from_str(&judged.out).unwrap();
    assert_eq!(unmarked(judged), json(there.run(0).join("verdict.json")));
}

#[test]
fn a_forged_verdict_is_not_imported() {
    let (there, here) = (Scene::new(0..1), Scene::new(0..0));
    let run = there.run(0);
    let mut verdict = json(run.join("verdict.json"));
    let honest = verdict["outcome"].clone();
    let forged = ["reproduced", "failed"].map(Value::from);
    let forged = forged.into_iter().find(|outcome| *outcome != honest).unwrap();
    verdict["outcome"] = forged.clone();
    verdict["results"][0]["ratio"] = 100.into();
    fs::write(run.join("verdict.json"), verdict.to_string()).unwrap();
    fs::create_dir_all(run.join("control/bin")).unwrap();
    fs::create_dir_all(run.join("host")).unwrap();
    for name in ["control/bin/step", "host/file", "lock"] {
        fs::write(run.join(name), "1").unwrap();
    }
    let path = there.home().join("forged.tar");
    let mut builder = Builder::new(File::create(&path).unwrap());
    builder.append_dir_all(ids([0])[0].clone(), &run).unwrap();
    builder.finish().unwrap();
    let output = here.retrial(&["runs", "import", path.to_str().unwrap()]);
    assert_eq!(output.code, 0, "{}", output.err);
    let mismatch = format!("its verdict.json has {}", forged.as_str().unwrap());
    assert!(output.err.contains(&mismatch), "{}", output.err);
    for name in ["control", "host", "lock"] {
        assert!(output.err.contains(&format!("/{name}: ")), "{}", output.err);
        assert!(!here.run(0).join(name).exists(), "{name}");
    }
    let output = here.retrial(&["runs", "--output", "json"]);
    let rows: Value = serde_json::from_str(&output.out).unwrap();
    assert_eq!(rows[0]["outcome"], honest);
    assert_ne!(rows[0]["deciding"]["ratio"], 100);
    let listed = here.retrial(&["runs"]);
    assert!(listed.out.contains("imported)"), "{}", listed.out);
}

#[test]
fn invalid_archives_are_refused_without_leftovers() {
    let (there, here) = (Scene::new(0..1), Scene::new(0..0));
    let path = there.home().join("archive");
    let bundle = path.to_str().unwrap();
    let refused = |reason: &str| {
        let output = here.retrial(&["runs", "import", bundle]);
        assert_eq!(output.code, 2, "{}", output.err);
        assert!(output.err.contains(reason), "{}", output.err);
        let left = fs::read_dir(here.home().join("runs")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{reason}");
    };
    fs::write(&path, "no archive at all\u{1b}[31m").unwrap();
    refused("not an archive of runs");

    let mut packed = Vec::new();
    let mut builder = Builder::new(GzEncoder::new(&mut packed, Compression::fast()));
    builder.append_dir_all(ids([0])[0].clone(), there.run(0)).unwrap();
    builder.into_inner().unwrap().finish().unwrap();
    fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    refused("truncated");

    // Another run's journal under this name, and a name that is an option.
    for name in ["20260401-000000-other-0000", "-rf", "name with spaces"] {
        let mut builder = Builder::new(File::create(&path).unwrap());
        builder.append_dir_all(name, there.run(0)).unwrap();
        builder.finish().unwrap();
        refused(if name.starts_with("2026") {
            "not a run of this name"
        } else {
            "not the name of a run"
        });
    }
    fs::write(&path, "").unwrap();
    refused("no run");
    assert!(here.retrial(&["runs", "import", "/etc"]).err.contains("it is not a run"));
}
