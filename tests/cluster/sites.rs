//! Site files as people meet them: `sites`, `check`, the schema.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use retrial_cluster::site::sbatch_option::SbatchOption;
use retrial_cluster::site::schema;
use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A configuration directory with these sites.
fn configuration(sites: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("retrial/sites");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in sites {
        std::fs::write(folder.join(format!("{name}.yaml")), text).unwrap();
    }
    directory
}

fn retrial(configuration: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(words)
        .current_dir(configuration)
        .env("XDG_CONFIG_HOME", configuration)
        .env("RETRIAL_HOME", configuration.join("home"))
        .output()
        .unwrap()
}

fn printed(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8(text).unwrap()
}

const LAB: &str = "schema: 1\nscheduler: slurm\ntitle: The lab\npartition: gpu\n";

#[test]
fn sites_are_listed_by_name() {
    let here = configuration(&[("lab", LAB), ("b", "schema: 1\nscheduler: pbs\n")]);
    let output = retrial(here.path(), &["sites"]);
    assert!(output.status.success());
    let path = here.path().display().to_string();
    insta::assert_snapshot!(printed(&output).replace(&path, "~"), @r"
    b    has errors: retrial check ~/retrial/sites/b.yaml
    lab  slurm, partition gpu: The lab
    ");
    let output = retrial(here.path(), &["sites", "--output", "json"]);
    let sites: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(sites[1]["site"]["partition"], "gpu");
    assert_eq!(sites[0]["ok"], false);
}

#[test]
fn check_knows_a_site_and_reports_every_problem() {
    let here = configuration(&[
        ("lab", LAB),
        ("bad", "schema: 1\nscheduler: slurm\npartion: gpu\nengine: sudo docker\n"),
    ]);
    let at = |name: &str| format!("retrial/sites/{name}.yaml");
    let good = retrial(here.path(), &["check", &at("lab")]);
    assert!(good.status.success(), "{}", printed(&good));
    let bad = retrial(here.path(), &["check", &at("bad")]);
    assert_eq!(bad.status.code(), Some(2));
    insta::assert_snapshot!(printed(&bad));
}

#[test]
fn the_script_of_a_job_logs_as_its_command_line_says() {
    let here = configuration(&[("lab", LAB)]);
    let recipe = "mlperf-inference/v6.0/amd/llama2-70b-mi355x";
    let words = ["plan", recipe, "--site", "lab", "--format", "sbatch"];
    let script = |more: &[&str]| {
        let output = retrial(here.path(), &[&words, more].concat());
        assert!(output.status.success(), "{}", printed(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let logged = script(&["--log", "info,hyper=debug"]);
    let handed_on = " --log info,hyper=debug resume --in-job ";
    assert!(logged.contains(handed_on), "{logged}");
    assert!(!script(&[]).contains("--log"));
}

#[test]
fn a_site_writable_by_others_is_refused() {
    let here = configuration(&[("lab", LAB)]);
    let file = here.path().join("retrial/sites/lab.yaml");
    let recipe = "mlperf-inference/v6.0/amd/llama2-70b-mi355x";
    let words = ["plan", recipe, "--site", "lab", "--format", "sbatch"];
    let good = retrial(here.path(), &words);
    assert!(good.status.success(), "{}", printed(&good));
    for path in [&*file, file.parent().unwrap()] {
        let before = std::fs::metadata(path).unwrap().permissions();
        let mode = before.mode() | 0o020;
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let output = retrial(here.path(), &words);
        assert_eq!(output.status.code(), Some(2));
        let stderr = printed(&output);
        assert!(stderr.contains("is writable by other users"), "{stderr}");
        let fix = format!("chmod go-w '{}'", path.display());
        assert!(stderr.contains(&fix), "{stderr}");
        std::fs::set_permissions(path, before).unwrap();
    }
}

#[test]
fn the_committed_schema_is_up_to_date() {
    let path = root().join("docs/site.schema.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, schema::site_schema_json()).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(
        committed == schema::site_schema_json(),
        "docs/site.schema.json is old: `retrial schema site > docs/site.schema.json`"
    );
    let schema: Value = serde_json::from_str(&committed).unwrap();
    let site = serde_json::json!({ "schema": 1, "scheduler": "slurm", "gres": "gpu:8" });
    assert!(crate::support::json_schema::fits(&schema, &schema, &site, "site").is_ok());
}

/// What the real sbatch makes of options: those that it takes, each alone. An option that takes the next word as
/// its value may submit a job, whose output goes into the cluster's directory.
fn accepted(cluster: &crate::support::cluster::Cluster, options: &[String]) -> Vec<String> {
    let words = options.join(" ");
    let directory = cluster.directory.join("shared");
    let script = format!(
        "cd {}; for option in {words}; do sbatch $option --usage 2>&1 </dev/null | grep -qE 'ambiguous|unrecognized|invalid option' || echo $option; done",
        directory.display()
    );
    let taken = cluster.lab(&["in", "bash", "-c", &script]);
    taken.lines().map(str::to_owned).collect()
}

/// GNU's getopt takes any part of a long name that is unique, and values without a space after a letter.
#[test]
#[ignore = "needs root and the lab"]
fn no_form_that_sbatch_takes_of_a_refused_option_is_allowed() {
    let cluster = crate::support::cluster::Cluster::shared();
    let long = SbatchOption::refused_names().filter(|name| name.starts_with("--"));
    let parts = long.flat_map(|name| (3..=name.len()).map(|end| name[..end].to_owned()));
    let taken = accepted(&cluster, &parts.collect::<Vec<_>>());
    assert!(taken.contains(&"--job-nam".to_owned()), "{taken:?}");
    // An option of its own, whose name begins another one's.
    for option in taken.iter().filter(|option| *option != "--gpus") {
        let refusal = SbatchOption::parse(option).unwrap().refusal();
        assert!(refusal.is_some(), "{option}");
    }
}

/// A letter that sbatch gives no value would hide another option behind it.
#[test]
#[ignore = "needs root and the lab"]
fn letters_with_a_value_are_those_of_sbatch() {
    let cluster = crate::support::cluster::Cluster::shared();
    let script = "for letter in {a..z} {A..Z}; do sbatch -$letter 2>&1 </dev/null | grep -q 'requires an argument' && echo $letter; done; true";
    let valued = cluster.lab(&["in", "bash", "-c", script]);
    let valued: String = valued.lines().collect();
    let letters = ('a'..='z').chain('A'..='Z');
    let ours = letters.filter(|letter| SbatchOption::parse(&format!("-{letter}x")).is_ok());
    assert_eq!(valued, ours.collect::<String>());
}

#[test]
fn a_site_with_an_option_of_retrials_own_is_refused_in_any_form() {
    for (option, message) in [
        ("-Jx", "`-J` is set by Retrial"),
        ("'-J x'", "`-J` is set by Retrial"),
        ("--job-nam=x", "`--job-nam` (`--job-name`) is set by Retrial"),
        ("-N2", "`-N` is set by Retrial"),
        ("-HJx", "`-HJx` may be several options"),
        ("-t10", "write it as `time_limit:`"),
    ] {
        let text = format!("schema: 1\nscheduler: slurm\noptions: [{option}]\n");
        let here = configuration(&[("lab", &text)]);
        let output = retrial(here.path(), &["check", "retrial/sites/lab.yaml"]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        let printed = printed(&output);
        assert!(printed.contains(message), "{printed}");
    }
}
