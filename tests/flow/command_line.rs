//! Details of the command line that hold for a whole run.

use std::fs;
use std::process::{Command, Stdio};

use crate::lab::{Lab, case, recipe_with};

/// `retrial …` in the lab's directory, with its standard output elsewhere.
fn into(lab: &Lab, file: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let to = fs::OpenOptions::new().write(true).open(file).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(arguments)
        .current_dir(lab.path(""))
        .env("RETRIAL_HOME", lab.home_path())
        .stdout(to)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    (done.status.code(), stderr)
}

#[test]
#[ignore = "needs the lab"]
fn a_relative_home_is_the_same_for_every_process() {
    let lab = Lab::new();
    let home = lab.path("");
    let lab = lab.home(&home.join("here")).measures("echo going; sleep 2; echo done");
    let relative = ["--home", "./here", "--cache", "cache"];
    let going = lab.start(&relative);
    lab.until_printed("03-main-performance", "going");
    going.kill();
    // A new container is created: the first one was removed.
    lab.docker(&["rm", "-f", &lab.container()]);
    lab.retrial(&[&["resume", "last"], &relative[..]].concat()).expect_exit(0);
}

#[test]
#[ignore = "needs the lab"]
fn a_failed_write_of_the_result_is_an_error() {
    let lab = Lab::new();
    let lab = lab.measures("true");
    lab.run(&[]).expect_exit(0);
    let commands: [&[&str]; 15] = [
        &["judge", "last", "--output", "json"],
        &["judge", "last"],
        &["run", "./recipe.yaml", "--output", "json"],
        &["runs"],
        &["report", "last", "--output", "markdown"],
        &["logs", "last"],
        &["resume", "last"],
        &["list"],
        &["show", "./recipe.yaml"],
        &["check", "./recipe.yaml"],
        &["plan", "./recipe.yaml"],
        &["doctor"],
        &["catalogue"],
        &["help", "run"],
        &["--version"],
    ];
    for command in commands {
        let (code, stderr) = into(&lab, "/dev/full", command);
        assert_eq!(code, Some(3), "{command:?}: {stderr}");
        assert!(
            stderr.contains("error: failed to write standard output: No space left on device"),
            "{command:?}: {stderr}"
        );
    }
}

#[test]
#[ignore = "needs the lab"]
fn common_command_line_input_is_understood() {
    let lab = Lab::new();
    let lab = lab.measures("true");
    lab.retrial(&["help", "run"]).expect_exit(0).prints("Run a recipe and judge the results");
    lab.retrial(&["plan", "recipe.yaml"]).expect_exit(0);
    lab.retrial(&["run", "./"]).expect_exit(0);
    let directory = lab.path("").canonicalize().unwrap();
    let name = directory.file_name().unwrap().to_str().unwrap();
    assert!(lab.id().contains(&name.to_lowercase()), "{}", lab.id());
    lab.retrial(&["compare", "last", "last"]).expect_exit(2).prints("is named twice");
}

#[test]
#[ignore = "needs the lab"]
fn more_trials_are_suggested_as_a_full_command_line() {
    let lab = Lab::new();
    // Too near to the margin for one trial.
    let cases = case("main", "echo ${{ params.size }}", "").replace("value: 42,", "value: 44.5,");
    let lab = lab.recipe(&recipe_with("params: { size: { type: int, default: 3 } }", &cases));
    lab.run(&["--trials", "1", "--warmup", "1", "--set", "size=4"])
        .expect_exit(5)
        .prints("./recipe.yaml --set size=4 --warmup 1 --trials ");
}
