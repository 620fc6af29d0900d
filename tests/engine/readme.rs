//! A README becomes a verdict in five commands, and nobody edits a file.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::process::Command;

use super::support::lab::Lab;

/// Runs a command of the program; its exit code has to be this.
fn retrial(directory: &Path, arguments: &[&str], code: i32) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(arguments)
        .env("RETRIAL_HOME", directory.join("home"))
        .current_dir(directory)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let shown = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(code),
        "{arguments:?}\n{shown}\n{}",
        text(&output.stderr)
    );
    shown
}

/// Writes a README whose command is this, and takes it to a verdict on the figure.
fn judge_readme(lab: &Lab, script: &str, figure: &str, expect: &str) {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let image = lab.busybox();
    let page = format!(
        "# Speed\n\nInstall it:\n```bash\npip install bench\n```\n\nMeasure it:\n```bash\n\
         docker run --rm {image} sh -c '{script}'\n```\nWe measured {expect}.\n"
    );
    std::fs::write(directory.join("README.md"), page).unwrap();
    let new = ["new", "speed", "--from", "README.md", "--figure", figure, "--expect", expect];
    retrial(directory, &new, 0);
    let checked = retrial(directory, &["check", "speed.yaml"], 0);
    assert!(checked.contains("speed.yaml: ok"), "{checked}");
    let planned = retrial(directory, &["plan", "./speed.yaml"], 0);
    assert!(planned.contains(&image), "{planned}");
    let verdict = retrial(directory, &["run", "./speed.yaml", "--trials", "3"], 0);
    assert!(verdict.contains("✓ reproduced: The published figure holds."), "{verdict}");
    let report = retrial(directory, &["report", "last", "--output", "markdown"], 0);
    assert!(report.contains("The published figure holds."), "{report}");
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn a_printed_figure_becomes_a_verdict() {
    let lab = Lab::here().await;
    let script = "echo \"throughput: 812 images/s\"";
    judge_readme(&lab, script, "speed=throughput: ${number}", "speed=800 images/s");
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn a_figure_in_json_becomes_a_verdict() {
    let lab = Lab::here().await;
    let script = "mkdir /out; echo \"{\\\"latency\\\": {\\\"p99\\\": 12.5}}\" > /out/result.json";
    judge_readme(&lab, script, "p99=json:/out/result.json:$.latency.p99", "p99=12.5 ms");
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn a_figure_in_csv_becomes_a_verdict() {
    let lab = Lab::here().await;
    let script = "printf \"batch,tokens_per_s\\n1,90\\n8,512\\n\" > rates.csv";
    judge_readme(&lab, script, "rate=csv:rates.csv:tokens_per_s:batch=8", "rate=500 tokens/s");
}
