//! The built-in recipes against the vendor's guides: what their shell plans do is what the guides
//! print, flag for flag and command for command (`tests/fixtures/guides`).
//!
//! The scripts are not read but run (`recorder`).
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use rstest::rstest;

mod nodes;
mod pasted;
mod recorder;
mod table;
mod training;
use recorder::Recorder;
use table::{GUIDES, Guide};

const V6: &str = "mlperf-inference/v6.0/amd";

/// The commands that the shell plan of a recipe gives to `docker` and `hf`. Paths of the host, `/of/…`, are there.
fn recorded(recipe: &str, settings: &[&str]) -> Vec<Vec<String>> {
    let recorder = Recorder::new();
    let mut arguments = vec![recipe.to_owned()];
    for setting in settings {
        let (name, value) = setting.split_once('=').unwrap();
        let value = if value.starts_with('/') {
            let there = format!("{}{value}", recorder.path().display());
            fs::create_dir_all(&there).unwrap();
            there
        } else {
            value.to_owned()
        };
        arguments.push(format!("--set={name}={value}"));
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ran = recorder.run(&arguments);
    let problems = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{problems}");
    recorder.commands()
}

/// A command of the guide: its kind, and its words.
fn guide(name: &str) -> Vec<(String, Vec<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/guides").join(name);
    let text = fs::read_to_string(path).unwrap();
    let blocks = text.split("== ").skip(1).map(|block| {
        let (kind, command) = block.split_once('\n').unwrap();
        (kind.to_owned(), words(command))
    });
    blocks.collect()
}

/// Words, without the backslashes that continue a line.
fn words(command: &str) -> Vec<String> {
    command.split_whitespace().filter(|word| *word != "\\").map(str::to_owned).collect()
}

fn is_part(whole: &[String], part: &[String]) -> bool {
    whole.windows(part.len()).any(|window| window == part)
}

/// Makes a populated directory readable for all users: ours, in addition to the guide.
fn is_rights(command: &[String]) -> bool {
    command.iter().any(|word| word == "chmod")
}

/// The flags of a `docker run` in one spelling, `name=value`, and the image.
fn flags(command: &[String]) -> (BTreeSet<String>, String) {
    const ALONE: [&str; 5] = ["-it", "-d", "--rm", "--privileged", "--init"];
    let mut flags = BTreeSet::new();
    let mut rest = command[2..].iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            return (flags, word.clone());
        }
        let (name, value) = match word.split_once('=') {
            _ if ALONE.contains(&word.as_str()) => (word.as_str(), ""),
            Some((name, value)) => (name, value),
            None => (word.as_str(), rest.next().unwrap().as_str()),
        };
        let name = match name {
            "-v" => "--volume",
            "-e" => "--env",
            "-w" => "--workdir",
            name => name,
        };
        let value = match name {
            "--cap-add" => value.trim_start_matches("CAP_"),
            _ => value,
        };
        flags.insert(format!("{name}={value}"));
    }
    panic!("no image in {command:?}");
}

/// A guide's flag as ours on this machine; none where it has no meaning for us.
fn ours(flag: &str) -> Option<String> {
    // Ours runs in the background, is removed by a step of its own, has a name and an entrypoint of its
    // own, and what a guide downloads into ./model and ./data lies in the caches.
    let dropped = ["--name=", "--entrypoint=", "--volume=$(pwd)/"];
    if ["-it=", "--rm="].contains(&flag) || dropped.iter().any(|start| flag.starts_with(start)) {
        return None;
    }
    let places = [
        ("${LAB_MODEL}", "/of/model"),
        ("${LAB_DATASET}", "/of/open_orca"),
        ("${LAB_HIST}", "/of/hist"),
        ("`pwd`/SDXL_inference/", "/of/harness"),
        ("./mlperf_outputs", "/of/outputs"),
    ];
    let place = |flag: String, (theirs, ours): &(&str, &str)| flag.replace(theirs, ours);
    Some(places.iter().fold(flag.to_owned(), place))
}

/// A `docker exec`: its flags, and the words of its command.
struct Exec {
    flags: Vec<String>,
    words: Vec<String>,
}

impl Exec {
    /// Whether a command of the guide is part of it; what a guide writes before a command (`BATCH=64 bash …`) may
    /// be a variable of the exec.
    fn runs(&self, command: &[String]) -> bool {
        let is_assignment = |word: &&String| {
            let name = word.split_once('=').map(|(name, _)| name);
            name.is_some_and(|name| {
                name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
            })
        };
        let set = command.iter().take_while(is_assignment).count();
        is_part(&self.words, command)
            || (command[..set].iter().all(|word| self.flags.contains(word))
                && is_part(&self.words, &command[set..]))
    }
}

#[rstest]
fn plans_match_guides_flag_for_flag(#[values("v4.1", "v5.0", "v5.1", "v6.0", "v6.1")] round: &str) {
    for row in GUIDES.iter().filter(|row| row.recipe.starts_with(round)) {
        holds(row);
    }
}

fn holds(row: &Guide) {
    let recipe = row.recipe;
    let commands = recorded(&format!("mlperf-inference/{recipe}"), row.settings);
    let starting_with = |first: &str, second: &str| -> Vec<&Vec<String>> {
        let both = [first.to_owned(), second.to_owned()];
        let fits = |command: &&Vec<String>| command.starts_with(&both);
        commands.iter().filter(fits).collect()
    };
    let exec = |command: &&Vec<String>| Exec {
        flags: command[2..command.len() - 1].to_vec(),
        words: words(command.last().unwrap()),
    };
    let execs = starting_with("docker", "exec").into_iter();
    let execs: Vec<Exec> = execs.filter(|run| !is_rights(run)).map(|run| exec(&run)).collect();
    let mut used = BTreeSet::new();
    let mut reached = 0;
    for (kind, command) in guide(row.commands) {
        match kind.as_str() {
            "pull" => assert_eq!(*starting_with("docker", "pull")[0], command),
            "host" => assert!(commands.contains(&command), "{recipe}: {command:?}"),
            "run" => {
                let name = row.recipe.rsplit('/').next().unwrap();
                let runs = starting_with("docker", "run").into_iter();
                // Others copy and populate cached directories.
                let mut measuring = runs.filter(|run| run.iter().any(|word| word == name));
                holds_run(row, measuring.next().unwrap(), &command);
                assert!(measuring.next().is_none(), "{recipe}: one container measures");
            }
            "model" => {
                let fetched = starting_with("hf", "download")[0];
                let named = command.iter().find(|word| word.ends_with(&fetched[2]));
                assert!(named.is_some(), "{fetched:?} is not of {command:?}");
                let name = row.recipe.rsplit('/').next().unwrap();
                let measuring = starting_with("docker", "run").into_iter();
                let mut measuring = measuring.filter(|run| run.iter().any(|word| word == name));
                holds_model(measuring.next().unwrap(), fetched, &command);
            }
            "exec" => {
                let at = execs[reached..].iter().position(|exec| exec.runs(&command));
                let Some(at) = at else {
                    // Preparations that the guide repeats before each command.
                    let is_run = execs.iter().any(|exec| exec.runs(&command));
                    assert!(is_run, "{recipe}: nothing runs {}", command.join(" "));
                    panic!("{recipe}: out of order: {}", command.join(" "));
                };
                reached += at;
                used.insert(reached);
            }
            kind => assert!(kind.starts_with("not run: "), "{kind}"),
        }
    }
    for (number, exec) in execs.iter().enumerate() {
        let exec = exec.words.join(" ");
        let is_run =
            used.contains(&number) || row.added.iter().any(|prefix| exec.starts_with(prefix));
        assert!(is_run, "{recipe} runs what the guide does not: {exec}");
    }
}

/// The container has the model where the guide puts it, or as the hub's cache.
fn holds_model(run: &[String], fetched: &[String], guides: &[String]) {
    let mount_of = |place: &str| {
        let volumes = run.iter().filter_map(|word| word.strip_prefix("--volume="));
        let mut mounts = volumes.filter_map(|volume| volume.strip_prefix(place));
        mounts.next().unwrap().trim_end_matches(":ro").to_owned()
    };
    let [.., how, place] = fetched else {
        panic!("{fetched:?}");
    };
    match how.as_str() {
        "--local-dir" => {
            let mount = mount_of(&format!("{place}:"));
            let target = guides.iter().find(|word| word.starts_with('/'));
            let target = target.map(|target| target.trim_end_matches('/'));
            assert!(target.is_none_or(|target| target == mount), "{mount}");
        }
        "--cache-dir" => {
            let mount = mount_of(&format!("{place}/"));
            let (part, mounted) = mount.split_once(':').unwrap();
            assert_eq!(mounted, format!("/hub-cache/{part}"));
            assert!(run.contains(&"--env=HF_HUB_CACHE=/hub-cache".to_owned()));
        }
        other => panic!("{other} in {fetched:?}"),
    }
}

/// The container has the guide's flags and image, and otherwise only the table's flags.
fn holds_run(row: &Guide, ours_run: &[String], guides: &[String]) {
    let (expected, image) = flags(guides);
    let (mut actual, ran) = flags(ours_run);
    assert_eq!(ran, image);
    for flag in expected.iter().filter_map(|flag| ours(flag)) {
        assert!(actual.remove(&flag), "{}: no {flag} in {actual:?}", row.recipe);
    }
    // What is left is ours: what is kept of datasets and models, a first process that waits, and
    // Python's output line by line.
    let is_kept = |flag: &str| flag.contains("/cache/") || flag.contains("/cached/");
    actual.retain(|flag| !is_kept(flag) && !flag.starts_with("--env=HF_HUB_"));
    let name = row.recipe.rsplit('/').next().unwrap();
    let name = format!("--name={name}");
    let mut left: BTreeSet<String> =
        ["--entrypoint=/bin/sh", "--env=PYTHONUNBUFFERED=1", "-d=", "--pull=never", &name]
            .map(str::to_owned)
            .into();
    left.extend(row.flags.iter().map(|flag| (*flag).to_owned()));
    assert_eq!(actual, left, "{}", row.recipe);
}

/// Nobody adds a recipe of a guide without the guide's commands.
#[test]
fn every_recipe_has_its_guide() {
    let list = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["list", "--output", "json"])
        .output()
        .unwrap();
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    let mut checked = 0;
    for recipe in list.as_array().unwrap() {
        let name = recipe["name"].as_str().unwrap();
        if let Some(name) = name.strip_prefix("mlperf-inference/v") {
            let is_listed = GUIDES.iter().any(|row| row.recipe.strip_prefix('v') == Some(name))
                || nodes::NODES.iter().any(|(recipe, _)| recipe.strip_prefix('v') == Some(name));
            assert!(is_listed, "{name}: name its guide in tests/recipes/guides/table.rs");
            checked += 1;
        }
    }
    assert!(checked > 10, "{list}");
}

/// The two differences inside of commands, so that nobody adds a third unseen.
#[test]
fn gpt_oss_has_three_known_differences() {
    let commands = recorded(&format!("{V6}/gpt-oss-120b-mi355x"), &[]);
    let guide: Vec<Vec<String>> =
        guide("gpt-oss-120b-v6.0").into_iter().map(|(_, command)| command).collect();
    let differing: Vec<String> = commands
        .iter()
        .filter(|command| command[1] == "exec" && !is_rights(command))
        .map(|command| words(command.last().unwrap()))
        .filter(|exec| !guide.contains(exec))
        .map(|exec| {
            let printed = guide.iter().find(|command| exec.starts_with(command)).unwrap();
            exec[printed.len()..].join(" ")
        })
        .collect();
    assert_eq!(differing.len(), 3);
    assert!(differing[0].starts_with("link() {"), "{}", differing[0]);
    assert_eq!(differing[1..], ["vllm_sampling_config.max_tokens=32768"; 2]);
}

#[rstest]
#[case(&[], "./run_scenarios.sh Offline", true, true)]
#[case(&["vbench=skip"], "./run_scenarios.sh Offline --skip-vbench", false, true)]
#[case(&["compliance=skip"], "./run_scenarios.sh Offline --skip-compliance", true, false)]
#[case(&["vbench=skip", "compliance=skip"], "./run_scenarios.sh Offline --skip-vbench --skip-compliance", false, false)]
fn wan_omits_skipped_measurements(
    #[case] settings: &[&str],
    #[case] command: &str,
    #[case] accuracy: bool,
    #[case] compliance: bool,
) {
    let settings = [settings, &["outputs=/of/outputs"]].concat();
    let commands = recorded(&format!("{V6}/wan2.2-t2v-a14b-mi355x"), &settings);
    let text = commands.iter().map(|command| words(&command.join(" ")).join(" "));
    let text: Vec<String> = text.collect();
    assert!(text.iter().any(|line| line.ends_with(command)), "{text:#?}");
    let collected = |part: &str| text.iter().any(|line| line.contains(part));
    assert_eq!(collected("Offline/accuracy/."), accuracy);
    assert_eq!(collected("Offline/TEST04"), compliance);
    assert!(collected("Offline/performance/run_1/."));
}
