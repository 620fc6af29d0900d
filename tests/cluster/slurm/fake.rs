//! Stand-ins of Slurm's programs, for what the real ones cannot be made to show: a lost reply, a
//! controller that is away for some calls, accounting without a job. Their jobs are processes here, on a
//! node without an engine. `stand-in` documents how a test controls it.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use tempfile::TempDir;

use super::program::{User, recipe};

/// A login host with stand-ins of Slurm's programs.
pub struct Fake {
    directory: TempDir,
    pub user: User,
}

impl Fake {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let bin = directory.path().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        for name in ["sbatch", "squeue", "sacct", "scancel", "scontrol"] {
            let stand_in = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/slurm/stand-in");
            symlink(stand_in, bin.join(name)).unwrap();
        }
        let site = "time_limit: 1h\nengine: unix:///nowhere.sock\n";
        let mut user = User::at(directory.path(), site, &recipe(0));
        let path = std::env::var("PATH").unwrap();
        user.env = vec![
            ("PATH".to_owned(), format!("{}:{path}", bin.display())),
            ("FAKE".to_owned(), directory.path().display().to_string()),
        ];
        Self { directory, user }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn set(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    pub fn calls(&self, program: &str) -> usize {
        let calls = std::fs::read_to_string(self.path().join("calls")).unwrap_or_default();
        let program = format!("{program} ");
        calls.lines().filter(|call| call.starts_with(&program)).count()
    }
}

#[test]
fn a_log_shows_the_calls_of_slurms_programs() {
    let fake = Fake::new();
    fake.user
        .run(&["--log", "debug"])
        .exits(3)
        .prints(r#"run_program{program="sbatch" arguments=["--parsable""#)
        .prints(r#"run_program{program="squeue""#)
        .prints("ended status=exit status: 0");
}

#[test]
fn a_node_without_an_engine_is_reported() {
    let fake = Fake::new();
    fake.user
        .run(&[])
        .exits(3)
        .prints("submitted job 7")
        .prints("no verdict: on n1: no container engine answers at unix:///nowhere.sock")
        .prints("resume it: retrial resume ");
    assert_eq!(fake.calls("sbatch"), 1);
    let run = fake.user.the_run();
    let script = std::fs::read_to_string(run.join("job.sh")).unwrap();
    let id = fake.user.id();
    let printed =
        fake.user.retrial(&["plan", "./mine.yaml", "--site", "lab", "--format", "sbatch"]).exits(0);
    assert_eq!(printed.output.replace("RUN", &id), script);
    let events: Vec<_> = fake.user.journal("journal.jsonl");
    assert_eq!(events[0]["event"], "submitting");
    assert_eq!(events[1]["event"], "run_ended");
}

#[test]
fn a_job_without_a_reply_is_found_by_its_name() {
    let fake = Fake::new();
    fake.set("reply", "lost");
    fake.user.run(&[]).exits(3).prints("found job 7").prints("no container engine");
    assert_eq!(fake.calls("sbatch"), 1);
}

#[test]
fn an_unavailable_controller_is_waited_for() {
    let fake = Fake::new();
    // sbatch and the first look-up.
    fake.set("away", "2");
    fake.user
        .run(&[])
        .exits(3)
        .prints("waiting for Slurm: `squeue` failed: squeue: error: no answer")
        .prints("submitted job 7");
    assert_eq!(fake.calls("sbatch"), 2);
}

#[test]
fn a_rejection_names_the_keys_and_a_corrected_site_is_used() {
    let fake = Fake::new();
    fake.set("reply", "refused");
    let site = "time_limit: 1h\nengine: unix:///nowhere.sock\n";
    fake.user.site(&format!("{site}partition: nope\n"));
    fake.user
        .run(&[])
        .exits(3)
        .prints("sbatch: error: Invalid partition name specified")
        .prints("nothing was submitted; the site has partition: nope, time_limit: 1:00:00")
        .prints("sites/lab.yaml");
    assert_eq!(fake.calls("sbatch"), 1);
    fake.set("reply", "");
    fake.user.site(&format!("{site}partition: gpu\n"));
    let id = fake.user.id();
    fake.user.retrial(&["resume", &id]).exits(3).prints("submitted job 7");
    let script = std::fs::read_to_string(fake.user.the_run().join("job.sh")).unwrap();
    assert!(script.contains("--partition=gpu"), "{script}");
}

#[test]
fn resume_follows_the_existing_job() {
    let fake = Fake::new();
    fake.set("hold", "");
    let detached = fake.user.run(&["--detach"]).exits(0);
    let id = fake.user.id();
    assert!(detached.output.starts_with(&format!("{id}\n")), "{detached:?}");
    fake.user.retrial(&["runs"]).exits(0).prints("submitted");
    fake.user
        .retrial(&["runs", "remove", "--yes", &id])
        .exits(3)
        .prints("its job may start")
        .prints("help: stop it first: retrial stop");
    let mut resumed = fake.user.command(&["resume", &id]);
    let mut resumed = resumed.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(resumed.stderr.take().unwrap()).lines();
    let matches = lines.by_ref().map(Result::unwrap);
    let mut matches = matches.filter(|line| line.contains("found job 7"));
    assert!(matches.next().is_some(), "the job is not found");
    // Only now may it run: it ends at once.
    std::fs::remove_file(fake.path().join("hold")).unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(resumed.wait().unwrap().code(), Some(3), "{rest:?}");
    assert!(rest.join("\n").contains("no container engine"), "{rest:?}");
    assert_eq!(fake.calls("sbatch"), 1);
}

#[test]
fn a_pending_job_is_canceled() {
    let fake = Fake::new();
    fake.set("hold", "");
    fake.user.run(&["--detach"]).exits(0);
    let id = fake.user.id();
    fake.user.retrial(&["stop", &id]).exits(0).prints(": stopped");
    std::fs::remove_file(fake.path().join("hold")).unwrap();
    fake.user.retrial(&["stop", &id]).exits(0).prints("it has no job to stop");
    assert_eq!(fake.calls("sbatch"), 1);
}

#[test]
fn a_job_that_ends_before_the_run_is_a_failure() {
    let fake = Fake::new();
    fake.user.site(
        "time_limit: 1h\nengine: unix:///nowhere.sock\nprolog: |\n  echo 'module: no such module' >&2\n  false\n",
    );
    fake.set("after", "GONE");
    fake.set("accounts", "7|NODE_FAIL|3|60|n1\n");
    fake.user
        .run(&[])
        .exits(3)
        .prints("error: job 7 ended before the run did: NODE_FAIL")
        .prints("  | module: no such module")
        .prints("resume it: retrial resume ");
    let last = fake.user.journal("jobs.jsonl");
    assert_eq!(last.last().unwrap()["state"], "NODE_FAIL");
}

#[test]
fn a_warning_before_the_run_can_handle_it_is_the_time_limit() {
    let fake = Fake::new();
    fake.user.site("time_limit: 1m\nengine: unix:///nowhere.sock\nprolog: exit 143\n");
    fake.set("after", "GONE");
    fake.set("accounts", "7|FAILED|0|1|n1|15:0\n");
    fake.user
        .run(&[])
        .exits(130)
        .prints("no verdict: job 7 reached its time limit of 1m; completed measurements are kept")
        .prints("resume it: retrial resume ");
}

#[test]
fn without_slurm_nothing_is_submitted() {
    let fake = Fake::new();
    for name in ["sbatch", "squeue", "sacct", "scancel"] {
        std::fs::remove_file(fake.path().join("bin").join(name)).unwrap();
    }
    let mut user = User::at(fake.path(), "time_limit: 1h\n", &recipe(0));
    user.env = vec![("PATH".to_owned(), fake.path().join("bin").display().to_string())];
    user.run(&[])
        .exits(3)
        .prints("failed to start `sbatch`")
        .prints("run this on a login host of the site");
}

#[test]
fn incomplete_sites_are_refused_before_anything_is_created() {
    let fake = Fake::new();
    fake.user.site("partition: gpu\n");
    fake.user
        .run(&[])
        .exits(2)
        .prints("has no expected_duration")
        .prints("add `time_limit: 2h` to ");
    fake.user
        .retrial(&["run", "./mine.yaml", "--site", "lob"])
        .exits(2)
        .prints("--site lob: no such site; did you mean `lab`?");
    fake.user
        .retrial(&["plan", "./mine.yaml", "--format", "sbatch"])
        .exits(2)
        .prints("--format sbatch needs --site NAME");
    assert!(!fake.path().join("home/runs").exists());
}
