//! The engine and its registries: not there, going away, coming back, elsewhere.

use crate::lab::{Lab, PrivateEngine, case, image, recipe_with};
use crate::support::needs::make_simulated_gpus;

/// Prints sixty lines, and waits after the twentieth until the test lets it continue.
const LINES: &str = "echo \"uuid $(cat /proc/sys/kernel/random/uuid)\"
for i in $(seq 1 60); do
  echo \"line $i\"
  test $i -ne 20 || until test -e /beside/go-on; do sleep 0.05; done
done
mkdir /results; date >/results/when";

const ALLOW: [&str; 2] = ["--allow", "mounts"];

fn lines(engine: &PrivateEngine) -> Lab {
    let lab = Lab::with_engine(Some(engine.url.clone()));
    let keys = format!("container: {{ mounts: [{}:/beside:ro] }}", lab.path("").display());
    let recipe = recipe_with(&keys, &case("main", LINES, "results: /results"));
    lab.recipe(&recipe)
}

fn go_on(lab: &Lab) {
    std::fs::write(lab.path("go-on"), "").unwrap();
}

#[test]
#[ignore = "needs the lab"]
fn a_tag_that_is_not_there() {
    let lab = Lab::new();
    let keys = format!("image: {}", image("busybox").replace(":1", ":2026.13"));
    // A registry's address has a `:1`, too.
    let keys = keys.replacen(":2026.13", ":1", keys.matches(":2026.13").count() - 1);
    let lab = lab.recipe(&recipe_with(&keys, &case("main", "true", "")));
    let run = lab.run(&[]).expect_exit(3).prints("check the name and the tag");
    let missing = |text: &str| {
        let (_, words) = text.split_once("there is no image").unwrap();
        words.lines().next().unwrap().to_owned()
    };
    let batch = lab.retrial(&["batch", "./recipe.yaml", "--trials", "2"]).expect_exit(3);
    assert_eq!(missing(&run.err), missing(&batch.err));
}

#[test]
#[ignore = "needs the lab"]
fn a_registry_that_is_down() {
    let lab = Lab::new();
    let lab =
        lab.recipe(&recipe_with("image: 127.0.0.1:9/team/image:1", &case("main", "true", "")));
    lab.run(&[]).expect_exit(3).prints("127.0.0.1:9");
    lab.run(&["--pull", "never"])
        .expect_exit(3)
        .prints("the engine has no image 127.0.0.1:9/team/image:1")
        .prints("build it or pull it yourself, or use --pull missing");
}

#[test]
#[ignore = "needs the lab"]
fn without_an_engine_no_run_is_begun() {
    let lab = Lab::new();
    let lab = lab.measures("true");
    lab.run(&["--engine", "unix:///nowhere/docker.sock"])
        .expect_exit(3)
        .prints("check that it runs");
    assert!(lab.runs().is_empty(), "nothing is begun");
}

#[test]
#[ignore = "needs root and the lab"]
fn restarted_in_the_middle_of_a_step() {
    let engine = PrivateEngine::start("flow-restart");
    let lab = lines(&engine);
    let mut going = lab.start(&ALLOW);
    lab.until_printed("03-main-performance", "line 10");
    engine.restart();
    go_on(&lab);
    going.end().expect_exit(0).prints("reproduced");
    let output = lab.output("03-main-performance");
    assert_eq!(output.matches("line ").count(), 60);
    assert_eq!(output.matches("uuid ").count(), 1);
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs root and the lab"]
fn killed_and_back_only_later() {
    let engine = PrivateEngine::start("flow-killed");
    let lab = lines(&engine).env("RETRIAL_ENGINE_PATIENCE", "1");
    let mut going = lab.start(&ALLOW);
    lab.until_printed("03-main-performance", "line 10");
    engine.kill();
    go_on(&lab);
    let done = going.end().expect_exit(3).prints("lost the connection to the engine");
    assert!(done.out.contains("retrial resume") || done.err.contains("retrial resume"), "{done:?}");
    lab.retrial(&["resume", "last"]).expect_exit(3).prints("check that it runs");

    engine.start_again();
    lab.retrial(&["resume", "last"]).expect_exit(0).prints("reproduced");
    assert_eq!(lab.count("main-performance", "step_started"), 1, "not measured again");
    assert_eq!(lab.output("03-main-performance").matches("uuid ").count(), 1);
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs root and the lab"]
fn killed_with_the_tool_and_back() {
    let engine = PrivateEngine::start("flow-both");
    let lab = lines(&engine);
    let going = lab.start(&ALLOW);
    lab.until_printed("03-main-performance", "line 10");
    going.kill();
    engine.kill();
    engine.start_again();
    go_on(&lab);
    lab.retrial(&["resume", "last"]).expect_exit(0).prints("reproduced");
    assert_eq!(lab.output("03-main-performance").matches("line ").count(), 60);
}

#[test]
#[ignore = "needs root and the lab"]
fn an_engine_on_another_file_system() {
    let place = tempfile::Builder::new().prefix("retrial-apart-").tempdir().unwrap();
    let mount = format!("mount -t tmpfs none {} && exec \"$0\" \"$@\"", place.path().display());
    let through = ["unshare", "-m", "--propagation", "private", "sh", "-c", &mount];
    let engine = PrivateEngine::start_with("flow-apart", &through);
    let lab = Lab::with_engine(Some(engine.url.clone())).measures("true").home(place.path());
    lab.run(&[])
        .expect_exit(3)
        .prints("does not share this machine's files")
        .prints("run retrial on the engine's own machine");
    assert_eq!(lab.containers(), [""; 0]);
}

#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn the_gpus_are_in_use() {
    // An engine of its own: others may claim GPUs on the lab's.
    let engine = PrivateEngine::start("flow-gpus");
    make_simulated_gpus();
    let keys = "requires:\n  gpus: { vendor: amd, count: 1 }";
    let text = recipe_with(
        keys,
        &case("main", "echo going; until test -e /go-on; do sleep 0.05; done", ""),
    );
    let with_engine = || Lab::with_engine(Some(engine.url.clone())).recipe(&text);
    let lab = with_engine();
    lab.run(&[])
        .expect_exit(3)
        .prints("this host does not meet the requirements of")
        .prints("--force");
    let mut going = lab.start(&["--force"]);
    lab.until_printed("03-main-performance", "going");
    let other = with_engine();
    let id = lab.id();
    other
        .run(&["--force", "--no-wait"])
        .expect_exit(3)
        .prints(&format!("all GPUs are in use by run {id}"))
        .prints("retrial stop");
    // Without it, the other run begins when this one has ended.
    let third = with_engine();
    let mut waiting = third.start(&["--force"]);
    third.until("it says for whom it waits", |third| {
        let message = format!("waiting: all GPUs are in use by run {id}");
        third.journal().iter().any(|entry| {
            let text = entry["text"].as_str().unwrap_or_default();
            text.starts_with(&message)
        })
    });
    lab.docker(&["exec", &lab.container(), "touch", "/go-on"]);
    going.end().expect_exit(0);
    third.until_printed("03-main-performance", "going");
    third.docker(&["exec", &third.container(), "touch", "/go-on"]);
    waiting.end().expect_exit(0);
}
