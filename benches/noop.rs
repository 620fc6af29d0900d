//! What Retrial itself costs: a scenario that does nothing, from create to removed, against
//! `docker run -d`, `docker exec` and `docker rm -f` by the command line, the same image.
//!
//! The target is 1.0 times those three commands. The journal gives the time from the beginning of
//! the step `create` to the end of the step `remove`; the whole process is shown next to it, which
//! also reads the recipe, plans, looks for the image, keeps its records and prints a verdict.
#![expect(clippy::unwrap_used, reason = "benches")]

mod support;

use std::process::Command;
use std::time::Duration;

use support::paired::{self, Pairs, print_times, timed};
use support::world::{IMAGE, World, between, docker, ended, engine_has_image, must, started};

const PAIRS: usize = 25;

fn main() {
    if !engine_has_image() {
        return;
    }
    let world = World::new();
    let figures = "      figures:\n        done: { pattern: 'done: ([0-9]+)', unit: times, better: higher }\n";
    let recipe = world.recipe("noop", "echo done: 1", figures);
    let name = format!("retrial-bench-{}", std::process::id());
    let mut inner = Vec::new();
    let mut steps: Vec<(String, Vec<f64>)> = Vec::new();
    paired::wait_for_quiet(Duration::from_mins(1));
    println!("a scenario that does nothing  ({})", paired::machine());
    let mut commands = [vec![], vec![], vec![]];
    let pairs = Pairs::run(
        PAIRS,
        || {
            let wall = timed(|| must(&mut world.retrial_run(&recipe)));
            let journal = world.journal();
            inner.push(between(started(&journal, "create"), ended(&journal, "remove")));
            for event in &journal {
                if let retrial_store::journal::EventKind::StepEnded { seconds, .. } = event.what {
                    let step = event.name.clone().unwrap();
                    match steps.iter_mut().find(|(name, _)| *name == step) {
                        Some((_, times)) => times.push(seconds),
                        None => steps.push((step, vec![seconds])),
                    }
                }
            }
            world.clear();
            wall
        },
        || {
            let run = ["run", "-d", "--name", &name, IMAGE, "sleep", "infinity"];
            let times = [
                timed(|| docker(&run)),
                timed(|| must(Command::new("docker").args(["exec", &name, "echo", "done: 1"]))),
                timed(|| docker(&["rm", "-f", &name])),
            ];
            for (all, time) in commands.iter_mut().zip(times) {
                all.push(time);
            }
            times.iter().sum()
        },
    );
    let mut from_create = Pairs::default();
    for (index, inner) in inner.iter().skip(1).enumerate() {
        from_create.push(*inner, pairs.b_at(index));
    }
    from_create.report(
        "retrial, create to removed (journal)",
        "docker run -d, exec, rm -f",
        Some(1.0),
    );
    pairs.report("retrial run, the whole process", "docker run -d, exec, rm -f", None);
    for (step, times) in &steps {
        print_times(&format!("  step {step}"), &times[1..]);
    }
    for (command, times) in ["docker run -d", "docker exec", "docker rm -f"].iter().zip(&commands) {
        print_times(&format!("  {command}"), &times[1..]);
    }
    println!("  afterwards: {}", paired::machine());
}
