//! Runs on the lab's cluster.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::program::{Done, User, recipe};
use crate::support::cluster::Cluster;
use crate::support::wait::wait_until;

/// A user of the cluster's login node, with a directory that all nodes share.
pub struct Login {
    pub cluster: Cluster,
    pub user: User,
}

impl Login {
    pub fn new(name: &str, recipe: &str) -> Self {
        let cluster = Cluster::shared();
        let directory =
            cluster.directory.join("shared").join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let mut user = User::at(&directory, SITE, recipe);
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/cluster");
        user.before = ["env", "TERM=dumb", script, "in"].map(str::to_owned).to_vec();
        user.env = vec![("RETRIAL_CLUSTER".to_owned(), cluster.directory.display().to_string())];
        Self { cluster, user }
    }

    /// Starts to follow, and returns the process: the script is replaced by the program.
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.user.command(arguments);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn run(&self) -> Child {
        self.start(&["run", "./mine.yaml", "--site", "lab"])
    }

    /// How many jobs the run has had.
    fn jobs(&self) -> usize {
        let name = format!("--name=retrial-{}", self.user.id());
        let jobs = ["in", "squeue", "-h", "--states=all", &name, "-o", "%i"];
        self.cluster.lab(&jobs).lines().count()
    }

    /// Nothing of the run is left: no job, no container on any node.
    fn expect_nothing_left(&self) {
        let name = format!("--name=retrial-{}", self.user.id());
        let jobs = || self.cluster.lab(&["in", "squeue", "-h", &name]);
        // A job that is over is being completed for a moment.
        wait_until("the job is gone", || jobs().is_empty());
        let label = format!("label=io.retrial.run={}", self.user.id());
        for node in ["n1", "n2", "n3"] {
            let ps = ["node", node, "docker", "ps", "-aq", "--filter", &label];
            assert_eq!(self.cluster.lab(&ps), "", "{node}");
        }
    }
}

impl Drop for Login {
    fn drop(&mut self) {
        let directory: &PathBuf = &self.user.directory;
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(directory);
        }
    }
}

const SITE: &str = "partition: gpu\ntime_limit: 20m\n";

pub fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let killed = std::process::Command::new("kill").args([name, &pid]).status();
    assert!(killed.unwrap().success());
}

pub fn end(child: Child) -> Done {
    Done::new(&child.wait_with_output().unwrap())
}

#[test]
#[ignore = "needs root and the lab"]
fn a_run_is_submitted_as_a_job_and_has_its_verdict() {
    let login = Login::new("happy", &recipe(1));
    login
        .user
        .run(&[])
        .exits(0)
        .prints("two-performance: finished in")
        .prints("reproduced: Both published figures hold.");
    login.expect_nothing_left();
    let host = std::fs::read_to_string(login.user.the_run().join("host.json")).unwrap();
    assert!(host.contains("\"hostname\": \"n"), "{host}");
    let id = login.user.id();
    login.user.retrial(&["judge", &id]).exits(0);
    login.user.retrial(&["resume", &id]).exits(0).does_not_print("job");
    assert_eq!(login.jobs(), 1);
}

/// The recipe's trial run lowers the duration, and so the job's time limit.
#[test]
#[ignore = "needs root and the lab"]
fn a_smoke_test_is_a_job_of_its_own_length() {
    let trial = "expected_duration: 10h\nsmoke_test:\n  expected_duration: 2m\n  scenarios: { two: { performance: { \
                 run: 'echo answer: 7 items/s' } } }\n";
    let login = Login::new("trial", &(recipe(1) + trial));
    login.user.site("partition: gpu\n");
    login
        .user
        .run(&["--smoke-test"])
        .exits(0)
        .prints("measured (smoke test")
        .prints("smoke test: not comparable with the published figure");
    let name = format!("--name=retrial-{}", login.user.id());
    let limit = ["in", "sacct", "-n", "-X", "-P", &name, "-o", "Timelimit"];
    assert_eq!(login.cluster.lab(&limit).trim(), "01:03:00");
    login.expect_nothing_left();
}

#[test]
#[ignore = "needs root and the lab"]
fn a_log_shows_the_calls_of_slurms_programs() {
    let login = Login::new("logged", &recipe(1));
    login
        .user
        .run(&["--log", "debug"])
        .exits(0)
        .prints(r#"run_program{program="sbatch" arguments=["--parsable""#)
        .prints(r#"run_program{program="squeue""#)
        .prints("ended status=exit status: 0");
    login.expect_nothing_left();
}

#[test]
#[ignore = "needs root and the lab"]
fn ctrl_c_ends_the_benchmark_and_resume_submits_another_job() {
    let login = Login::new("interrupt", &recipe(8));
    let run = login.run();
    login.user.wait_for("container_created");
    signal(&run, "-INT");
    end(run).exits(130).prints("no verdict: the run was stopped").prints(", exit code 130");
    login.expect_nothing_left();
    let id = login.user.id();
    let resumed = login.user.retrial(&["resume", &id]).exits(0);
    resumed.prints("submitted job ").prints("Both published figures hold");
    assert_eq!(login.jobs(), 2);
    login.expect_nothing_left();
}

#[test]
#[ignore = "needs root and the lab"]
fn a_killed_follower_is_harmless_and_stop_needs_none() {
    let login = Login::new("killed", &recipe(6));
    let mut run = login.run();
    login.user.wait_for("container_created");
    run.kill().unwrap();
    run.wait().unwrap();
    let id = login.user.id();
    let logs = login.start(&["logs", "-f", &id]);
    let resumed = login.user.retrial(&["resume", &id]).exits(0);
    resumed.prints("found job ").prints("Both published figures hold");
    end(logs).exits(0).prints("answer: 43 items/s");
    assert_eq!(login.jobs(), 1);
    login.expect_nothing_left();
}

#[test]
#[ignore = "needs root and the lab"]
fn stop_and_scancel_preserve_the_evidence() {
    let login = Login::new("stop", &recipe(30));
    login.user.run(&["--detach"]).exits(0);
    login.user.wait_for("container_created");
    let id = login.user.id();
    login.user.retrial(&["stop", &id]).exits(0).prints(": stopped");
    login.expect_nothing_left();
    assert_eq!(login.user.journal("journal.jsonl").last().unwrap()["exit_code"], 130);

    // Somebody else's scancel ends it as gracefully.
    let resumed = login.start(&["resume", &id]);
    let started = || {
        let events = login.user.journal("journal.jsonl");
        events.iter().filter(|event| event["event"] == "container_created").count()
    };
    wait_until("a second container is created", || started() == 2);
    let name = format!("--name=retrial-{id}");
    login.cluster.lab(&["in", "scancel", &name]);
    end(resumed).exits(130).prints("was cancelled; completed measurements are kept");
    // Slurm may still complete that job: another one is submitted.
    let again = login.start(&["resume", &id]);
    wait_until("a third container is created", || started() == 3);
    signal(&again, "-INT");
    end(again).exits(130).prints("submitted job ");
    login.expect_nothing_left();
}

#[test]
#[ignore = "needs root and the lab"]
fn measurements_before_the_time_limit_are_preserved() {
    // The second measurement takes longer than the first job may, and is short in the second job.
    let since_1970 = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let late = since_1970().unwrap() + Duration::from_mins(1);
    let second = format!("[ $(date +%s) -gt {} ] || sleep 120", late.as_secs());
    let second = format!("{second}; echo answer: 43");
    let recipe = recipe(1).replace("sleep 1; echo answer: 43", &second);
    let login = Login::new("limit", &recipe);
    // Slurm warns the job up to a minute early: half a minute after its start at the earliest, when the first is measured.
    login.user.site("partition: gpu\ntime_limit: 3m\n");
    login
        .user
        .run(&[])
        .exits(130)
        .prints("reached its time limit of 3m; completed measurements are kept");
    login.expect_nothing_left();
    login.user.site(SITE);
    let id = login.user.id();
    let measured_once = || {
        let events = login.user.journal("journal.jsonl");
        let is_measured =
            |event: &&Value| event["name"] == "one-performance" && event["end"] == "done";
        assert_eq!(events.iter().filter(is_measured).count(), 1, "{events:#?}");
    };
    measured_once();
    std::thread::sleep(late.saturating_sub(since_1970().unwrap()));
    let resumed = login.user.retrial(&["resume", &id]).exits(0);
    resumed.prints("Both published figures hold");
    measured_once();
    assert_eq!(login.jobs(), 2);
    login.expect_nothing_left();
}

/// Simulated hosts of eight MI355X at the same path on all nodes; that of the third has an older driver.
const PLANT: &str = "rm -rf /run/mi355x && cp -r $0 /run/mi355x \
    && if [ $(hostname) = n3 ]; then echo 6.14.14 >/run/mi355x/sys/module/amdgpu/version; fi";

#[test]
#[ignore = "needs root and the lab"]
fn doctor_compares_nodes_in_its_own_job() {
    let nodes = "\nrequires: { gpus: { vendor: amd, models: [MI355X], count: 8 } }\n\
                 nodes: { count: 3, gpus: 24 }\nscenarios:";
    let recipe = recipe(1).replace("\nscenarios:", nodes);
    let login = Login::new("doctor", &recipe);
    let host = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hosts/mi355x-8");
    let plant = ["in", "srun", "-N3", "sh", "-c", PLANT, host];
    login.cluster.lab(&plant);
    let doctor = ["doctor", "./mine.yaml", "--site", "lab"];
    let root = ["--root", "/run/mi355x"];
    login
        .user
        .retrial(&[&doctor[..], &root].concat())
        .exits(3)
        .prints("n2       ✓ ready")
        .prints("the driver of n1 and n3 differ: 6.16.6, 6.14.14");
    // This machine's own hosts have no such GPU.
    login.user.retrial(&doctor).exits(3).prints("0 GPUs on 3 machines, required 24");
    let queue = ["in", "squeue", "-h", "--name=retrial-doctor", "-t", "R,PD"];
    assert_eq!(login.cluster.lab(&queue), "");
}
