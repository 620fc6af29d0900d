//! The built-in recipes against the vendor's guides: what their shell plans do is what the guides
//! print, flag for flag and command for command (`tests/fixtures/guides`).
//!
//! The scripts are not read but run, by a real shell, with a `docker` that writes down what it is
//! given: so a mistake in quoting shows.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use rstest::rstest;

const V6: &str = "mlperf-inference/v6.0/amd";
const V4: &str = "mlperf-inference/v4.1/amd";

/// Writes its arguments down. No image is there yet, and a result is wherever it is looked for.
const RECORDER: &str = r#"#!/bin/sh
{ printf '%s\0' "$(basename "$0")" "$@"; printf '\n\0'; } >>"$RECORD"
case "$1 $2" in "image inspect") exit 1 ;; esac
"#;

/// The commands that the shell plan of a recipe gives to `docker` and `hf`.
fn recorded(recipe: &str, settings: &[&str]) -> Vec<Vec<String>> {
    let directory = tempfile::tempdir().unwrap();
    let mut plan = Command::new(env!("CARGO_BIN_EXE_retrial"));
    plan.args(["plan", recipe, "--format", "shell"]);
    plan.args(settings.iter().flat_map(|setting| ["--set", setting]));
    plan.env("RETRIAL_HOME", "/home/of/retrial");
    let plan = plan.output().unwrap();
    let problems = String::from_utf8_lossy(&plan.stderr);
    assert!(plan.status.success(), "{problems}");
    fs::write(directory.path().join("plan.sh"), plan.stdout).unwrap();

    let bin = directory.path().join("bin");
    fs::create_dir(&bin).unwrap();
    for program in ["docker", "hf"] {
        fs::write(bin.join(program), RECORDER).unwrap();
        fs::set_permissions(bin.join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let record = directory.path().join("record");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut script = Command::new("sh");
    script.arg("plan.sh").current_dir(&directory);
    script.env("PATH", path).env("RECORD", &record);
    let ran = script.output().unwrap();
    let problems = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{problems}");

    let text = fs::read_to_string(&record).unwrap();
    let mut commands = vec![Vec::new()];
    for word in text.split_terminator('\0') {
        match word {
            "\n" => commands.push(Vec::new()),
            word => commands.last_mut().unwrap().push(word.to_owned()),
        }
    }
    commands.retain(|command| !command.is_empty());
    commands
}

/// A command of the guide: its kind, and its words.
fn guide(name: &str) -> Vec<(String, Vec<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/guides")
        .join(name);
    let text = fs::read_to_string(path).unwrap();
    let blocks = text.split("== ").skip(1).map(|block| {
        let (kind, command) = block.split_once('\n').unwrap();
        (kind.to_owned(), words(command))
    });
    blocks.collect()
}

/// Words, without the backslashes that continue a line.
fn words(command: &str) -> Vec<String> {
    command
        .split_whitespace()
        .filter(|word| *word != "\\")
        .map(str::to_owned)
        .collect()
}

fn is_part(whole: &[String], part: &[String]) -> bool {
    whole.windows(part.len()).any(|window| window == part)
}

/// The flags of a `docker run` in one spelling, `name=value`, and the image.
fn flags(command: &[String]) -> (BTreeSet<String>, String) {
    const ALONE: [&str; 5] = ["-it", "-d", "--rm", "--privileged", "--init"];
    let mut found = BTreeSet::new();
    let mut rest = command[2..].iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            return (found, word.clone());
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
            "--shm-size" if value == "128G" => "137438953472",
            _ => value,
        };
        found.insert(format!("{name}={value}"));
    }
    panic!("no image in {command:?}");
}

/// What becomes of a flag of the guide on this machine; none where it has no meaning for us.
fn ours(flag: &str) -> Option<String> {
    // Ours runs in the background, is removed by a step of its own, and has a name of its own.
    if ["-it=", "--rm="].contains(&flag) || flag.starts_with("--name=") {
        return None;
    }
    let flag = flag
        .replace("${LAB_MODEL}", "/of/model")
        .replace("${LAB_DATASET}", "/of/open_orca");
    Some(flag.replace("${LAB_HIST}", "/of/hist"))
}

const LAB: [&str; 3] = ["model=/of/model", "dataset=/of/open_orca", "hist=/of/hist"];

#[rstest]
#[case(V6, "llama2-70b-mi355x", "llama2-70b-v6.0", &[], &[])]
#[case(V6, "gpt-oss-120b-mi355x", "gpt-oss-120b-v6.0", &[], &[])]
#[case(V6, "wan2.2-t2v-a14b-mi355x", "wan2.2-v6.0", &["outputs=/of/outputs"], &["cat outputs/compliance"])]
#[case(V4, "llama2-70b-mi300x", "llama2-70b-v4.1", &LAB, &["ls -d /lab-hist"])]
fn the_guide_flag_for_flag_and_command_for_command(
    #[case] round: &str,
    #[case] recipe: &str,
    #[case] fixture: &str,
    #[case] settings: &[&str],
    #[case] added: &[&str],
) {
    let commands = recorded(&format!("{round}/{recipe}"), settings);
    let of = |first: &str, second: &str| -> Vec<&Vec<String>> {
        let fits = |command: &&Vec<String>| command[0] == first && command[1] == second;
        commands.iter().filter(fits).collect()
    };
    let execs: Vec<Vec<String>> = of("docker", "exec")
        .iter()
        .map(|command| words(command.last().unwrap()))
        .collect();
    let mut used = BTreeSet::new();
    let mut reached = 0;
    for (kind, command) in guide(fixture) {
        match kind.as_str() {
            "pull" => assert_eq!(*of("docker", "pull")[0], command),
            "run" => {
                let (asked, image) = flags(&command);
                let (given, ran) = flags(of("docker", "run")[0]);
                assert_eq!(ran, image);
                let asked: BTreeSet<String> = asked.iter().filter_map(|flag| ours(flag)).collect();
                let asked = asked
                    .into_iter()
                    .map(|flag| flag.replace("./mlperf_outputs", "/of/outputs"));
                let mut given = given;
                // The model, which the guide downloads in the container.
                given.retain(|flag| !(flag.starts_with("--volume=") && flag.contains("/models/")));
                for flag in asked {
                    assert!(given.remove(&flag), "{recipe}: no {flag} in {given:?}");
                }
                // What is left is ours: a first process that waits, and Python's output line by line.
                let name = format!("--name={recipe}");
                let left = [
                    "--entrypoint=/bin/sh",
                    "--env=PYTHONUNBUFFERED=1",
                    name.as_str(),
                    "-d=",
                ];
                assert_eq!(given, left.map(str::to_owned).into());
            }
            "model" => {
                let fetched = of("hf", "download")[0];
                let named = command.iter().find(|word| word.ends_with(&fetched[2]));
                assert!(named.is_some(), "{fetched:?} is not of {command:?}");
                let place = fetched
                    .iter()
                    .position(|word| word == "--local-dir")
                    .map(|at| fetched[at + 1].as_str());
                let (given, _) = flags(of("docker", "run")[0]);
                let mount = given
                    .iter()
                    .find_map(|flag| flag.strip_prefix(&format!("--volume={}:", place.unwrap())));
                let mount = mount.unwrap().trim_end_matches(":ro");
                let stated = command.iter().find(|word| word.starts_with('/'));
                assert!(stated.is_none_or(|stated| stated == mount), "{mount}");
            }
            "exec" => {
                let at = execs[reached..]
                    .iter()
                    .position(|exec| is_part(exec, &command));
                let Some(at) = at else {
                    // Preparations that the guide repeats before each command.
                    let known = execs.iter().any(|exec| is_part(exec, &command));
                    assert!(known, "{recipe}: nothing runs {}", command.join(" "));
                    panic!("{recipe}: out of order: {}", command.join(" "));
                };
                reached += at;
                used.insert(reached);
            }
            kind => assert!(kind.starts_with("not run: "), "{kind}"),
        }
    }
    for (number, exec) in execs.iter().enumerate() {
        let exec = exec.join(" ");
        let known = used.contains(&number) || added.iter().any(|prefix| exec.starts_with(prefix));
        assert!(known, "{recipe} runs what the guide does not: {exec}");
    }
}

/// The two differences inside of commands, so that nobody adds a third unseen.
#[test]
fn what_gpt_oss_does_besides() {
    let commands = recorded(&format!("{V6}/gpt-oss-120b-mi355x"), &[]);
    let guide: Vec<Vec<String>> = guide("gpt-oss-120b-v6.0")
        .into_iter()
        .map(|(_, command)| command)
        .collect();
    let differing: Vec<String> = commands
        .iter()
        .filter(|command| command[1] == "exec")
        .map(|command| words(command.last().unwrap()))
        .filter(|exec| !guide.contains(exec))
        .map(|exec| {
            let printed = guide
                .iter()
                .find(|command| exec.starts_with(command))
                .unwrap();
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
fn wan_leaves_out_what_is_skipped(
    #[case] settings: &[&str],
    #[case] command: &str,
    #[case] accuracy: bool,
    #[case] compliance: bool,
) {
    let commands = recorded(&format!("{V6}/wan2.2-t2v-a14b-mi355x"), settings);
    let text: Vec<String> = commands.iter().map(|command| command.join(" ")).collect();
    assert!(text.iter().any(|line| line.ends_with(command)), "{text:#?}");
    let collected = |what: &str| text.iter().any(|line| line.contains(what));
    assert_eq!(collected("Offline/accuracy/."), accuracy);
    assert_eq!(collected("Offline/TEST04"), compliance);
    assert!(collected("Offline/performance/run_1/."));
}
