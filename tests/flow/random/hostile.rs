//! Containers and archives that do what they can.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use fastrand::Rng;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;
use tar::{Builder, EntryType, Header};

use super::{Tally, ended, recorded};
use crate::lab::{Lab, case, recipe_with};

/// What a step may print.
const PARTS: [&str; 10] = [
    "head -c 300k /dev/urandom",
    "printf '\\033[2J\\033]0;title\\007\\033[31m\\033P'",
    "yes | head -c 3m | tr -d '\\n'",
    "printf '\\r\\r\\b\\b\\a\\v\\f\\0\\0'",
    "printf '\\342\\200\\256\\357\\273\\277\\355\\240\\200'",
    "yes '' | head -n 100000",
    "seq 1 20000 >&2",
    "printf '{\"event\":\"run_ended\"}\\nexit 0\\n'",
    "for i in $(seq 1 300); do printf '%s' x; done",
    "printf 'speed: \\033[1m9e999\\033[0m MB/s\\r\\033[K\\n'",
];

/// What a step may change in the control directory.
const TARGETS: [&str; 9] = [
    ".",
    "steps",
    "steps/03-main-performance",
    "steps/03-main-performance/output.log",
    "steps/03-main-performance/exit",
    "steps/03-main-performance/started",
    "step",
    "init",
    "processes",
];

#[test]
#[ignore = "needs the lab"]
fn hostile_output_of_a_step_does_no_harm() {
    Tally::new("hostile output of a step", 10).run(|chance| {
        let parts: Vec<&str> =
            (0..chance.usize(1..6)).map(|_| PARTS[chance.usize(..PARTS.len())]).collect();
        let lab = Lab::new().measures(&(parts.join("\n") + "\necho"));
        let done = lab.run(&["--verbose"]);
        ended(&done);
        let shown = format!("{}{}", done.out, done.err);
        let is_harmful = |letter: char| {
            letter.is_control() && !matches!(letter, '\n' | '\t') || letter == '\u{202e}'
        };
        assert!(!shown.contains(is_harmful), "{parts:?}");
        let again = lab.retrial(&["judge", "last", "--output", "json"]);
        let again: Value = serde_json::from_str(&again.out).unwrap();
        assert_eq!(again, lab.verdict(), "{parts:?}");
        assert_eq!(lab.containers(), [""; 0]);
        1
    });
}

#[test]
#[ignore = "needs the lab"]
fn a_hostile_control_directory_does_no_harm() {
    Tally::new("hostile changes to a step's control directory", 10).run(|chance| {
        let lab = Lab::new();
        fs::create_dir(lab.path("precious")).unwrap();
        fs::write(lab.path("precious/kept"), "kept").unwrap();
        let precious = lab.path("precious").display().to_string();
        let actions = [
            "rm -rf \"$t\"".to_owned(),
            format!("rm -rf \"$t\"; ln -s {precious}/kept \"$t\""),
            format!("rm -rf \"$t\"; ln -s {precious} \"$t\""),
            "rm -rf \"$t\"; mkfifo \"$t\"".to_owned(),
            "rm -rf \"$t\"; mkdir -p \"$t\"".to_owned(),
            "chmod 0 \"$t\"".to_owned(),
            "truncate -s 300G \"$t\"".to_owned(),
            "head -c 100k /dev/urandom >\"$t\"".to_owned(),
            "mv \"$t\" \"$t.moved\"".to_owned(),
        ];
        let attacks = (0..chance.usize(1..4)).map(|_| {
            let target = TARGETS[chance.usize(..TARGETS.len())];
            format!("t={target}; {}", actions[chance.usize(..actions.len())])
        });
        let attacks = attacks.collect::<Vec<_>>().join("\n");
        // A failed command whose traces are destroyed is no success.
        let commands = format!("set +e; cd /.retrial\n{attacks}\nsleep 0.1; exit 7");
        let lab = lab.recipe(&recipe_with("", &case("main", &commands, "timeout: 30s")));
        let done = lab.run(&[]);
        ended(&done);
        assert_ne!(done.code, Some(0), "{attacks}: {done:?}");
        let kept = fs::read_to_string(lab.path("precious/kept")).unwrap();
        assert_eq!(kept, "kept", "{attacks}");
        assert_eq!(fs::read_dir(lab.path("precious")).unwrap().count(), 1, "{attacks}");
        lab.retrial(&["clean", "--all", "--yes"]);
        let is_running = |container: &String| container.ends_with("running");
        assert!(!lab.containers().iter().any(is_running), "{attacks}");
        1
    });
}

/// An entry that leads elsewhere or claims what it is not.
fn entry(builder: &mut Builder<Vec<u8>>, id: &str, chance: &mut Rng) {
    let names = [
        "../../escaped",
        "/tmp/retrial-escaped",
        "x/../../escaped",
        "verdict.json",
        "results/a\nb",
        "control/x",
        "lock",
    ];
    let kinds = [
        EntryType::Regular,
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Fifo,
        EntryType::Char,
        EntryType::Directory,
        EntryType::GNUSparse,
        EntryType::XHeader,
    ];
    let name = names[chance.usize(..names.len())];
    let name = if name.starts_with('/') { name.to_owned() } else { format!("{id}/{name}") };
    let mut header = Header::new_gnu();
    // The builder refuses such names itself.
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    let target = b"../../../../etc/passwd";
    header.as_old_mut().linkname[..target.len()].copy_from_slice(target);
    header.set_entry_type(kinds[chance.usize(..kinds.len())]);
    header.set_mode(0o7777);
    header.set_size(if chance.bool() { 4 } else { chance.u64(..1 << 40) });
    header.set_cksum();
    builder.append(&header, &b"text"[..]).unwrap();
}

/// An archive of a run that was damaged or forged in one of several ways.
fn damaged(packed: &[u8], id: &str, chance: &mut Rng) -> Vec<u8> {
    let mut bytes = packed.to_vec();
    let flip = |bytes: &mut Vec<u8>, chance: &mut Rng| {
        for _ in 0..chance.usize(1..20) {
            let at = chance.usize(..bytes.len());
            bytes[at] = chance.u8(..);
        }
    };
    if chance.bool() {
        if chance.bool() {
            bytes.truncate(chance.usize(..bytes.len()));
        } else {
            flip(&mut bytes, chance);
        }
        return bytes;
    }
    let mut inner = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut inner).unwrap();
    if chance.bool() {
        flip(&mut inner, chance);
    } else {
        let mut builder = Builder::new(Vec::new());
        let mut archive = tar::Archive::new(&inner[..]);
        for file in archive.entries().unwrap() {
            let file = file.unwrap();
            if chance.u8(..4) == 0 {
                entry(&mut builder, id, chance);
            }
            let header = file.header().clone();
            builder.append(&header, file).unwrap();
        }
        entry(&mut builder, id, chance);
        inner = builder.into_inner().unwrap();
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&inner).unwrap();
    encoder.finish().unwrap()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
#[ignore = "needs the lab"]
fn damaged_and_hostile_archives_are_refused() {
    let lab = Lab::new();
    let lab = lab.measures("echo one; echo two");
    lab.run(&[]).expect_exit(0);
    let (packed, id) = (lab.path("packed.tar.gz"), lab.id());
    lab.retrial(&["runs", "pack", "last", "--to", packed.to_str().unwrap()]).expect_exit(0);
    let packed = fs::read(packed).unwrap();
    Tally::new("damaged and hostile archives", 50).run(|chance| {
        let here = Lab::new();
        let file = here.path("hostile.tar.gz");
        File::create(&file).unwrap().write_all(&damaged(&packed, &id, chance)).unwrap();
        let done = here.retrial(&["runs", "import", file.to_str().unwrap()]);
        ended(&done);
        let runs = names(&here.home_path().join("runs"));
        assert!(runs.iter().all(|run| !run.starts_with('.')), "{runs:?}");
        for run in recorded(&here) {
            for unwanted in ["control", "lock", "host"] {
                assert!(!run.join(unwanted).exists(), "{unwanted}");
            }
            ended(&here.retrial(&["judge", "last"]));
        }
        let around = names(here.path("").as_path());
        assert!(
            around.iter().all(|name| ["home", "cache", "hostile.tar.gz"].contains(&name.as_str())),
            "{around:?}"
        );
        assert!(!Path::new("/tmp/retrial-escaped").exists());
        1
    });
}
