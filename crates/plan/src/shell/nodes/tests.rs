//! The script of three machines, run by three shells with a recorder in place of `docker`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::build::RecipeOrigin;
use crate::options::PlanOptions;
use crate::shell::render_script;
use crate::step::Plan;
use retrial_host::model::HostView;

const RECIPE: &str = r#"schema: 1
title: t
submission: { suite: own, benchmark: b, sources: [x] }
image: debian
requires: { gpus: { vendor: amd, models: [MI355X], count: 8 } }
nodes: { count: 3, gpus: 22 }
services:
  worker:
    on: all
    run: "work for ${{ head.address }} on ${{ node.name }} by ${{ node.gpus }} of ${{ nodes.gpus }}"
    ready: { port: 80 }
scenarios:
  s:
    performance: { needs: [worker], run: "measure ${{ nodes.count }}", figures: { speed: { pattern: "([0-9]+)" } } }
"#;

/// Records its arguments, and fails to measure on request.
const DOCKER: &str = r#"#!/bin/sh
line=$(printf '%s' "$*" | tr '\n' ' ')
printf '%s: %s\n' "$NODE" "$line" >>"$RECORD"
case "$*" in *measure*) [ -z "$FAILS" ] ;; esac
"#;

fn plan() -> Plan {
    let source = retrial_recipe::Source::new("r.yaml", RECIPE);
    let templates = &retrial_recipe::NoTemplates;
    let resolved = retrial_recipe::resolve_recipe("r", &source, templates, &[]);
    let recipe = resolved.unwrap().recipe;
    let options = PlanOptions::default();
    let host = HostView::default();
    crate::build_plan(&recipe, &RecipeOrigin::default(), &options, &host).unwrap()
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the script on three machines, and returns their outputs and what was recorded.
fn run_machines(arguments: [&[&str]; 3], fails: &str) -> (Vec<Output>, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("plan.sh"), render_script(&plan(), &[])).unwrap();
    fs::create_dir(path("bin")).unwrap();
    fs::create_dir(path("meet")).unwrap();
    write_program(&path("bin/docker"), DOCKER);
    write_program(&path("bin/hostname"), "#!/bin/sh\necho \"$NODE\"\n");
    write_program(&path("bin/retrial"), "#!/bin/sh\nexec docker judge\n");
    let bin = path("bin").display().to_string() + ":" + &std::env::var("PATH").unwrap();
    let start = |(node, arguments): (&str, &[&str])| -> Child {
        fs::create_dir(path(node)).unwrap();
        let mut script = Command::new("sh");
        script.arg("../plan.sh").args(arguments).current_dir(path(node));
        script.env("PATH", &bin).env("NODE", node).env("FAILS", fails);
        script.env("MEET", path("meet")).env("RECORD", path("record"));
        script.stdout(Stdio::piped()).stderr(Stdio::piped());
        script.spawn().unwrap()
    };
    let machines: Vec<Child> = ["n1", "n2", "n3"].into_iter().zip(arguments).map(start).collect();
    let outputs = machines.into_iter().map(|machine| machine.wait_with_output().unwrap());
    let outputs = outputs.collect();
    (outputs, fs::read_to_string(path("record")).unwrap_or_default())
}

const ROLES: [&[&str]; 3] =
    [&["head", "192.0.2.1", "8"], &["worker", "192.0.2.1", "7"], &["worker", "192.0.2.1", "7"]];

/// The positions of the recorded commands that contain a text.
fn positions(record: &str, text: &str) -> Vec<usize> {
    let lines = record.lines().enumerate();
    lines.filter(|(_, line)| line.contains(text)).map(|(at, _)| at).collect()
}

#[test]
fn machines_wait_for_services_and_for_the_measurement() {
    let (outputs, record) = run_machines(ROLES, "");
    assert!(outputs.iter().all(|output| output.status.success()), "{outputs:?}\n{record}");
    for (node, gpus) in [("n1", 8), ("n2", 7), ("n3", 7)] {
        let start = format!("work for 192.0.2.1 on {node} by {gpus} of 22");
        let started = positions(&record, &start);
        assert!(record.lines().nth(started[0]).unwrap().starts_with(node), "{record}");
    }
    let measured = positions(&record, "measure 3");
    let started = positions(&record, "exec -d");
    let stopped = positions(&record, "worker TERM");
    assert_eq!((measured.len(), started.len()), (1, 3), "{record}");
    assert!(started.iter().all(|at| *at < measured[0]), "{record}");
    assert!(stopped.len() >= 3 && stopped.iter().all(|at| *at > measured[0]), "{record}");
    assert_eq!(positions(&record, "n1: judge").len(), 1, "{record}");
    assert_eq!(positions(&record, "judge").len(), 1, "{record}");
}

#[test]
fn a_failure_of_the_head_ends_the_other_machines() {
    let (outputs, record) = run_machines(ROLES, "yes");
    for (output, problem) in
        outputs.iter().zip(["", "error: n1 has failed", "error: n1 has failed"])
    {
        let problems = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{problems}\n{record}");
        assert!(problems.contains(problem), "{problems}");
    }
    assert!(!record.contains("judge"), "{record}");
}

#[test]
fn a_machine_without_a_role_runs_nothing() {
    let (outputs, record) =
        run_machines([&[], &["worker", "192.0.2.1"], &["other", "192.0.2.1", "8"]], "");
    for output in outputs {
        assert_eq!(output.status.code(), Some(2));
        let problems = String::from_utf8(output.stderr).unwrap();
        assert_eq!(problems, "usage: sh ../plan.sh head|worker ADDRESS GPUS\n");
    }
    assert_eq!(record, "");
}
