//! How long the program takes to begin: `--version`, and `plan` of a recipe; `list --published`; and `check` of all recipes.
//!
//! The target is 10 ms of wall time each, 20 ms for published figures, 0.3 s for all recipes. `true` next to it shows what starting any process costs
//! on this machine.
#![expect(clippy::unwrap_used, reason = "benches")]

mod support;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use retrial::app::catalog;
use retrial_recipe::resolve_recipe;
use support::paired::{self, Pairs, timed};
use support::world::{RETRIAL, World};

const PAIRS: usize = 101;
const LIMIT_S: f64 = 0.010;

/// What `list --published` may take.
const PUBLISHED_LIMIT_S: f64 = 0.020;

/// What `check` of all built-in recipes may take.
const CHECK_LIMIT_S: f64 = 0.3;

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
    for name in catalog::recipe_names() {
        let mut words = vec!["plan".to_owned(), name.clone()];
        for unset in unset(&name) {
            words.extend(["--set".to_owned(), format!("{unset}=/{unset}")]);
        }
        cases.push((format!("retrial plan {name}"), words));
    }
    let mut cases: Vec<_> =
        cases.into_iter().map(|(label, words)| (label, words, LIMIT_S)).collect();
    let names = catalog::recipe_names();
    let label = format!("retrial check of all {} recipes", names.len());
    let words = std::iter::once("check".to_owned()).chain(names);
    cases.push((label, words.collect(), CHECK_LIMIT_S));
    let published = ["list", "--published", "--gpu", "mi355x"].map(str::to_owned);
    cases.push(("retrial list --published".to_owned(), published.to_vec(), PUBLISHED_LIMIT_S));
    for (label, words, limit) in cases {
        paired::wait_for_quiet(Duration::from_mins(1));
        println!("{label}  ({})", paired::machine());
        let pairs = Pairs::run(
            PAIRS,
            || {
                timed(|| {
                    quietly(Command::new(RETRIAL).args(&words).env("RETRIAL_HOME", world.path()));
                })
            },
            || timed(|| quietly(&mut Command::new("true"))),
        );
        pairs.report("retrial", "true", None);
        pairs.report_limit(limit);
    }
}

/// The params that a recipe must be given.
fn unset(name: &str) -> Vec<String> {
    let opened = catalog::open_recipe(name).unwrap();
    let Err(problems) = resolve_recipe(name, &opened.source, &opened, &[]) else {
        return Vec::new();
    };
    let unset = problems.iter().filter(|problem| problem.code == "unset");
    unset.map(|problem| problem.span.slice().to_owned()).collect()
}

fn quietly(command: &mut Command) {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(command.status().unwrap().success(), "{command:?}");
}
