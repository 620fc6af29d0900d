//! Very many runs that nobody ran: each is a whole run directory, as the tool leaves it, which
//! `judge`, `compare` and `export` take like any other. Plans, verdicts and events are made by
//! the tool's own code; what a benchmark would have written is planted.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "each test uses its part of it; small numbers"
)]

pub mod events;
#[path = "../submission/export/logs.rs"]
mod logs;
mod looks;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use rayon::prelude::*;
use retrial_host as host;
use retrial_host::model::HostView;
use retrial_plan::build::RecipeOrigin;
use retrial_plan::{Action, BatchPosition, Plan, PlanOptions, Step, build_plan};
use retrial_recipe::{NoTemplates, ParamSetting, ResolvedRecipe, Source, resolve_recipe};
use retrial_run::judge_run;
use retrial_store::RunDirectory;
use serde_json::json;

const RECIPE: &str = include_str!("recipe.yaml");
/// When the first run began.
const FIRST: &str = "2026-04-01T06:00:00Z";
/// From one run's beginning to the next one's.
const APART: SignedDuration = SignedDuration::from_mins(20);
/// Of each batch: as many of each cell.
const TRIALS: usize = 5;

const ROCM: [&str; 3] = ["6.4.1", "7.0.0", "7.1.1"];
const BACKENDS: [&str; 2] = ["vllm", "migraphx"];
const HOSTS: [&str; 2] = ["mi355x-a", "mi355x-b"];

/// The plans of every cell, and what they are made of.
pub struct Many {
    cells: Vec<Cell>,
    hosts: Vec<HostView>,
}

struct Cell {
    rocm: usize,
    backend: usize,
    resolved: ResolvedRecipe,
    plans: Vec<Plan>,
}

/// How a planted run went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Went {
    Well,
    /// `LoadGen` says INVALID.
    Invalid,
    /// Its benchmark failed.
    Failed,
    /// The tool was killed in the middle.
    Interrupted,
}

impl Many {
    pub fn new() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hosts/mi355x-8");
        let host = host::probe_host(&root);
        let hosts: Vec<HostView> = HOSTS
            .iter()
            .map(|name| HostView { hostname: (*name).to_owned(), ..host.clone() })
            .collect();
        let mut cells = Vec::new();
        for (rocm, release) in ROCM.iter().enumerate() {
            for (backend, name) in BACKENDS.iter().enumerate() {
                let settings =
                    [ParamSetting::new("rocm", *release), ParamSetting::new("backend", *name)];
                let source = Source::new("./llama2.yaml", RECIPE);
                let resolved = resolve_recipe("./llama2.yaml", &source, &NoTemplates, &settings)
                    .map_err(|problems| problems.render(false))
                    .unwrap();
                let origin =
                    RecipeOrigin { hash: resolved.hash.clone(), ..RecipeOrigin::default() };
                let plans = hosts.iter().map(|host| {
                    let choices = PlanOptions {
                        trials: Some(retrial_recipe::model::Trials::default()),
                        ..PlanOptions::default()
                    };
                    let mut plan = build_plan(&resolved.recipe, &origin, &choices, host).unwrap();
                    plan.add_round_rules(retrial::app::catalog::built_in_rounds());
                    plan
                });
                let plans = plans.collect();
                cells.push(Cell { rocm, backend, resolved, plans });
            }
        }
        Self { cells, hosts }
    }

    /// Plants the runs of these numbers; the same number is the same run.
    pub fn plant(&self, home: &Path, numbers: Range<usize>) {
        fs::create_dir_all(home.join("runs")).unwrap();
        numbers.into_par_iter().for_each(|number| {
            self.plant_one(home, number);
        });
    }

    /// The id of a run.
    pub fn id(number: usize) -> String {
        let time = started(number).strftime("%Y%m%d-%H%M%S").to_string();
        format!("{time}-llama2-{:04x}", mixed(number) & 0xffff)
    }

    /// How a run went: of a hundred, two were broken, two failed, one was killed.
    pub fn went(number: usize) -> Went {
        match mixed(number) % 100 {
            0 | 1 => Went::Invalid,
            2 | 3 => Went::Failed,
            4 => Went::Interrupted,
            _ => Went::Well,
        }
    }

    /// Plants one run.
    pub fn plant_one(&self, home: &Path, number: usize) -> PathBuf {
        let started = started(number);
        let id = Self::id(number);
        let directory = home.join("runs").join(&id);
        let cell = &self.cells[number % self.cells.len()];
        let round = number / self.cells.len();
        let batch = round / TRIALS;
        let on = batch % self.hosts.len();
        let mut plan = cell.plans[on].clone();
        // Each fifth is nobody's batch.
        if batch % 5 != 4 {
            plan.batch = Some(BatchPosition {
                id: format!("{}-llama2-b{:03x}", began_of_batch(batch), batch & 0xfff),
                cell: format!("rocm={},backend={}", ROCM[cell.rocm], BACKENDS[cell.backend]),
                trial: (round % TRIALS) as u32 + 1,
            });
        }
        let went = Self::went(number);
        let write = |name: &str, text: &str| {
            let path = directory.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("recipe.yaml", &cell.resolved.yaml);
        write("plan.json", &pretty(&plan));
        write("host.json", &pretty(&self.host_file(on, batch)));
        write("lock", "1");
        let journal = events::journal(&plan, &id, started, went);
        write("journal.jsonl", &journal.text);
        let has_output =
            |step: &&Step| matches!(step.action, Action::Pull { .. } | Action::Exec(_));
        for step in plan.steps.iter().filter(has_output) {
            write(
                &format!("steps/{}/output.log", step.directory_name()),
                &format!("{}\nrouge1 44.45\n", step.name).repeat(20),
            );
        }
        let rate = rate(cell, number);
        for measured in &plan.measurements {
            if matches!(went, Went::Failed | Went::Interrupted) {
                break;
            }
            let accuracy = measured.mode == retrial_recipe::model::Mode::Accuracy;
            let folder = measured.results_directory(1);
            let log = logs::Run {
                scenario: "Offline",
                accuracy,
                tokens_per_second: rate,
                valid: went != Went::Invalid,
                seeds: logs::V6_0,
            };
            let begin = journal.measured[usize::from(accuracy)];
            let begin = begin.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            write(&format!("{folder}/mlperf_log_detail.txt"), &log.detail(&begin));
            write(&format!("{folder}/mlperf_log_summary.txt"), &log.summary());
            if accuracy {
                write(&format!("{folder}/accuracy.txt"), logs::Run::accuracy_text());
                write(&format!("{folder}/mlperf_log_accuracy.json"), &logs::Run::answers());
            }
        }
        if went != Went::Interrupted {
            let looks = looks::telemetry(started, journal.measured[0], rate);
            write("telemetry.csv", &looks);
            let verdict = judge_run(&RunDirectory::from_path(directory.clone()), false).unwrap();
            write("verdict.json", &pretty(&verdict));
        }
        directory
    }

    fn host_file(&self, on: usize, batch: usize) -> serde_json::Value {
        let mut host = self.hosts[on].clone();
        // The machine is kept up to date.
        host.kernel = format!("6.8.0-{}-generic", 40 + batch / 40);
        json!({
            "tool": env!("CARGO_PKG_VERSION"),
            "host": host,
            "engine": { "product": "Docker Engine", "version": "28.5.1" },
        })
    }
}

fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

fn started(number: usize) -> Timestamp {
    let first: Timestamp = FIRST.parse().unwrap();
    first + APART * (number as i32)
}

fn began_of_batch(batch: usize) -> String {
    let first = batch * TRIALS * ROCM.len() * BACKENDS.len();
    started(first).strftime("%Y%m%d-%H%M%S").to_string()
}

/// Tokens a second: each release is faster than the one before, one backend than the other, and
/// no two runs are alike.
fn rate(cell: &Cell, number: usize) -> f64 {
    let noise = (mixed(number.wrapping_add(7919)) % 2001) as f64 / 1000.0 - 1.0;
    let speed = 1.0 + 0.04 * cell.rocm as f64 - 0.07 * cell.backend as f64;
    (100_000.0 * speed * (1.0 + 0.006 * noise) * 100.0).round() / 100.0
}

/// A number that looks like chance (`SplitMix64`'s last steps).
fn mixed(number: usize) -> usize {
    let mut state = (number as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state ^ (state >> 31)) as usize >> 1
}
