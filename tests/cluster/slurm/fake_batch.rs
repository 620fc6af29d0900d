//! Batches as arrays, with stand-ins of Slurm's programs: no node of theirs has an engine, so that each task fails
//! by its host.

use serde_json::Value;

use super::fake::Fake;
use super::program::sizes;

/// A login host with a recipe in two sizes.
fn fake() -> Fake {
    let fake = Fake::new();
    std::fs::write(fake.path().join("mine.yaml"), sizes(0)).unwrap();
    fake
}

/// The scripts of the batch's arrays.
fn scripts(fake: &Fake) -> Vec<String> {
    let arrays = fake.user.the_batch().join("arrays");
    let script = |number: usize| arrays.join(number.to_string()).join("job.sh");
    let scripts = (1..).map_while(|number| std::fs::read_to_string(script(number)).ok());
    scripts.collect()
}

/// The ends of a task, as its journal has them.
fn ends(fake: &Fake, task: usize) -> Vec<Value> {
    let mut events = fake.user.of_batch(&format!("tasks/{task}/journal.jsonl"));
    events.retain(|event| event["event"] == "batch_ended");
    events
}

#[test]
fn arrays_are_split_and_failed_tasks_retried_elsewhere_once() {
    let fake = fake();
    fake.set("size", "2");
    fake.user
        .batch(&[])
        .exits(3)
        .prints("submitted job 7: 2 tasks")
        .prints("submitted job 8: 1 task")
        .prints("submitted job 9: 2 tasks, again, on nodes other than n1")
        .prints("submitted job 10: 1 task, again, on nodes other than n1")
        .prints("on n2: no container engine answers at unix:///nowhere.sock")
        .prints("resume it: retrial ");
    assert_eq!(fake.calls("sbatch"), 4);
    let scripts = scripts(&fake);
    let has = |script: &String, option: &str| script.contains(&format!("#SBATCH {option}\n"));
    let sizes: Vec<bool> = scripts.iter().map(|it| has(it, "--array=0-1")).collect();
    assert_eq!(sizes, [true, false, true, false]);
    let again: Vec<bool> = scripts.iter().map(|it| has(it, "--exclude=n1")).collect();
    assert_eq!(again, [false, false, true, true]);
    for task in 1..=3 {
        let ends = ends(&fake, task);
        let nodes: Vec<&Value> = ends.iter().map(|end| &end["node"]).collect();
        assert_eq!(nodes, ["n1", "n2"]);
    }
    // A person has seen to the nodes meanwhile: they may be tried again.
    let id = fake.user.batch_id();
    fake.user.retrial(&["resume", &id]).exits(3).prints("submitted job 11: 2 tasks\n");
    assert_eq!(fake.calls("sbatch"), 8);
}

#[test]
fn a_failed_node_is_reported() {
    let fake = fake();
    fake.set("down", "n1");
    fake.user
        .batch(&[])
        .exits(3)
        .prints("again, on nodes other than n1")
        .prints("on n2: no container engine answers");
    let first = &ends(&fake, 2)[0];
    let reason = first["reason"].as_str().unwrap();
    assert_eq!(reason, "job 7_1 on n1 ended before its task did: NODE_FAIL");
}

#[test]
fn an_array_without_a_reply_is_found_by_its_name() {
    let fake = fake();
    fake.set("reply", "lost");
    fake.user.batch(&[]).exits(3).prints("found job 7: 3 tasks");
    assert_eq!(fake.calls("sbatch"), 2);
}

#[test]
fn a_pending_batch_is_found_and_canceled() {
    let fake = fake();
    fake.set("hold", "");
    let detached = fake.user.batch(&["--detach"]).exits(0);
    let id = fake.user.batch_id();
    assert!(detached.output.starts_with(&format!("{id}\n")), "{detached:?}");
    // The same command finds it again.
    fake.user.batch(&["--detach"]).exits(0).prints("is unfinished and continues");
    fake.user.retrial(&["stop", &id]).exits(0).prints(": stopped");
    let stop = fake.user.retrial(&["stop", &id]).exits(0);
    stop.prints("it has no job to stop");
    assert_eq!(fake.calls("sbatch"), 1);
    assert_eq!(fake.user.of_batch("journal.jsonl").last().unwrap()["exit_code"], 130);
    std::fs::remove_file(fake.path().join("hold")).unwrap();
    fake.user.retrial(&["resume", &id]).exits(3).prints("submitted job 8: 3 tasks");
}

#[test]
fn the_plan_prints_the_script_that_is_submitted() {
    let fake = fake();
    fake.set("size", "2");
    fake.user.site("time_limit: 1h\nengine: unix:///nowhere.sock\narray_task_throttle: 8\n");
    let words = ["plan", "./mine.yaml", "--vary", "size=small,large"];
    let more = ["--trials", "3", "--site", "lab", "--format", "sbatch"];
    let printed = fake.user.command(&[&words[..], &more].concat()).output();
    let printed = String::from_utf8(printed.unwrap().stdout).unwrap();
    fake.user.batch(&[]).exits(3);
    let id = fake.user.batch_id();
    let with_id = printed.replace("BATCH", &id);
    let with_id = with_id.replace(&format!("#S{id}"), "#SBATCH");
    assert_eq!(with_id, scripts(&fake)[0]);
    assert!(printed.contains("--array=0-1%8\n"), "{printed}");
}

#[test]
fn options_unsupported_by_a_site_are_refused() {
    let fake = fake();
    let parallel = fake.user.batch(&["--parallel", "2"]).exits(2);
    parallel.prints("at most N at once: `array_task_throttle: N` in the site file");
    let fail_fast = fake.user.batch(&["--on-failure", "fail-fast"]).exits(2);
    fail_fast.prints("--on-failure fail-fast needs one host");
    assert!(!fake.path().join("home/batches").exists());
}

/// With `--detach` nobody waits for its jobs.
#[test]
fn a_command_for_the_end_needs_a_process_that_waits() {
    let fake = fake();
    let refused = fake.user.batch(&["--detach", "--notify", "true"]).exits(2);
    refused.prints("no process waits for the job").prints("--mail-type=END");
    assert_eq!(fake.calls("sbatch"), 0);
    fake.user.batch(&["--notify", "cat > end.json"]).exits(3);
    let read = std::fs::read_to_string(fake.path().join("end.json")).unwrap();
    let read: Value = serde_json::from_str(&read).unwrap();
    assert_eq!((&read["exit_code"], &read["batch"]), (&3.into(), &fake.user.batch_id().into()));
}
