//! Kills and restarts of the engine while services run: one in the run's container, one in its own.

use super::{
    MOST_FAULTS, Tally, continued, continuing, finish, is_whole, measured_twice, moment, recorded,
    restart, the_output,
};
use crate::lab::{Lab, PrivateEngine, recipe_with};

/// `inside` ends between the measurements, `own` after both.
const SERVICES: &str = r#"container: { network: host }
services:
  inside:
    run: 'echo "uuid $(cat /proc/sys/kernel/random/uuid)"; sleep 0.2; echo ready; exec sleep 601'
    ready: { log: ready, timeout: 30s }
    stop: { timeout: 5s }
  own:
    run: 'echo "uuid $(cat /proc/sys/kernel/random/uuid)"; sleep 0.2; touch /up; exec sleep 602'
    ready: { command: test -e /up, timeout: 30s }
    stop: { timeout: 5s }
    scope: run
    container: { ipc: private }"#;

fn served(lab: Lab) -> Lab {
    let alone = "! grep -qs '60[1]' /proc/[0-9]*/cmdline";
    lab.recipe(&measured_twice(SERVICES, "needs: [inside, own]", alone))
}

/// As [`is_whole`], and each service was started once.
fn is_whole_with_services(lab: &Lab) {
    is_whole(lab);
    for step in ["first-performance-start-inside", "start-own"] {
        let output = the_output(&recorded(lab)[0], step);
        assert_eq!(output.matches("uuid ").count(), 1, "{step}: {output}");
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_run_with_services_resumes_after_a_kill() {
    Tally::new("`kill -9` of a run with services, then `resume`", 10).run(|chance| {
        let lab = served(Lab::new());
        let kills = chance.usize(1..=MOST_FAULTS);
        for _ in 0..kills {
            let going = lab.start_retrial(continuing(&lab));
            moment(chance, 2500);
            going.kill();
        }
        finish(&lab);
        is_whole_with_services(&lab);
        kills
    });
}

/// Three points, each with a server of its own, of which one is not reproduced.
const SWEPT: &str = r#"services:
  own:
    run: 'echo "uuid $(cat /proc/sys/kernel/random/uuid)"; touch /up; exec sleep 602'
    ready: { command: test -e /up, timeout: 30s }
    stop: { timeout: 5s }
    scope: point
"#;

#[test]
#[ignore = "needs the lab"]
fn a_sweep_resumes_after_a_kill() {
    Tally::new("`kill -9` of a sweep, then `resume`", 10).run(|chance| {
        let cases = "  curve:
    performance:
      needs: [own]
      sweep: { users: [1, 2, 4] }
      run: |
        echo \"uuid $(cat /proc/sys/kernel/random/uuid)\"; sleep 0.3; echo \"rate: $((${{ sweep.users }} * 100))\"
      figures: { rate: { pattern: 'rate: ${number}', better: higher, noise: 1% } }
      expect: { rate: { at: { 1: 100, 2: 200, 4: 800 }, kind: official, source: here } }
";
        let lab = Lab::new().recipe(&recipe_with(SWEPT, cases));
        let kills = chance.usize(1..=MOST_FAULTS);
        for _ in 0..kills {
            let going = lab.start_retrial(continuing(&lab));
            moment(chance, 3500);
            going.kill();
        }
        lab.retrial(continuing(&lab)).expect_exit(1).prints("not reproduced");
        let runs = recorded(&lab);
        assert_eq!(runs.len(), 1, "{runs:?}");
        let results = lab.verdict()["results"].as_array().unwrap().clone();
        let outcomes: Vec<&str> =
            results.iter().map(|result| result["outcome"].as_str().unwrap()).collect();
        assert_eq!(outcomes, ["reproduced", "reproduced", "not reproduced"]);
        for point in [1, 2, 4] {
            for step in [format!("curve-{point}-performance"), format!("curve-{point}-performance-start-own")] {
                let output = the_output(&runs[0], &step);
                assert_eq!(output.matches("uuid ").count(), 1, "{step}: {output}");
            }
        }
        assert_eq!(lab.containers(), [""; 0]);
        kills
    });
}

#[test]
#[ignore = "needs root and the lab"]
fn restarts_of_the_engine() {
    let engine = PrivateEngine::start("flow-served");
    Tally::new("restart of the engine of a run with services", 10).run(|chance| {
        let lab = served(Lab::with_engine(Some(engine.url.clone())));
        let mut going = lab.start(&[]);
        let mut restarts = 0;
        while restarts < MOST_FAULTS {
            moment(chance, 2500);
            if restarts > 0 && going.has_ended() {
                break;
            }
            restart(&engine, chance);
            restarts += 1;
        }
        continued(&lab, &going.end());
        finish(&lab);
        is_whole_with_services(&lab);
        restarts
    });
}
