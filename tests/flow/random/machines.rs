//! Kills and restarts of engines of a run on two machines, each with an engine of its own. The other machine is
//! played: the `ssh` of these tests runs its command on this one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{
    MOST_FAULTS, Tally, continued, finish, is_whole, measured_twice, moment, recorded, restart,
    the_output,
};
use crate::lab::{Lab, PrivateEngine};

const WORKERS: &str = r#"container: { network: host }
nodes: { count: 2 }
services:
  worker:
    on: all
    run: 'echo "uuid $(cat /proc/sys/kernel/random/uuid)"; sleep 0.2; echo ready; exec sleep 601'
    ready: { log: ready, timeout: 30s }
    stop: { timeout: 5s }"#;

/// Two engines, and a run of a lab on them.
struct Machines {
    head: PrivateEngine,
    other: PrivateEngine,
}

impl Machines {
    fn start(name: &str) -> Self {
        Self {
            head: PrivateEngine::start(&format!("{name}-1")),
            other: PrivateEngine::start(&format!("{name}-2")),
        }
    }

    fn lab(&self) -> Lab {
        let lab = Lab::with_engine(Some(self.head.url.clone()));
        let ssh = format!(
            "#!/bin/sh\nfor command; do :; done\necho $$ >{}\nDOCKER_HOST={} exec sh -c \"exec $command\"\n",
            lab.path("agent").display(),
            self.other.url
        );
        let lab = lab.file("bin/ssh", &ssh);
        let program = lab.path("bin/ssh");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", program.parent().unwrap().display());
        let alone = "! grep -qs '60[1]' /proc/[0-9]*/cmdline";
        lab.env("PATH", &path).recipe(&measured_twice(WORKERS, "needs: [worker]", alone))
    }

    /// The id of the process on the other machine, if it is there.
    fn agent(lab: &Lab) -> Option<String> {
        let id = fs::read_to_string(lab.path("agent")).ok()?.trim().to_owned();
        let words = fs::read_to_string(format!("/proc/{id}/cmdline")).ok()?;
        words.contains(lab.home_path().to_str()?).then_some(id)
    }

    /// As [`is_whole`], and each machine's worker was started once, and nothing is left on the other machine.
    fn is_whole(&self, lab: &Lab) {
        is_whole(lab);
        let run = &recorded(lab)[0];
        for machine in [run.clone(), run.join("nodes/n2")] {
            let output = the_output(&machine, "first-performance-start-worker");
            assert_eq!(output.matches("uuid ").count(), 1, "{}: {output}", machine.display());
        }
        let id = run.file_name().unwrap().display();
        let filter = format!("label=io.retrial.run={id}");
        let left = Command::new("docker")
            .args(["-H", &self.other.url, "ps", "-aq", "--filter", &filter])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(left.stdout).unwrap(), "");
    }
}

/// The arguments that continue a lab's run, or start it.
fn continuing(lab: &Lab) -> &'static [&'static str] {
    if recorded(lab).is_empty() {
        &["run", "./recipe.yaml", "--nodes", "ssh:n2"]
    } else {
        &["resume", "last"]
    }
}

#[test]
#[ignore = "needs root and the lab"]
fn a_run_resumes_after_a_kill_on_any_machine() {
    let machines = Machines::start("flow-killed-machines");
    Tally::new("`kill -9` on a machine of several, then `resume`", 10).run(|chance| {
        let lab = machines.lab();
        let kills = chance.usize(1..=MOST_FAULTS);
        for _ in 0..kills {
            let mut going = lab.start_retrial(continuing(&lab));
            moment(chance, 2500);
            let agent = Machines::agent(&lab).filter(|_| chance.bool());
            let Some(agent) = agent else {
                going.kill();
                continue;
            };
            let _ = Command::new("kill").args(["-9", &agent]).output();
            // The head notices unless it has ended.
            let done = going.end();
            assert!(matches!(done.code, Some(0 | 3)), "{done:?}");
        }
        if recorded(&lab).is_empty() {
            lab.retrial(continuing(&lab)).expect_exit(0);
        }
        finish(&lab);
        machines.is_whole(&lab);
        kills
    });
}

#[test]
#[ignore = "needs root and the lab"]
fn restarts_of_the_engine() {
    let machines = Machines::start("flow-machines");
    Tally::new("restart of the engine of a machine of several", 10).run(|chance| {
        let lab = machines.lab();
        let mut going = lab.start_retrial(continuing(&lab));
        let mut restarts = 0;
        while restarts < MOST_FAULTS {
            moment(chance, 2500);
            if restarts > 0 && going.has_ended() {
                break;
            }
            let engine = if chance.bool() { &machines.head } else { &machines.other };
            restart(engine, chance);
            restarts += 1;
        }
        continued(&lab, &going.end());
        if recorded(&lab).is_empty() {
            lab.retrial(continuing(&lab)).expect_exit(0);
        }
        finish(&lab);
        machines.is_whole(&lab);
        restarts
    });
}
