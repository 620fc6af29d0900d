//! docs/flags.md: the flags with which each built-in recipe for AMD's GPUs starts its container, as
//! `plan` prints them, on simulated hosts. `RETRIAL_DOCS=overwrite` regenerates the page.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::support::planted::Host;
use serde_json::Value;

const HEAD: &str = "\
# Flags of every recipe

The flags of `docker run` for devices and privileges with which each built-in recipe for AMD's GPUs starts its container, as `retrial plan --format shell` prints them.
Recipes with the same flags are grouped. **The hosts are simulated**: file trees with the named GPUs, read with `--root`; no AMD GPU was available.
Generated and compared by tests/docs/flags.rs.
";

/// Flags that determine what the container can access.
const ABOUT: [&str; 9] = [
    "--ipc",
    "--network",
    "--privileged",
    "--cap-add",
    "--device",
    "--group-add",
    "--security-opt",
    "--gpus",
    "--env=ROCR_VISIBLE_DEVICES",
];

/// The GPUs of a host that a recipe's own word on GPUs fits, and the variant to choose there.
type Fits = fn(&str) -> Option<(String, Vec<&'static str>)>;

struct Case {
    title: &'static str,
    planted: Fits,
    arguments: &'static [&'static str],
}

/// A host with eight of the GPUs that a recipe requires.
fn eight(required: &str) -> Option<(String, Vec<&'static str>)> {
    let model = required.strip_prefix("8 x ")?;
    Some((format!("8x{model}"), Vec::new()))
}

/// The same, each divided into eight.
fn eight_divided(required: &str) -> Option<(String, Vec<&'static str>)> {
    (required == "8 x MI300X" || required == "8 x MI325X").then(|| {
        let variant =
            if required.ends_with("MI325X") { vec!["--set", "gpu=mi300x"] } else { Vec::new() };
        ("8xMI300X:CPX".to_owned(), variant)
    })
}

fn two_w7900(required: &str) -> Option<(String, Vec<&'static str>)> {
    let radeon = ["W7900", "RX 7900", "R9700", "RX 9070"];
    let is_radeon = radeon.iter().any(|card| required.contains(card));
    is_radeon.then(|| ("2xW7900".to_owned(), vec!["--set", "gpu=w7900"]))
}

const CASES: [Case; 6] = [
    Case { title: "Eight GPUs, all of them", planted: eight, arguments: &[] },
    Case {
        title: "Three of eight GPUs: `--gpus 0,1,2`",
        planted: eight,
        arguments: &["--gpus", "0,1,2"],
    },
    Case {
        title: "Three of eight GPUs, `--gpus 0,1,2 --least-privilege`",
        planted: eight,
        arguments: &["--gpus", "0,1,2", "--least-privilege"],
    },
    Case {
        title: "8 x MI300X in CPX mode, the first card's partitions: `--gpus 0-7`",
        planted: eight_divided,
        arguments: &["--gpus", "0-7"],
    },
    Case { title: "2 x W7900, all that the recipe names", planted: two_w7900, arguments: &[] },
    Case {
        title: "2 x W7900, the second: `--gpus 1`",
        planted: two_w7900,
        arguments: &["--gpus", "1"],
    },
];

#[test]
fn the_flags_page_matches_the_plans() {
    let anywhere = Host::new(&["1xMI300X"]);
    let listed = anywhere.json(&["list"]);
    let recipes: Vec<(&str, &str)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|recipe| {
            let text = |key: &str| recipe[key].as_str().unwrap_or_default();
            (text("name"), text("gpus"))
        })
        .collect();
    let mut hosts: BTreeMap<String, Host> = BTreeMap::new();
    let mut page = HEAD.to_owned();
    for case in CASES {
        write!(page, "\n## {}\n", case.title).unwrap();
        let mut by_flags: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (name, gpus) in &recipes {
            let Some((planted, variant)) = (case.planted)(gpus) else {
                continue;
            };
            let host = hosts.entry(planted.clone()).or_insert_with(|| Host::new(&[&planted]));
            if let Some(flags) = flags(host, name, &variant, case.arguments) {
                by_flags.entry(flags).or_default().push(name);
            }
        }
        assert!(!by_flags.is_empty(), "{}", case.title);
        for (flags, names) in by_flags {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            write!(page, "\n{}\n\n```text\n{flags}\n```\n", names.join(", ")).unwrap();
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/flags.md");
    if std::env::var("RETRIAL_DOCS").is_ok_and(|how| how == "overwrite") {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/flags.md is not what plan prints: regenerate it by RETRIAL_DOCS=overwrite cargo test --test docs flags"
    );
}

/// The flags of a recipe's own container; none where it requires no GPU, or has no such variant.
fn flags(host: &Host, name: &str, variant: &[&str], more: &[&str]) -> Option<String> {
    let shown = host.retrial(&["show", name]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    let unset: Vec<String> = shown
        .lines()
        .filter(|line| line.contains(" must be set"))
        .map(|line| format!("--set={}=/x", line.split_whitespace().next().unwrap()))
        .collect();
    let mut arguments = vec!["plan", name, "-q"];
    arguments.extend(unset.iter().map(String::as_str));
    arguments.extend(variant);
    arguments.extend(more);
    let planned = host.retrial(&[&arguments, &["--output", "json"][..]].concat());
    // Not every recipe for these GPUs has a variant for those.
    if planned.status.code() == Some(2) && !variant.is_empty() {
        return None;
    }
    let plan: Value = serde_json::from_slice(&planned.stdout).unwrap();
    plan.get("assigned_gpus")?;
    // Recipes for several machines have the containers of those for one (tests/recipes/guides), and no shell plan.
    if plan["nodes"].is_object() {
        return None;
    }
    arguments.extend(["--format", "shell"]);
    let script = String::from_utf8(host.retrial(&arguments).stdout).unwrap();
    let script = script.replace("\\\n", " ");
    let of_the_run = script.lines().rfind(|line| line.starts_with("docker run -d "))?;
    let words = of_the_run.split_whitespace();
    let about = words.filter(|word| ABOUT.iter().any(|flag| word.starts_with(flag)));
    Some(in_lines(&about.collect::<Vec<_>>()))
}

/// Words in lines of at most a hundred letters.
fn in_lines(words: &[&str]) -> String {
    let mut lines = vec![String::new()];
    for word in words {
        let last = lines.last_mut().unwrap();
        if last.is_empty() {
            last.push_str(word);
        } else if last.len() + word.len() < 100 {
            write!(last, " {word}").unwrap();
        } else {
            lines.push((*word).to_owned());
        }
    }
    lines.join("\n")
}
