//! What a batch itself costs: cells that do nothing, by one `retrial batch`, against the same runs
//! by `retrial run`, one after the other.
//!
//! The target is 50 ms a cell beyond the runs themselves: the time of the whole process less what
//! the runs' own journals say from their beginning to their end.
#![expect(clippy::unwrap_used, reason = "benches")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use jiff::Timestamp;
use retrial_store::journal::Journal;
use retrial_store::journal::{Event, EventKind};
use support::paired::{self, Pairs, print_times, timed};
use support::world::{RETRIAL, World, between, engine_has_image, must};

const PAIRS: usize = 9;
const CELLS: usize = 10;

fn main() {
    if !engine_has_image() {
        return;
    }
    let world = World::new();
    let rest = "      figures:\n        done: { pattern: 'done: ([0-9]+)', unit: times, better: higher }\nparams:\n  number: { type: int, default: 0 }\n";
    let recipe = world.recipe("noop", "echo done: ${{ params.number }}", rest);
    let numbers: Vec<String> = (1..=CELLS).map(|number| number.to_string()).collect();
    paired::wait_for_quiet(Duration::from_mins(1));
    println!(
        "{CELLS} cells that do nothing  ({}; a run's own time: its journal's first to last event)",
        paired::machine()
    );
    let mut beyond = Vec::new();
    let pairs = Pairs::run(
        PAIRS,
        || {
            let mut command = Command::new(RETRIAL);
            command.arg("batch").arg(&recipe).arg("--home").arg(world.path());
            command.arg("--vary").arg(format!("number={}", numbers.join(",")));
            let wall = timed(|| must(&mut command));
            #[expect(clippy::cast_precision_loss, reason = "a count of cells")]
            let cells = CELLS as f64;
            beyond.push((wall - runs_took(world.path())) / cells);
            clear(&world);
            wall
        },
        || {
            let wall = timed(|| {
                for number in &numbers {
                    let mut command = world.retrial_run(&recipe);
                    must(command.arg("--set").arg(format!("number={number}")));
                }
            });
            clear(&world);
            wall
        },
    );
    pairs.report("retrial batch", "as many retrial run", None);
    let beyond = &beyond[1..];
    print_times("the batch beyond its runs, a cell", beyond);
    let mut limit = Pairs::default();
    for seconds in beyond {
        limit.push(*seconds, 1.0);
    }
    limit.report_limit(0.050);
    println!("  afterwards: {}", paired::machine());
}

/// Seconds from the beginning to the end of every run, in all.
fn runs_took(home: &Path) -> f64 {
    let runs = fs::read_dir(home.join("runs")).unwrap();
    let took = runs.map(|run| {
        let journal = run.unwrap().path().join("journal.jsonl");
        let events = Journal::read::<Event>(&journal).unwrap();
        let time = |is_event: fn(&EventKind) -> bool| -> Timestamp {
            let mut events = events.iter();
            events.find(|event| is_event(&event.what)).unwrap().time
        };
        between(
            time(|what| matches!(what, EventKind::RunStarted { .. })),
            time(|what| matches!(what, EventKind::RunEnded { .. })),
        )
    });
    took.sum()
}

fn clear(world: &World) {
    world.clear();
    let _ = fs::remove_dir_all(world.path().join("batches"));
}
