//! What a shell is told when somebody completes a command line.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::Command;

use rstest::rstest;

/// The candidates for the last word, as bash asks for them.
fn complete(directory: &Path, words: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .arg("--")
        .args(words)
        .current_dir(directory)
        .env("COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string())
        .env("_CLAP_IFS", "\n")
        .env("RETRIAL_HOME", directory)
        .env("XDG_CONFIG_HOME", directory)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.trim().to_owned()).collect()
}

const LLAMA: &str = "v6.0/llama2-70b-mi355x";

#[rstest]
#[case(&["run", "v6.0/llama"], LLAMA)]
#[case(&["show", "mlperf-inference/v6.0/amd/llama2-70b-mi"], "mlperf-inference/v6.0/amd/llama2-70b-mi355x")]
#[case(&["run", "mi"], "mine.yaml")]
#[case(&["check", "mi"], "mine.yaml")]
#[case(&["run", "./mine.yaml", "--set", "ba"], "batch=")]
#[case(&["run", "./mine.yaml", "--set", ""], "backend=fast")]
#[case(&["plan", "./mine.yaml", "--skip", "ca"], "case-performance")]
#[case(&["run", LLAMA, "--scenario", "of"], "offline")]
#[case(&["run", "inferencex/dsr1-fp8-8k1k-h200", "--point", ""], "8")]
#[case(&["logs", "la"], "last")]
#[case(&["run", LLAMA, "--site", ""], "lab")]
fn names_of_recipes_and_of_their_parts_are_completed(
    #[case] words: &[&str],
    #[case] expected: &str,
) {
    let directory = tempfile::tempdir().unwrap();
    let text = "schema: 1\ntitle: Mine\nsubmission: { suite: mine, benchmark: mine }\nimage: debian:12\nparams: { batch: { type: int, default: 8, help: Samples at once } }\nvariants: { backend: { fast: {}, slow: {} } }\ndefault: { backend: fast }\nscenarios: { case: { performance: { run: 'echo ${{ params.batch }}' } } }\n";
    std::fs::write(directory.path().join("mine.yaml"), text).unwrap();
    std::fs::create_dir_all(directory.path().join("retrial/sites")).unwrap();
    std::fs::write(directory.path().join("retrial/sites/lab.yaml"), "").unwrap();
    let words = [&["retrial"], words].concat();
    let candidates = complete(directory.path(), &words);
    assert!(candidates.iter().any(|one| one == expected), "{candidates:?}");
}

#[test]
fn internal_options_and_commands_are_not_completed() {
    let directory = tempfile::tempdir().unwrap();
    let options = complete(directory.path(), &["retrial", "resume", "--"]);
    assert!(options.contains(&"--from".to_owned()), "{options:?}");
    assert!(!options.contains(&"--in-background".to_owned()), "{options:?}");
    let commands = complete(directory.path(), &["retrial", ""]);
    assert!(!commands.contains(&"examine".to_owned()), "{commands:?}");
}

/// `help` is not listed: it repeats the other commands.
#[test]
fn manual_pages_are_those_of_commands() {
    let directory = tempfile::tempdir().unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["man", "--to"])
        .arg(directory.path())
        .status();
    assert!(status.unwrap().success());
    let entries = std::fs::read_dir(directory.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.collect();
    for name in ["retrial.1", "retrial-run.1", "retrial-runs-pack.1"] {
        assert!(names.iter().any(|one| one == name), "{names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("help")), "{names:?}");
}
