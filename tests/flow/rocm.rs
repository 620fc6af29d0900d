//! The release of ROCm in containers, by layout: planted files, no AMD GPU was here.

use serde_json::Value;

use crate::lab::Lab;

const PLANT: &str = include_str!("../fixtures/rocm/plant");

const RECIPE: &str = r"schema: 1
title: Layouts
submission: { suite: flow, benchmark: rocm }
image: debian:bookworm-slim
params:
  layout: { type: string, default: folder, help: how ROCm is installed }
setup:
  plant:
    run: |
      set -- '' ${{ params.layout }}
";

/// The layouts in the order of the facts: what is found, and whether two releases are mixed.
const LAYOUTS: [(&str, &str, bool); 10] = [
    ("folder", "7.2.3-90", false),
    ("core", "10.1.0", false),
    ("two-cores", "10.0.0", false),
    ("wheels", "10.0.0", false),
    ("nightly-wheels", "7.14.0a20260608", false),
    ("folder-and-core", "10.0.0", true),
    ("wheels-and-core", "10.1.0", true),
    ("nightly-tarball", "10.2.0a20260930", false),
    ("torch", "7.2", false),
    ("patched-core", "10.1.1", false),
];

#[test]
#[ignore = "needs the lab"]
fn the_release_in_a_container_is_read_from_each_layout() {
    let commands = PLANT.replace('\n', "\n      ");
    let scenario = "scenarios:\n  main:\n    performance:\n      run: 'echo speed: 1'\n      figures: { speed: { pattern: 'speed: (.*)', unit: MB/s } }\n";
    let lab = Lab::new().recipe(&format!("{RECIPE}      {commands}\n{scenario}"));
    for (layout, release, is_mixed) in LAYOUTS {
        let known = lab.runs();
        lab.run(&["--set", &format!("layout={layout}")]).expect_exit(0);
        let run = lab.runs().into_iter().find(|run| !known.contains(run)).unwrap();
        let text = std::fs::read_to_string(run.join("packages.json")).unwrap();
        let rocm = serde_json::from_str::<Value>(&text).unwrap()["rocm"].clone();
        assert_eq!(rocm["release"], release, "{layout}: {rocm}");
        let others = rocm["others"].as_array().cloned().unwrap_or_default();
        let mut other_layouts = others.iter().map(|other| &other["layout"]);
        assert_eq!(other_layouts.any(|other| *other != rocm["layout"]), is_mixed, "{layout}");
    }
}
