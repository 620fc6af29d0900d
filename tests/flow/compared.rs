//! Two images that differ in one package: a comparison names it next to the change of the speed.

use std::fs;
use std::os::unix::fs::MetadataExt;

use serde_json::Value;

use crate::lab::{Lab, case, image, recipe_with};

/// A package of each kind, the way its manager writes it down.
const IMAGE: &str = r"FROM debian:bookworm-slim
LABEL org.example.release=RELEASE
ENV LIBRARY_PATH=/opt/library-RELEASE/lib BAKED_TOKEN=word-RELEASE
RUN printf '\nPackage: hiplibrary\nStatus: install ok installed\nArchitecture: amd64\nVersion: RELEASE-1\n' >>/var/lib/dpkg/status \
 && mkdir -p /usr/lib/python3/dist-packages/torch-RELEASE+rocm.dist-info /opt/venv/lib/python3.12/site-packages/unchanged-1.0.dist-info \
 && mkdir -p /opt/rocm-RELEASE/.info && echo RELEASE-42 >/opt/rocm-RELEASE/.info/version \
 && printf 'SPEEDS' >/speeds
";

const RECIPE: &str = r#"schema: 1
title: Two releases
submission: { suite: flow, benchmark: compared }
image: debian:bookworm-slim
variants:
  release:
    "1.9.0": { image: { build: { context: old } } }
    "1.10.0": { image: { build: { context: new } } }
default: { release: "1.9.0" }
setup:
  further:
    run: mkdir -p /usr/lib/python3/dist-packages/From_Setup-3.1.dist-info
scenarios:
  main:
    performance:
      run: |
        echo "speed: $(sed -n ${{ trial }}p /speeds) MB/s"
      trials: 3
      figures: { speed: { pattern: 'speed: ([0-9.]+)', unit: MB/s, better: higher } }
"#;

fn lab() -> Lab {
    let lab = Lab::new().recipe(RECIPE);
    for (directory, release, speeds) in
        [("old", "1.9.0", r"41.5\n41.6\n41.4\n"), ("new", "1.10.0", r"44.1\n44.3\n44.2\n")]
    {
        fs::create_dir(lab.path(directory)).unwrap();
        let text = IMAGE.replace("RELEASE", release).replace("SPEEDS", speeds);
        fs::write(lab.path(directory).join("Dockerfile"), text).unwrap();
    }
    lab
}

fn group<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    let mut groups = comparison["environment"].as_array().unwrap().iter();
    groups
        .find(|group| group["group"] == name)
        .unwrap_or_else(|| panic!("no {name} in {comparison:#}"))
}

fn differences(comparison: &Value, name: &str) -> Vec<String> {
    let differs = group(comparison, name)["differs"].as_array().unwrap();
    differs
        .iter()
        .map(|fact| {
            format!("{}: {} {}", fact["what"], fact["values"][0], fact["values"][1])
                .replace('"', "")
        })
        .collect()
}

#[test]
#[ignore = "needs the lab"]
fn a_changed_package_is_reported() {
    let lab = lab();
    for release in ["1.9.0", "1.10.0"] {
        lab.run(&["--set", &format!("release={release}")]).expect_exit(0);
    }
    let runs = lab.runs();
    let run_of = |release: &str| {
        let mut runs = runs.iter();
        let run = runs.find(|run| {
            let plan = fs::read_to_string(run.join("plan.json")).unwrap();
            let plan: Value = serde_json::from_str(&plan).unwrap();
            plan["variant"]["release"] == release
        });
        run.unwrap().to_str().unwrap().to_owned()
    };
    let (old, new) = (run_of("1.9.0"), run_of("1.10.0"));
    let compared = lab.retrial(&["compare", &old, &new, "--output", "json"]).expect_exit(0);
    let comparison: Value = serde_json::from_str(&compared.out).unwrap();
    assert_eq!(comparison["figures"][0]["change"], "faster");
    assert_eq!(
        differences(&comparison, "stack"),
        ["ROCm in the image: 1.9.0 1.10.0", "PyTorch: 1.9.0+rocm 1.10.0+rocm"]
    );
    assert_eq!(differences(&comparison, "packages"), ["hiplibrary (dpkg): 1.9.0-1 1.10.0-1"]);
    let image = differences(&comparison, "image");
    assert!(image.contains(&"label org.example.release: 1.9.0 1.10.0".to_owned()), "{image:#?}");
    assert_eq!(
        differences(&comparison, "variables"),
        ["LIBRARY_PATH: /opt/library-1.9.0/lib /opt/library-1.10.0/lib"]
    );
    assert!(!compared.out.contains("word-1.9.0"), "a secret's value is not kept");
    assert!(group(&comparison, "packages")["same"].as_u64().unwrap() > 50);
    let packages = fs::read_to_string(format!("{old}/packages.json")).unwrap();
    assert!(packages.contains(r#""from-setup":"3.1""#), "{packages}");
    assert!(packages.contains(r#""unchanged":"1.0""#), "{packages}");
    let host = fs::read_to_string(format!("{old}/host.json")).unwrap();
    assert!(!host.contains("word-1.9.0"));

    let text = lab.retrial(&["compare", &old, &new]).expect_exit(0);
    text.prints("PyTorch").prints("1.10.0+rocm");
    // Turned round, and judged by a limit.
    let new_id = new.rsplit('/').next().unwrap();
    lab.retrial(&["compare", &old, &new, "--baseline", new_id, "--fail-if", "slower:2%"])
        .expect_exit(1)
        .prints("slower");

    // So does the release in the containers, which the variant names.
    let by_rocm = lab.retrial(&["compare", "--by", "rocm", "--output", "json"]).expect_exit(0);
    let by_rocm: Value = serde_json::from_str(&by_rocm.out).unwrap();
    let subjects = &by_rocm["comparisons"][0]["subjects"];
    assert_eq!([&subjects[0]["name"], &subjects[1]["name"]], ["rocm=1.9.0", "rocm=1.10.0"]);
    let newer = lab.retrial(&["runs", "--rocm", "1.10", "--output", "json"]).expect_exit(0);
    let newer: Value = serde_json::from_str(&newer.out).unwrap();
    let rocm: Vec<&Value> = newer.as_array().unwrap().iter().map(|run| &run["rocm"]).collect();
    assert_eq!(rocm, ["1.10.0"]);

    // The history gives the same without the names of the runs.
    let along = lab.retrial(&["compare", "--by", "release", "--output", "json"]).expect_exit(0);
    let along: Value = serde_json::from_str(&along.out).unwrap();
    let first = &along["comparisons"][0];
    assert_eq!(first["subjects"][0]["name"], "release=1.9.0");
    assert_eq!(first["figures"][0]["change"], "faster");
    assert_eq!(first["figures"][0]["ratio"], comparison["figures"][0]["ratio"]);
    assert_eq!(differences(first, "packages"), differences(&comparison, "packages"));
}

#[test]
#[ignore = "needs the lab"]
fn runs_of_one_image_share_the_package_list() {
    let lab = Lab::new();
    let lab = lab.measures("true");
    for _ in 0..2 {
        lab.run(&[]).expect_exit(0);
    }
    let inodes: Vec<u64> = lab
        .runs()
        .iter()
        .map(|run| fs::metadata(run.join("packages.json")).unwrap().ino())
        .collect();
    assert_eq!(inodes[0], inodes[1]);
    lab.retrial(&["compare", "--by", "release"])
        .expect_exit(2)
        .prints("no run has an axis or a parameter release");
}

/// The container's first process lists them; as another user than root it could not, and an exec does.
#[test]
#[ignore = "needs the lab"]
fn the_package_list_does_not_depend_on_the_user() {
    let listed = |user: &str, execs: usize| {
        let lab = Lab::new();
        let keys = format!("container: {{ user: '{user}' }}");
        let lab = lab.recipe(&recipe_with(&keys, &case("main", "true", "")));
        let since = lab.docker(&["info", "--format", "{{.SystemTime}}"]);
        lab.run(&[]).expect_exit(0);
        let until = lab.docker(&["info", "--format", "{{.SystemTime}}"]);
        let container = format!("container={}", lab.container());
        let asks = ["events", "--since", &since, "--until", &until, "--filter", &container];
        let events = lab.docker(&[&asks[..], &["--filter", "event=exec_create"]].concat());
        assert_eq!(events.lines().count(), execs, "{user}: {events}");
        serde_json::from_str::<Value>(&lab.text("packages.json")).unwrap()
    };
    let by_root = listed("0", 1);
    assert!(by_root["databases"][0]["packages"]["bash"].is_string());
    assert_eq!(listed("1234", 2), by_root);
}

#[test]
#[ignore = "needs the lab"]
fn an_image_without_packages_is_not_an_error() {
    let lab = Lab::new();
    let keys = format!("image: {}", image("busybox"));
    let lab = lab.recipe(&recipe_with(&keys, &case("main", "true", "")));
    lab.run(&[]).expect_exit(0);
    let packages: Value = serde_json::from_str(&lab.text("packages.json")).unwrap();
    assert_eq!(packages["databases"], serde_json::json!([]));
    assert_eq!(packages.get("remarks"), None, "{packages:#}");
}

#[test]
#[ignore = "needs the lab"]
fn a_forged_package_list_is_bounded_and_sanitized() {
    let lab = Lab::new();
    // The last command of the benchmark replaces the program that reads the lists of packages.
    let lab = lab.measures(
        "printf '#!/bin/sh\\necho @rpm x; yes \"package 1\" | head -c 9000000; printf \"\\\\033]0;title\\\\007 1\\\\n\"\\n' >/usr/local/bin/grep; chmod +x /usr/local/bin/grep",
    );
    lab.run(&[]).expect_exit(0);
    let packages = lab.text("packages.json");
    assert!(packages.len() < 1 << 20, "{}", packages.len());
    assert!(packages.contains("truncated"), "{packages}");
    assert!(!packages.contains("\\u001b"));
}
