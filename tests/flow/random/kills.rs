//! Kills of the tool and of the engine, signals, and a full disk.

use std::fs;
use std::time::Duration;

use fastrand::Rng;
use serde_json::Value;

use super::{
    MOST_FAULTS, Tally, continued, continuing, counted, ended, finish, is_whole, measured_twice,
    moment, recorded, restart,
};
use crate::batch::{Batches, varied};
use crate::disk::{Failing, Small};
use crate::lab::{Lab, PrivateEngine, case, recipe_with};

#[test]
#[ignore = "needs the lab"]
fn of_a_run() {
    Tally::new("`kill -9` of a run, then `resume`", 60).run(|chance| {
        let lab = counted(Lab::new());
        let kills = chance.usize(1..=MOST_FAULTS);
        for _ in 0..kills {
            let going = lab.start_retrial(continuing(&lab));
            moment(chance, 1500);
            going.kill();
        }
        finish(&lab);
        is_whole(&lab);
        kills
    });
}

/// The batches that were recorded, with their journals.
fn journals(lab: &Lab) -> Vec<String> {
    let batches = fs::read_dir(lab.home_path().join("batches"));
    let batches = batches.into_iter().flatten().flatten();
    let journals = batches.map(|batch| fs::read_to_string(batch.path().join("journal.jsonl")));
    journals.flatten().filter(|journal| !journal.is_empty()).collect()
}

#[test]
#[ignore = "needs the lab"]
fn of_a_batch() {
    Tally::new("`kill -9` of a batch, then the same command", 40).run(|chance| {
        let who = "echo \"uuid $(cat /proc/sys/kernel/random/uuid)\"; sleep 0.2";
        let lab = Lab::new().recipe(&varied("", who));
        let has_ended = |lab: &Lab| journals(lab).iter().any(|text| text.contains("batch_ended"));
        let kills = chance.usize(1..=MOST_FAULTS);
        let mut done = 0;
        while done < kills && !has_ended(&lab) {
            let batch = lab.start_batch(&["--trials", "2"]);
            moment(chance, 3000);
            batch.kill();
            done += 1;
        }
        // The same command measures a finished batch again.
        if !has_ended(&lab) {
            lab.batch(&["--trials", "2"]).expect_exit(0);
        }
        assert_eq!(journals(&lab).len(), 1);
        let runs = recorded(&lab);
        assert_eq!(runs.len(), 4, "{runs:?}");
        for run in runs {
            let output = fs::read_to_string(run.join("steps/03-main-performance/output.log"));
            assert_eq!(output.unwrap().matches("uuid ").count(), 1, "measured twice");
        }
        assert_eq!(lab.containers(), [""; 0]);
        done
    });
}

#[test]
#[ignore = "needs root and the lab"]
fn of_the_engine() {
    let engine = PrivateEngine::start("flow-random");
    Tally::new("restart of the engine", 5).run(|chance| {
        let lab = counted(Lab::with_engine(Some(engine.url.clone())));
        let mut going = lab.start(&[]);
        moment(chance, 1500);
        restart(&engine, chance);
        continued(&lab, &going.end());
        finish(&lab);
        is_whole(&lab);
        1
    });
}

#[test]
#[ignore = "needs the lab"]
fn a_run_resumes_after_a_signal_at_any_step() {
    Tally::new("INT or TERM during any step, then `resume`", 10).run(|chance| {
        let lab = counted(Lab::new());
        let mut going = lab.start(&[]);
        moment(chance, 1500);
        going.signal(if chance.bool() { "INT" } else { "TERM" });
        let done = going.end();
        // A process that has not started yet ends by the signal itself.
        let is_early = done.code.is_none() && recorded(&lab).is_empty();
        assert!(is_early || matches!(done.code, Some(0 | 130)), "{done:?}");
        assert_eq!(lab.containers(), [""; 0]);
        finish(&lab);
        is_whole(&lab);
        1
    });
}

/// How the last step of a run ended, for messages.
fn last_event(lab: &Lab) -> Value {
    lab.journal().pop().unwrap_or_default()
}

#[test]
#[ignore = "needs root and the lab"]
fn by_a_full_disk() {
    Tally::new("a full disk, then space and `resume`", 5).run(|chance: &mut Rng| {
        let lab = Lab::new();
        let size = format!("{}k", chance.u32(100..6000));
        let small = Small::mount(lab.path("small"), &size);
        let commands = "head -c 1m /dev/zero | tr '\\0' 'x' | fold -w 100\nmkdir /results; head -c 2m /dev/urandom >/results/big";
        let lab = lab
            .recipe(&recipe_with("", &case("main", commands, "results: /results")))
            .home(&small.0);
        let done = lab.run(&[]);
        ended(&done);
        assert!(matches!(done.code, Some(0 | 3)), "{size}: {done:?}");
        small.grow("50m");
        finish(&lab);
        let big = recorded(&lab)[0].join("results/main/performance/run_1/big");
        assert_eq!(fs::metadata(big).unwrap().len(), 2 << 20, "{}", last_event(&lab));
        assert_eq!(lab.containers(), [""; 0]);
        1
    });
}

#[test]
#[ignore = "needs root and the lab"]
fn by_a_home_that_turns_read_only() {
    Tally::new("a home that turns read-only, then `resume`", 5).run(|chance| {
        let lab = Lab::new();
        let mut disk = Failing::create(&lab.path("failing"));
        let lab = counted(lab).home(&disk.mount);
        let mut going = lab.start(&[]);
        moment(chance, 1500);
        disk.fail();
        let done = going.end();
        assert!(matches!(done.code, Some(0 | 3)), "{done:?}");
        disk.repair();
        finish(&lab);
        assert!(recorded(&lab)[0].join("verdict.json").is_file());
        assert_eq!(lab.containers(), [""; 0]);
        1
    });
}

/// A suspended laptop, a busy host: each step takes 0.4 s, may take 2 s, and the tool is away for longer.
#[test]
#[ignore = "needs the lab"]
fn by_a_stop_signal() {
    Tally::new("STOP of the tool beyond a step's limit, then CONT", 10).run(|chance| {
        let lab = Lab::new();
        let keys = "setup:\n  tool:\n    run: sleep 0.1; touch /ready";
        let lab = lab.recipe(&measured_twice(keys, "timeout: 2s", ""));
        let mut going = lab.start(&[]);
        moment(chance, 1500);
        going.signal("STOP");
        std::thread::sleep(Duration::from_millis(chance.u64(2000..3500)));
        going.signal("CONT");
        going.end().expect_exit(0);
        is_whole(&lab);
        1
    });
}
