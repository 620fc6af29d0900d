//! How long the program takes to begin: `--version`, and `plan` of a recipe.
//!
//! The target is 10 ms of wall time each. `true` beside it shows what starting any process costs
//! on this machine.
#![expect(clippy::unwrap_used, reason = "benches")]

mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use retrial::catalog::Catalog;
use support::paired::{self, Pairs, timed};
use support::world::{RETRIAL, World};

const PAIRS: usize = 101;
const ASKED_S: f64 = 0.010;

/// What recipes do not say by themselves.
const SETTINGS: &[(&str, &str)] = &[
    (
        "mlperf-inference/v4.1/amd/llama2-70b-mi300x",
        "model=/model",
    ),
    (
        "mlperf-inference/v4.1/amd/llama2-70b-mi300x",
        "dataset=/dataset",
    ),
    ("mlperf-inference/v4.1/amd/llama2-70b-mi300x", "hist=/hist"),
];

fn main() {
    let world = World::new();
    let quickstart = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/quickstart");
    let mut cases = vec![
        ("retrial --version".to_owned(), vec!["--version".to_owned()]),
        (
            "retrial plan examples/quickstart".to_owned(),
            vec!["plan".to_owned(), quickstart.display().to_string()],
        ),
    ];
    for name in Catalog::builtin().names() {
        let mut words = vec!["plan".to_owned(), name.clone()];
        for (recipe, setting) in SETTINGS {
            if name == *recipe {
                words.extend(["--set".to_owned(), (*setting).to_owned()]);
            }
        }
        cases.push((format!("retrial plan {name}"), words));
    }
    for (what, words) in cases {
        paired::wait_for_quiet(Duration::from_mins(1));
        println!("{what}  ({})", paired::machine());
        let pairs = Pairs::run(
            PAIRS,
            || {
                timed(|| {
                    quietly(
                        Command::new(RETRIAL)
                            .args(&words)
                            .env("RETRIAL_HOME", world.path()),
                    );
                })
            },
            || timed(|| quietly(&mut Command::new("true"))),
        );
        pairs.report("retrial", "true", None);
        pairs.report_limit(ASKED_S);
    }
}

fn quietly(command: &mut Command) {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    assert!(command.status().unwrap().success(), "{command:?}");
}
