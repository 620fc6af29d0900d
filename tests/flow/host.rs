//! Steps on the host.

use std::fs;

use crate::lab::{Lab, PrivateEngine, case, recipe_with};

/// A recipe with a step on the host, `setup-own`.
fn on_host(commands: &str, more: &str) -> String {
    let keys = format!(
        "setup:\n  own:\n    on: host\n    run: |\n      {}\n    {}",
        commands.replace('\n', "\n      "),
        more.replace('\n', "\n    ")
    );
    recipe_with(&keys, &case("main", "echo in the container", ""))
}

const ALLOW: [&str; 2] = ["--allow", "host"];

#[test]
#[ignore = "needs the lab"]
fn a_step_runs_on_the_host_with_its_own_environment() {
    let lab = Lab::new();
    let commands = "pwd; cat /proc/self/sessionid >/dev/null; echo \"$SECRET_OF_MINE|$EXTRA|$RETRIAL_RUN_DIR\"\nps -o sid= -p $$ | tr -d ' '\necho $PPID; cat \"$RETRIAL_RECIPE_DIR/beside.txt\"; test -n \"$PATH$HOME$DOCKER_HOST\"";
    let lab = lab
        .recipe(&on_host(commands, "env: { EXTRA: extra }"))
        .file("beside.txt", "beside\n")
        .env("SECRET_OF_MINE", "mine");
    lab.run(&[]).expect_exit(2).prints("--allow host");
    lab.run(&ALLOW).expect_exit(0);
    let run = lab.the_run().canonicalize().unwrap();
    let output = lab.output("02-setup-own");
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0], run.join("host/files").to_str().unwrap());
    assert_eq!(lines[1], format!("|extra|{}", run.display()));
    assert_eq!(lines[2], lines[3], "the step's shell leads a session of its own");
    assert_eq!(lines[4], "beside");
    lab.retrial(&["plan", "./recipe.yaml"]).prints("on the host:");
}

#[test]
#[ignore = "needs the lab"]
fn only_a_step_that_runs_a_file_of_the_recipe_is_remembered() {
    let lab = Lab::new();
    // Not next to the recipe, where a run would change it.
    let home = tempfile::tempdir().unwrap();
    let lab = lab
        .recipe(&on_host("\"$RETRIAL_RECIPE_DIR/own.sh\"", ""))
        .file("own.sh", "#!/bin/sh\necho one\n")
        .home(home.path());
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(lab.path("own.sh"), executable).unwrap();
    let approve = || {
        let mut asked = lab.start_in_terminal(&["run", "./recipe.yaml"]);
        asked.press("y\n");
        asked.end().expect_exit(0);
    };
    approve();
    lab.run(&[]).expect_exit(0);
    fs::write(lab.path("own.sh"), "#!/bin/sh\necho two\n").unwrap();
    lab.run(&[]).expect_exit(2).prints("--allow host");
    // Another file, which it does not cover, decides what this one does.
    let script = lab.path("own.sh").display().to_string();
    fs::write(lab.path("recipe.yaml"), on_host(&script, "")).unwrap();
    approve();
    lab.run(&[]).expect_exit(2).prints("--allow host");
}

#[test]
#[ignore = "needs the lab"]
fn the_question_shows_the_command() {
    let lab = Lab::new();
    let lab = lab.recipe(&on_host("echo a\u{2003}b; touch /tmp/x\necho two", ""));
    let refused = lab.run(&[]).expect_exit(2);
    refused.prints("| echo a\\u{2003}b; touch /tmp/x\n").prints("| echo two\n");
    let many: Vec<String> = (1..=20).map(|number| format!("echo {number}")).collect();
    let lab = lab.recipe(&on_host(&many.join("\n"), ""));
    let refused = lab.run(&[]).expect_exit(2).prints("| echo 12\n").does_not_print("| echo 13");
    refused.prints("| … 8 more lines");
    let lab = lab.recipe(&on_host(&format!("true{}; false", " x".repeat(300)), ""));
    lab.run(&[]).expect_exit(2).prints("… 311 more characters");
    // A step of `datasets` may have the name of one of `setup`.
    let dataset =
        "datasets:\n  own: { on: host, run: echo two, cache: { path: /own, key: own } }\n";
    let both = on_host("echo one", "").replacen("setup:", &format!("{dataset}setup:"), 1);
    let lab = lab.recipe(&both);
    lab.run(&[]).expect_exit(2).prints("| echo one\n").prints("| echo two\n");
}

#[test]
#[ignore = "needs the lab"]
fn failures_timeouts_and_silence_are_handled() {
    let lab = Lab::new();
    let lab = lab.recipe(&on_host("echo said; exit 7", ""));
    lab.run(&ALLOW).expect_exit(4).prints("exit code 7").prints("said");
    let lab = Lab::new();
    let commands = "trap 'echo told; exit 0' TERM\necho $$; sleep 600 & echo $!; wait";
    // Time enough for a busy machine to start the shell and to set its trap.
    let lab = lab.recipe(&on_host(commands, "timeout: 5s"));
    lab.run(&ALLOW).expect_exit(4).prints("did not finish within 5s");
    let output = lab.output("02-setup-own");
    assert!(output.contains("told"), "{output}");
    for pid in output.lines().take(2) {
        assert!(!alive(pid), "{pid} lives on");
    }
}

fn alive(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit(") ").next().unwrap_or_default();
    !state.is_empty() && !state.starts_with('Z')
}

#[test]
#[ignore = "needs the lab"]
fn a_stopped_step_ends_all_its_processes() {
    let lab = Lab::new();
    // What left its session is known by the step's mark.
    let commands = "setsid sleep 601 & echo $!; sleep 602 & echo $!; echo going; wait";
    let lab = lab.recipe(&on_host(commands, ""));
    let mut going = lab.start(&ALLOW);
    lab.until_printed("02-setup-own", "going");
    going.signal("INT");
    going.end().expect_exit(130);
    for pid in lab.output("02-setup-own").lines().take(2) {
        assert!(!alive(pid), "{pid} lives on");
    }
}

#[test]
#[ignore = "needs the lab"]
fn a_step_outlives_the_tool() {
    let lab = Lab::new();
    let commands = "cat /proc/sys/kernel/random/uuid; echo going\nfor i in $(seq 1 600); do test ! -e go-on || break; sleep 0.05; done\necho done";
    let lab = lab.recipe(&on_host(commands, ""));
    let going = lab.start(&ALLOW);
    lab.until_printed("02-setup-own", "going");
    going.kill();
    let mut resumed = lab.start_retrial(&["resume", "last"]);
    lab.until("it is followed", |lab| lab.count("setup-own", "step_reattached") > 0);
    fs::write(lab.the_run().join("host/files/go-on"), "").unwrap();
    resumed.end().expect_exit(0);
    let output = lab.output("02-setup-own");
    assert_eq!(output.lines().count(), 3, "{output}");
    assert_eq!(lab.count("setup-own", "step_started"), 1);
}

#[test]
#[ignore = "needs the lab"]
fn a_detached_step_is_stopped() {
    let lab = Lab::new();
    let lab = lab.recipe(&on_host("echo $$; echo going; sleep 603", ""));
    let going = lab.start(&ALLOW);
    lab.until_printed("02-setup-own", "going");
    going.kill();
    let output = lab.output("02-setup-own");
    let pid = output.lines().next().unwrap();
    assert!(alive(pid), "it goes on");
    lab.retrial(&["stop", "last"]).expect_exit(0);
    assert!(!alive(pid), "{pid} lives on");
}

#[test]
#[ignore = "needs the lab"]
fn a_step_killed_meanwhile_is_repeated() {
    let lab = Lab::new();
    let commands = "test -e again || { touch again; echo going; sleep 600; }";
    let lab = lab.recipe(&on_host(commands, ""));
    let going = lab.start(&ALLOW);
    lab.until_printed("02-setup-own", "going");
    going.kill();
    let leader = lab.text("host/control/steps/02-setup-own/pid");
    let group = format!("-{}", leader.trim());
    let killed = std::process::Command::new("kill").args(["-9", "--", &group]).status();
    assert!(killed.unwrap().success());
    lab.retrial(&["resume", "last"])
        .expect_exit(3)
        .prints("killed before it could write its exit code");
    lab.retrial(&["resume", "last"]).expect_exit(0);
}

#[test]
#[ignore = "needs the lab"]
fn a_secret_is_redacted_on_the_host_too() {
    let lab = Lab::new();
    let text =
        on_host("echo \"token $HF_TOKEN\"", "").replace("setup:", "secrets: [HF_TOKEN]\nsetup:");
    let lab = lab.recipe(&text).env("HF_TOKEN", "hf_abcdefghijk");
    lab.run(&["--allow", "host,secrets"]).expect_exit(0);
    assert_eq!(lab.output("02-setup-own"), "token [HF_TOKEN]\n");
    assert!(Lab::files_with(lab.home_path(), "hf_abcdefghijk").is_empty());
}

#[test]
#[ignore = "needs the lab"]
fn files_are_copied_from_the_image_first() {
    let lab = Lab::new();
    let keys = "copy_from_image:\n  - { path: /etc/apt, to: from/apt }\n  - { path: /etc/debian_version, to: version }\n  - { path: /usr/bin/ldd, to: bin/ldd }\n";
    let text = keys.to_owned()
        + "setup:\n  own:\n    on: host\n    run: ls -d from/apt/sources.list* from/apt/trusted.gpg.d; test -s version; test -x bin/ldd";
    let lab = lab.recipe(&recipe_with(&text, &case("main", "true", "")));
    lab.run(&ALLOW).expect_exit(0);
    let output = lab.output("05-setup-own");
    assert!(output.contains("from/apt/trusted.gpg.d"), "{output}");
    assert_eq!(lab.containers(), [""; 0]);
    let wrong =
        recipe_with("copy_from_image: [{ path: /nowhere, to: x }]", &case("main", "true", ""));
    let lab = Lab::new().recipe(&wrong);
    lab.run(&[]).expect_exit(2).prints("the image has no /nowhere");
}

#[test]
#[ignore = "needs the lab"]
fn a_directory_can_be_populated_on_the_host() {
    let lab = Lab::new();
    let text =
        on_host("echo here >\"$RETRIAL_CACHE_PATH/file\"", "cache: { path: /data, key: data }")
            .replace(
                "echo in the container",
                "cat /data/file; touch /data/x 2>/dev/null || echo read-only",
            );
    let lab = lab.recipe(&text);
    lab.run(&ALLOW).expect_exit(0);
    assert!(lab.output("04-main-performance").starts_with("here\nread-only\n"));
}

#[test]
#[ignore = "needs root and the lab"]
fn a_step_survives_a_lost_engine() {
    let engine = PrivateEngine::start("host");
    let lab = Lab::with_engine(Some(engine.url.clone()));
    let commands =
        "echo going; for i in $(seq 1 600); do test ! -e go-on || break; sleep 0.05; done";
    let lab = lab.recipe(&on_host(commands, ""));
    let mut going = lab.start(&ALLOW);
    lab.until_printed("02-setup-own", "going");
    engine.restart();
    fs::write(lab.the_run().join("host/files/go-on"), "").unwrap();
    going.end().expect_exit(0);
}
