//! The jobs of `examples/ci`, executed as a runner does: each command of the workflow in a shell of its own that ends at the
//! first error, those with `if: always()` also after it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::lab::Lab;

/// A program whose figure scatters by 0.2 %.
fn benchmark(speed: u32) -> String {
    format!(
        "#!/bin/sh\nawk 'BEGIN {{ srand(); print \"speed: \" {speed} * (1 + (rand() - 0.5) / 250) \" items/s\" }}'\n"
    )
}

/// A clone of a repository, on a branch that changes the program's speed from 100.
fn branch_with(lab: &Lab, speed: u32) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ci");
    // The images of tests have different names: those of their commits.
    let commit = format!(
        "git add . && git -c user.name=t -c user.email=t@example.org commit --quiet --message {}",
        lab.path("").display()
    );
    fs::write(lab.path("slow"), benchmark(speed)).unwrap();
    let script = format!(
        "set -e
        git init --quiet --initial-branch main origin; cd origin
        cp -r {} ci
        printf 'FROM debian:bookworm-slim\\nCOPY app-benchmark /usr/bin/\\n' >Dockerfile
        {commit} && cp ../before app-benchmark && chmod +x app-benchmark && {commit}
        cd .. && git clone --quiet origin clone && cd clone && git checkout --quiet -b change
        cp ../slow app-benchmark && chmod +x app-benchmark && {commit} --allow-empty",
        example.display()
    );
    fs::write(lab.path("before"), benchmark(100)).unwrap();
    let done = lab.script(&script);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn path_with_tool() -> String {
    let tool = Path::new(env!("CARGO_BIN_EXE_retrial")).parent().unwrap();
    format!("{}:{}", tool.display(), std::env::var("PATH").unwrap())
}

/// Executes commands in the clone, and returns the first exit code that is not 0.
fn execute(lab: &Lab, steps: &[(&str, bool)], environment: &[(&str, &str)]) -> i32 {
    let path = path_with_tool();
    let mut code = 0;
    for (command, always) in steps {
        if code != 0 && !always {
            continue;
        }
        let mut shell = Command::new("bash");
        shell.args(["-e", "-c", command]).current_dir(lab.path("clone")).env("PATH", &path);
        let status = shell.envs(environment.iter().copied()).status().unwrap();
        code = if code == 0 { status.code().unwrap() } else { code };
    }
    code
}

fn example(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ci").join(name);
    serde_saphyr::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Expects that the job has removed the images that it built. Others build images of other commits.
fn expect_no_image(lab: &Lab) {
    let images = "cd clone && docker images --format '{{.Tag}}' app";
    let of_commits = "grep -e ^$(git rev-parse --short main) -e ^$(git rev-parse --short change)";
    let left = lab.script(&format!("{images} | {of_commits}"));
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}

#[test]
#[ignore = "needs the lab"]
fn the_workflow_fails_a_pull_request_that_is_slower() {
    let lab = Lab::new();
    branch_with(&lab, 90);
    let workflow = example("github.yaml");
    let steps = workflow["jobs"]["figures"]["steps"].as_array().unwrap();
    let steps: Vec<(&str, bool)> = steps
        .iter()
        .filter_map(|step| Some((step["run"].as_str()?, step["if"] == "always()")))
        .collect();
    let summary = lab.path("summary.md");
    let environment =
        [("GITHUB_BASE_REF", "main"), ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap())];
    assert_eq!(execute(&lab, &steps, &environment), 1);
    let summary = fs::read_to_string(summary).unwrap();
    assert!(summary.contains("claim contradicted") && summary.contains("▼ slower"), "{summary}");
    let clone = lab.path("clone");
    let suites = fs::read_to_string(clone.join("figures.xml")).unwrap();
    assert!(suites.contains("failures=\"1\""), "{suites}");
    assert!(fs::read_to_string(clone.join("figures.html")).unwrap().contains("<html"));
    expect_no_image(&lab);
}

#[test]
#[ignore = "needs the lab"]
fn the_job_of_gitlab_passes_a_change_that_is_as_fast() {
    let lab = Lab::new();
    branch_with(&lab, 100);
    let pipeline = example("gitlab.yaml");
    let job = &pipeline["figures"];
    let script = job["script"].as_array().unwrap();
    let steps: Vec<(&str, bool)> =
        script.iter().map(|line| (line.as_str().unwrap(), false)).collect();
    let target = [("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")];
    assert_eq!(execute(&lab, &steps, &target), 0);
    let clone = lab.path("clone");
    let paths = job["artifacts"]["paths"].as_array().unwrap().iter();
    let report = &job["artifacts"]["reports"]["junit"];
    for path in paths.chain([report]) {
        assert!(clone.join(path.as_str().unwrap()).exists(), "{path}");
    }
    expect_no_image(&lab);
}

/// Nothing is reported that was not measured.
#[test]
#[ignore = "needs the lab"]
fn a_mistake_in_the_recipe_has_an_exit_code_of_its_own() {
    let lab = Lab::new();
    branch_with(&lab, 100);
    let recipe = lab.path("clone/ci/benchmark.yaml");
    let text = fs::read_to_string(&recipe).unwrap();
    fs::write(&recipe, text.replace("figures:", "figure:")).unwrap();
    assert_eq!(execute(&lab, &[("./ci/figures.sh main", false)], &[]), 2);
    assert!(!lab.path("clone/figures.xml").exists());
    expect_no_image(&lab);
}

/// As docs/ci.md says.
#[test]
#[ignore = "needs the lab"]
fn what_a_killed_job_leaves_is_removed() {
    let lab = Lab::new();
    branch_with(&lab, 100);
    let waits = "#!/bin/sh\necho going; sleep 600\n";
    fs::write(lab.path("clone/app-benchmark"), waits).unwrap();
    let job = "killed";
    let mut going = Command::new("setsid");
    going.args(["./ci/figures.sh", "main"]).current_dir(lab.path("clone"));
    let mut going = going.env("PATH", path_with_tool()).env("GITHUB_RUN_ID", job).spawn().unwrap();
    let of_job = |command: &str| {
        let image = format!("app:$(git rev-parse --short change)-{job}");
        let listed = lab.script(&format!("cd clone && {command}={image}"));
        String::from_utf8(listed.stdout).unwrap()
    };
    lab.until("it measures", |_| !of_job("docker ps --quiet --filter ancestor").is_empty());
    let group = format!("-{}", going.id());
    assert!(Command::new("kill").args(["-KILL", "--", &group]).status().unwrap().success());
    going.wait().unwrap();
    assert_eq!(execute(&lab, &[("RETRIAL_HOME=./retrial retrial clean --all", false)], &[]), 0);
    assert_eq!(of_job("docker ps --all --quiet --filter ancestor"), "");
    let images = of_job("docker images --quiet --filter label=figures --filter reference");
    assert!(!images.is_empty(), "the documented filter finds the image");
    let remove = "cd clone && for at in main change; do docker rmi --no-prune app:$(git rev-parse --short $at)-killed; done";
    assert!(lab.script(remove).status.success());
}
