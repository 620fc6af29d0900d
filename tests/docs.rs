//! Runs every command in the README and in docs/, and compares its output with the page.
//!
//! A block that is fenced as `console` has commands (`$ …`) and their output; one that is fenced as `yaml NAME`,
//! `sh NAME` or `text NAME` is that file. The blocks of a page share a working directory. Figures, ids, times and widths differ
//! between runs, so they are ignored; a line `…` matches any number of lines.
//! `RETRIAL_DOCS=overwrite cargo test --test docs` writes the output into the files, for a block with `…` the same
//! excerpt.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

#[path = "hub/mod.rs"]
mod hub;

use hub::{Content, Hub, Repository};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn engine_answers() -> bool {
    Command::new("docker")
        .args(["version", "--format", "{{.Server.Version}}"])
        .output()
        .is_ok_and(|output| output.status.success())
}

/// A command and its output on the page.
struct Shown {
    command: String,
    output: Vec<String>,
    /// Lines of the file: the first of the output, and the one after the last.
    lines: (usize, usize),
}

fn commands(text: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            if inside && let Some(last) = found.last_mut() {
                last.lines.1 = number;
            }
            inside = line == "```console";
            continue;
        }
        if !inside {
            continue;
        }
        if let Some(command) = line.strip_prefix("$ ") {
            if let Some(last) = found.last_mut().filter(|last| last.lines.1 == 0) {
                last.lines.1 = number;
            }
            found.push(Shown {
                command: command.to_owned(),
                output: Vec::new(),
                lines: (number + 1, 0),
            });
        } else if let Some(last) = found.last_mut() {
            last.output.push(line.to_owned());
        }
    }
    found
}

/// The files of a page, a fenced block each.
fn files(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let text = text.replace("\n```sh ", "\n```yaml ");
    let text = text.replace("\n```text ", "\n```yaml ");
    for block in text.split("```yaml ").skip(1) {
        let (name, rest) = block.split_once('\n').unwrap();
        let body = rest.split("```").next().unwrap();
        found.push((name.trim().to_owned(), body.to_owned()));
    }
    found
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
        .env("HOME", directory)
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
    let text =
        String::from_utf8_lossy(&output.stdout).replace(&directory.display().to_string(), "~");
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// A line without the parts that differ between runs.
fn folded(line: &str) -> String {
    let rules = [
        (r"\d{8}-\d{6}-([a-z0-9-]+)-[0-9a-f]{4}", "ID-$1"),
        (r"sha256:[0-9a-f]{12,}|\b[0-9a-f]{12,64}\b", "HEX"),
        (r"SHA256:[A-Za-z0-9+/]{43}", "KEY"),
        (r"unix://\S+", "SOCKET"),
        (r"[\d][\d,.:]*", "N"),
        (r"N (ns|µs|ms|s|min|m|h|kB|MB|GB|KiB|MiB|GiB)\b", "N U"),
        (r"[─━]+", "─"),
        (r"\s+", " "),
    ];
    let mut line = line.to_owned();
    for (pattern, with) in rules {
        line = Regex::new(pattern)
            .unwrap()
            .replace_all(&line, with)
            .into_owned();
    }
    line.trim().to_owned()
}

/// Whether the output matches the page.
fn same(shown: &[String], printed: &[String]) -> bool {
    // The width of figures determines line breaks in tables and paragraphs.
    let paragraphs = |lines: &[String]| -> Vec<String> {
        lines
            .iter()
            .map(|line| folded(line))
            .filter(|line| !line.is_empty() && line != "─")
            .collect()
    };
    let shown = paragraphs(shown);
    let printed = paragraphs(printed).join(" ");
    let mut rest = printed.as_str();
    for (index, part) in shown.split(|line| line == "…").enumerate() {
        let part = part.join(" ");
        match rest.find(&part) {
            Some(at) if index > 0 || at == 0 => rest = rest[at + part.len()..].trim_start(),
            _ => return false,
        }
    }
    rest.is_empty() || shown.last().is_some_and(|line| line == "…")
}

/// The lines of `printed` that stand where the parts of `shown` between `…` stood: each part from the line that is
/// most like its first one to the line that is most like its last one.
fn excerpt(shown: &[String], printed: &[String]) -> Vec<String> {
    if !shown.iter().any(|line| line == "…") {
        return printed.to_vec();
    }
    let nearest = |wanted: &str, from: usize| -> Option<usize> {
        (from..printed.len()).rev().max_by(|&a, &b| {
            likeness(wanted, &printed[a]).total_cmp(&likeness(wanted, &printed[b]))
        })
    };
    let mut lines = Vec::new();
    let mut from = 0;
    let parts: Vec<&[String]> = shown.split(|line| line == "…").collect();
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            lines.push("…".to_owned());
        }
        let (Some(first), Some(last)) = (part.first(), part.last()) else {
            continue;
        };
        let start = if index == 0 {
            Some(0)
        } else {
            nearest(first, from)
        };
        let Some(start) = start else { continue };
        let end = if index + 1 == parts.len() {
            printed.len().checked_sub(1)
        } else {
            nearest(last, start)
        };
        let Some(end) = end else { continue };
        lines.extend_from_slice(&printed[start..=end]);
        from = end + 1;
    }
    lines
}

/// The share of two lines' words that both have, figures aside.
fn likeness(a: &str, b: &str) -> f64 {
    let (a, b) = (folded(a), folded(b));
    let a: std::collections::BTreeSet<&str> = a.split(' ').collect();
    let b: std::collections::BTreeSet<&str> = b.split(' ').collect();
    let common = u32::try_from(a.intersection(&b).count()).unwrap();
    let all = u32::try_from(a.union(&b).count()).unwrap();
    f64::from(common) / f64::from(all)
}

#[test]
fn an_excerpt_stays_one() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let shown = lines("…\nsteps\n  01 pull: began\n…\nrun X ended after 3 s\n…");
    let printed = lines("plan\nsteps\n  01 pull: started\n  02 create\nrun Y ended after 4 s\nbye");
    let expected = lines("…\nsteps\n  01 pull: started\n…\nrun Y ended after 4 s\n…");
    assert_eq!(excerpt(&shown, &printed), expected);
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
    let stand_in = root().join("tests/slurm/stand-in");
    for name in ["sbatch", "squeue", "sacct", "scancel", "scontrol", "srun"] {
        std::os::unix::fs::symlink(&stand_in, bin.join(name)).unwrap();
    }
    let program = env!("CARGO_BIN_EXE_retrial");
    std::os::unix::fs::symlink(program, bin.join("retrial")).unwrap();
}

fn check(file: &str) {
    if !engine_answers() {
        eprintln!("skipped: no container engine answers");
        return;
    }
    let path = root().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let directory = tempfile::tempdir().unwrap();
    // Examples with images, with this machine's certificates if it has its own.
    std::fs::create_dir_all(directory.path().join("examples")).unwrap();
    for name in ["quickstart", "inference-server"] {
        let example = Command::new(root().join("tests/lab/example"))
            .arg(name)
            .output()
            .unwrap();
        let example = String::from_utf8(example.stdout).unwrap();
        let copied = Command::new("cp")
            .arg("-rL")
            .arg(example.trim())
            .arg(directory.path().join("examples").join(name))
            .status();
        assert!(copied.unwrap().success());
    }
    // Small submissions, for pages about judging.
    for tree in ["examples/submission", "examples/training"] {
        let copied = Command::new("cp")
            .arg("-a")
            .args([root().join(tree), directory.path().join(tree)])
            .status();
        assert!(copied.unwrap().success());
    }
    published(directory.path());
    // Simulated hosts, and the script that creates others, for pages about GPUs.
    let hosts = Command::new("cp")
        .arg("-a")
        .arg(root().join("tests/fixtures/hosts"))
        .arg(directory.path().join("hosts"))
        .status();
    assert!(hosts.unwrap().success());
    stand_ins_of_slurm(directory.path());
    for (name, body) in files(&text) {
        std::fs::write(directory.path().join(name), body).unwrap();
    }
    // The hub of the pages about models.
    let hub = Hub::start();
    hub.add(
        Repository::new("example/tiny")
            .file("greeting.txt", "good morning\n")
            .lfs("model.safetensors", Content::generated(1, 2 << 20)),
    );
    let overwrite = std::env::var("RETRIAL_DOCS").is_ok_and(|value| value == "overwrite");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut wrong = Vec::new();
    let shown = commands(&text);
    assert!(!shown.is_empty(), "{file} shows no command");
    let mut printed_all = Vec::new();
    for shown in &shown {
        let printed = run(&shown.command, directory.path(), &hub);
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
    // Once this home is gone, what a killed run left would be anybody's to remove.
    run("retrial clean --all", directory.path(), &hub);
    if overwrite {
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
fn readme() {
    check("README.md");
}

#[test]
fn recipe_format() {
    check("docs/recipe-format.md");
}

#[test]
fn runs() {
    check("docs/runs.md");
}

#[test]
fn services() {
    check("docs/services.md");
}

#[test]
fn clusters() {
    check("docs/clusters.md");
}

#[test]
fn nodes() {
    check("docs/nodes.md");
}

#[test]
fn data() {
    check("docs/data.md");
}

#[test]
fn hosts() {
    check("docs/hosts.md");
}

#[test]
fn rules() {
    check("docs/rules.md");
}

#[test]
fn a_published_result() {
    check("docs/published.md");
}

#[test]
fn verdicts() {
    check("docs/verdicts.md");
}

#[test]
fn export() {
    check("docs/export.md");
}

#[test]
fn compare() {
    check("docs/compare.md");
}

#[test]
fn batches() {
    check("docs/batches.md");
}

#[test]
fn bisect() {
    check("docs/bisect.md");
}

#[test]
fn models() {
    check("docs/models.md");
}

#[test]
fn trouble() {
    check("docs/trouble.md");
}

#[test]
fn reports() {
    check("docs/reports.md");
}

#[test]
fn evidence() {
    if Command::new("ssh-keygen").arg("-?").output().is_err() {
        return eprintln!("skipped: no ssh-keygen (the package openssh-client has it)");
    }
    check("docs/evidence.md");
}

#[test]
fn judging() {
    check("docs/judging.md");
}

#[test]
fn training_benchmarks() {
    check("docs/training-benchmarks.md");
}

/// A run on a simulated host claims its GPUs, so only one test of the lab may run at a time.
#[test]
fn telemetry() {
    let Ok(lab) = std::env::var("RETRIAL_LAB") else {
        eprintln!("skipped: no lab (`make test` brings it up)");
        return;
    };
    let turn = std::fs::File::create(Path::new(&lab).join("gpus.lock")).unwrap();
    turn.lock().unwrap();
    let nodes = Command::new(root().join("tests/lab/devices"))
        .arg("up")
        .status();
    if !nodes.unwrap().success() || !Path::new("/dev/kfd").exists() {
        eprintln!("skipped: no stand-ins of the GPUs' device nodes");
        return;
    }
    check("docs/telemetry.md");
}

/// The page of all recipes is up to date.
#[test]
fn the_catalogue_is_of_these_recipes() {
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
        "batches.md",
        "bisect.md",
        "clusters.md",
        "compare.md",
        "data.md",
        "evidence.md",
        "export.md",
        "hosts.md",
        "judging.md",
        "models.md",
        "nodes.md",
        "published.md",
        "recipe-format.md",
        "reports.md",
        "rules.md",
        "runs.md",
        "services.md",
        "telemetry.md",
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
                "docs/{name} shows commands: add it to tests/docs.rs"
            );
        }
    }
}
