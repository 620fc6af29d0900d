//! Runs every command in the README and in docs/, and compares its output with the page.
//!
//! A block that is fenced as `console` has commands (`$ …`) and their output; one that is fenced as `yaml NAME`,
//! `sh NAME` or `text NAME` is that file. The blocks of a page share a working directory. Figures, ids, times and widths differ
//! between runs, so they are ignored; a line `…` matches any number of lines.
//! `RETRIAL_DOCS=overwrite cargo test --test docs -- --include-ignored` writes the output into the files, for a block with `…` the same
//! excerpt.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

mod flags;
#[path = "../hub/mod.rs"]
mod hub;
mod links;
mod page;
mod pictures;
mod statistics;
#[path = "../support/mod.rs"]
mod support;

use hub::{Content, Hub, Repository};
use page::{commands, excerpt, files, same};
use support::needs::{assert_engine_answers, claim_simulated_gpus};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The user's home: not the directory of the recipes, of which everything in a home needs approval.
fn home(directory: &Path) -> PathBuf {
    directory.join("home")
}

fn run(command: &str, directory: &Path, hub: &Hub) -> Vec<String> {
    let binary = Path::new(env!("CARGO_BIN_EXE_retrial")).parent().unwrap();
    let path = format!(
        "{}:{}:{}",
        binary.display(),
        directory.join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let output = Command::new("bash")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(directory)
        .env("PATH", path)
        .env("HOME", home(directory))
        .env_remove("RETRIAL_HOME")
        .env_remove("RETRIAL_CACHE")
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_CACHE_HOME")
        .env_remove("XDG_CONFIG_HOME")
        .env("FAKE", directory.join("slurm"))
        .env("HF_ENDPOINT", hub.endpoint())
        .env_remove("HF_TOKEN")
        .env_remove("RUST_BACKTRACE")
        .env(
            "DOCKER_CONFIG",
            std::env::var("DOCKER_CONFIG").unwrap_or_else(|_| "/root/.docker".to_owned()),
        )
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.replace(&home(directory).display().to_string(), "~");
    let text = text.replace(&directory.display().to_string(), "~");
    let mut lines: Vec<String> = text.lines().map(|line| line.trim_end().to_owned()).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// The summaries that AMD published for Llama 2 70B, laid out as results.
fn published(directory: &Path) {
    let standin = root().join("tests/standins/llama2-70b-v6.0/published");
    for scenario in ["Offline", "Server", "Interactive"] {
        let run = directory.join(format!("published/{scenario}/performance/run_1"));
        std::fs::create_dir_all(&run).unwrap();
        let summary = standin.join(format!("{}.summary", scenario.to_lowercase()));
        std::fs::copy(summary, run.join("mlperf_log_summary.txt")).unwrap();
    }
}

/// Stand-ins of Slurm's programs, whose jobs are processes of this machine; and the program, as on a node.
fn stand_ins_of_slurm(directory: &Path) {
    let bin = directory.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::create_dir_all(directory.join("slurm")).unwrap();
    let stand_in = root().join("tests/cluster/slurm/stand-in");
    for name in ["sbatch", "squeue", "sacct", "scancel", "scontrol", "srun"] {
        std::os::unix::fs::symlink(&stand_in, bin.join(name)).unwrap();
    }
    let program = env!("CARGO_BIN_EXE_retrial");
    std::os::unix::fs::symlink(program, bin.join("retrial")).unwrap();
    std::os::unix::fs::symlink("../bin", home(directory).join("bin")).unwrap();
}

/// The registry in pages: the lab's, if this port is free.
const SHOWN_REGISTRY: &str = "127.0.0.1:5155";

fn overwrites() -> bool {
    std::env::var("RETRIAL_DOCS").is_ok_and(|value| value == "overwrite")
}

fn copy(option: &str, from: &Path, to: &Path) {
    assert!(Command::new("cp").arg(option).args([from, to]).status().unwrap().success());
}

fn assert_page_is_reproduced(file: &str) {
    assert_engine_answers();
    let path = root().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let directory = tempfile::tempdir().unwrap();
    // Examples with images, with this machine's certificates if it has its own.
    std::fs::create_dir_all(directory.path().join("examples")).unwrap();
    for name in ["quickstart", "inference-server"] {
        let example = Command::new(root().join("tests/lab/example")).arg(name).output().unwrap();
        let example = String::from_utf8(example.stdout).unwrap();
        copy("-rL", Path::new(example.trim()), &directory.path().join("examples").join(name));
    }
    // Small submissions, for pages about judging.
    for tree in ["examples/ci", "examples/submission", "examples/training"] {
        copy("-a", &root().join(tree), &directory.path().join(tree));
    }
    std::fs::create_dir(home(directory.path())).unwrap();
    published(directory.path());
    // Simulated hosts, and the script that creates others, for pages about GPUs: where they are in a checkout.
    let fixtures = directory.path().join("tests/fixtures");
    std::fs::create_dir_all(&fixtures).unwrap();
    copy("-a", &root().join("tests/fixtures/hosts"), &fixtures);
    stand_ins_of_slurm(directory.path());
    let registry = std::env::var("RETRIAL_LAB_REGISTRY").unwrap();
    for (name, body) in files(&text) {
        let body = body.replace(SHOWN_REGISTRY, &registry);
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, body).unwrap();
    }
    // The hub of the pages about models.
    let hub = Hub::start();
    hub.add(
        Repository::new("example/tiny")
            .file("greeting.txt", "good morning\n")
            .lfs("model.safetensors", Content::generated(1, 2 << 20)),
    );
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut wrong = Vec::new();
    let shown = commands(&text);
    assert!(!shown.is_empty(), "{file} shows no command");
    let mut printed_all = Vec::new();
    for shown in &shown {
        let printed = run(&shown.command, directory.path(), &hub);
        let printed: Vec<String> =
            printed.iter().map(|line| line.replace(&registry, SHOWN_REGISTRY)).collect();
        if !same(&shown.output, &printed) {
            wrong.push(format!(
                "$ {}\n--- shown\n{}\n--- printed\n{}",
                shown.command,
                shown.output.join("\n"),
                printed.join("\n")
            ));
        }
        printed_all.push(printed);
    }
    if file == "README.md" {
        let run = |command: &str| run(command, directory.path(), &hub);
        pictures::assert_pictures_are_reproduced(directory.path(), run);
    }
    // Once this home is gone, what a killed run left would be anybody's to remove.
    run("retrial clean --all", directory.path(), &hub);
    if overwrites() {
        for (shown, printed) in shown.iter().zip(printed_all).rev() {
            if !same(&shown.output, &printed) {
                let excerpt = excerpt(&shown.output, &printed);
                lines.splice(shown.lines.0..shown.lines.1, excerpt);
            }
        }
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        return;
    }
    assert!(wrong.is_empty(), "{file}:\n{}", wrong.join("\n\n"));
}

#[test]
#[ignore = "needs the lab"]
fn readme_output_is_reproduced() {
    assert_page_is_reproduced("README.md");
}

/// A newcomer meets the commands that do all the set-up before anything that needs it.
#[test]
fn readme_begins_with_the_two_commands_that_set_everything_up() {
    let readme = std::fs::read_to_string("README.md").unwrap();
    let (top, _) = readme.split_once("\n## Install\n").unwrap();
    let block = top.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let commands: Vec<&str> =
        block.lines().map(|line| line.split('#').next().unwrap().trim()).collect();
    assert_eq!(commands, ["make demo", "make test"]);
    let makefile = std::fs::read_to_string("Makefile").unwrap();
    for command in commands {
        let target = command.strip_prefix("make ").unwrap();
        assert!(makefile.lines().any(|line| line.starts_with(&format!("{target}: "))), "{target}");
    }
}

/// Here the lab builds an image, as long as this process's child lives.
#[test]
fn the_demo_says_every_second_what_it_waits_for() {
    let lab = tempfile::tempdir().unwrap();
    std::fs::write(lab.path().join("doing"), "building an image\n").unwrap();
    let mut building = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let waits = format!("tests/lab/waits {}", building.id());
    let mut shown = Command::new("script")
        .args(["-qec", &waits, "/dev/null"])
        .env("RETRIAL_LAB", lab.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(shown.stdout.take().unwrap()).split(b'\r');
    assert_eq!(lines.next().unwrap().unwrap(), b"", "each line overwrites the one before");
    for line in lines.by_ref().take(2) {
        let line = String::from_utf8(line.unwrap()).unwrap();
        assert!(line.contains("waiting: building an image (") && line.ends_with(" s)"), "{line}");
    }
    drop(building.stdin.take());
    building.wait().unwrap();
    assert!(shown.wait().unwrap().success());
}

#[test]
#[ignore = "needs the lab"]
fn recipe_format_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/recipe-format.md");
}

#[test]
#[ignore = "needs the lab"]
fn figures_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/figures.md");
}

#[test]
#[ignore = "needs the lab"]
fn guide_figures_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/guide-figures.md");
}

#[test]
#[ignore = "needs the lab"]
fn import_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/import.md");
}

#[test]
#[ignore = "needs the lab"]
fn import_results_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/import-results.md");
}

#[test]
#[ignore = "needs the lab"]
fn private_benchmarks_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/private-benchmarks.md");
}

#[test]
#[ignore = "needs the lab"]
fn results_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/results.md");
}

#[test]
#[ignore = "needs the lab"]
fn templates_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/templates.md");
}

#[test]
#[ignore = "needs the lab"]
fn readme_recipe_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/readme-recipe.md");
}

#[test]
#[ignore = "needs the lab"]
fn runs_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/runs.md");
}

#[test]
#[ignore = "needs the lab"]
fn run_options_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/run-options.md");
}

#[test]
#[ignore = "needs the lab"]
fn plans_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/plans.md");
}

#[test]
#[ignore = "needs the lab"]
fn approval_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/approval.md");
}

#[test]
#[ignore = "needs the lab"]
fn mcp_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/mcp.md");
}

#[test]
#[ignore = "needs the lab"]
fn serving_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/serving.md");
}

#[test]
#[ignore = "needs the lab"]
fn services_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/services.md");
}

#[test]
#[ignore = "needs the lab"]
fn clusters_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/clusters.md");
}

#[test]
#[ignore = "needs the lab"]
fn configuration_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/configuration.md");
}

#[test]
#[ignore = "needs the lab"]
fn nodes_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/nodes.md");
}

#[test]
#[ignore = "needs the lab"]
fn data_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/data.md");
}

#[test]
#[ignore = "needs the lab"]
fn hosts_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/hosts.md");
}

#[test]
#[ignore = "needs the lab"]
fn rules_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/rules.md");
}

#[test]
#[ignore = "needs the lab"]
fn a_published_result() {
    assert_page_is_reproduced("docs/published.md");
}

#[test]
#[ignore = "needs the lab"]
fn published_figures_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/published-figures.md");
}

#[test]
#[ignore = "needs the lab"]
fn verdicts_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/verdicts.md");
}

#[test]
#[ignore = "needs the lab"]
fn export_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/export.md");
}

#[test]
#[ignore = "needs the lab"]
fn compare_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/compare.md");
}

#[test]
#[ignore = "needs the lab"]
fn batches_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/batches.md");
}

#[test]
#[ignore = "needs the lab"]
fn ci_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/ci.md");
}

#[test]
#[ignore = "needs the lab"]
fn bisect_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/bisect.md");
}

#[test]
#[ignore = "needs the lab"]
fn rocm_releases_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/rocm-releases.md");
}

#[test]
#[ignore = "needs the lab"]
fn models_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/models.md");
}

#[test]
#[ignore = "needs the lab"]
fn trouble_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/trouble.md");
}

#[test]
#[ignore = "needs the lab"]
fn reports_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/reports.md");
}

#[test]
#[ignore = "needs the lab"]
fn evidence_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/evidence.md");
}

#[test]
#[ignore = "needs the lab"]
fn judging_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/judging.md");
}

#[test]
#[ignore = "needs the lab"]
fn training_benchmarks_page_output_is_reproduced() {
    assert_page_is_reproduced("docs/training-benchmarks.md");
}

#[test]
#[ignore = "needs simulated GPUs and the lab"]
fn telemetry_page_output_is_reproduced() {
    let _turn = claim_simulated_gpus();
    assert_page_is_reproduced("docs/telemetry.md");
}

/// The page of all recipes is up to date.
#[test]
fn the_catalog_page_is_up_to_date() {
    let page = std::process::Command::new(env!("CARGO_BIN_EXE_retrial"))
        .arg("catalogue")
        .output()
        .unwrap();
    let page = String::from_utf8(page.stdout).unwrap();
    let written = std::fs::read_to_string(root().join("docs/recipes.md")).unwrap();
    assert!(page == written, "docs/recipes.md is out of date: make docs");
}

/// Every page with commands has a test above.
#[test]
fn every_page_is_run() {
    let checked = [
        "approval.md",
        "batches.md",
        "bisect.md",
        "ci.md",
        "clusters.md",
        "compare.md",
        "configuration.md",
        "data.md",
        "evidence.md",
        "export.md",
        "figures.md",
        "guide-figures.md",
        "hosts.md",
        "import-results.md",
        "import.md",
        "judging.md",
        "mcp.md",
        "models.md",
        "nodes.md",
        "plans.md",
        "private-benchmarks.md",
        "published-figures.md",
        "published.md",
        "readme-recipe.md",
        "recipe-format.md",
        "reports.md",
        "results.md",
        "rocm-releases.md",
        "rules.md",
        "run-options.md",
        "runs.md",
        "services.md",
        "serving.md",
        "telemetry.md",
        "templates.md",
        "training-benchmarks.md",
        "trouble.md",
        "verdicts.md",
    ];
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.extension().is_some_and(|ending| ending == "md")
            && !checked.contains(&name.as_str())
        {
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(
                !text.contains("```console"),
                "docs/{name} shows commands: add it to tests/docs"
            );
        }
    }
}
