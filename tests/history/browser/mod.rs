//! Pages of reports and of a website in a real browser: nothing wider than the window, every letter to be read in both
//! colour schemes, no text on another in the charts, no word on the console, pages when printed.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod charts;
mod chromium;
#[path = "../../flow/lab/mod.rs"]
#[allow(dead_code, unused_imports, reason = "it is the flow tests' own")]
mod lab;
mod published;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::many_runs::Many;
use chromium::{Chromium, Page};
use lab::Lab;
use retrial_results::verdict::QualifierKind;

/// As wide as two telephones, a tablet, and two desks.
const WIDTHS: [u32; 5] = [360, 390, 768, 1280, 1600];
/// Dark colours are looked at where rows are cards and where they are rows: nothing is placed by colour.
const DARK_WIDTHS: [u32; 2] = [360, 1280];

const WITHOUT_CHARTS: [&str; 6] = [
    "a run that failed",
    "website: front",
    "website: few runs",
    "website: unjudged batch",
    "website: batch",
    "website: batches",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// `retrial report` with these words; gives the page.
fn report(home: &Path, words: &[&str]) -> String {
    let to = home.join("page.html");
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .current_dir(root())
        .env("RETRIAL_HOME", home)
        .arg("report")
        .args(words)
        .arg("--to")
        .arg(&to)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(to).unwrap()
}

/// A result folder whose name and log are a hostile container's.
fn hostile(home: &Path) -> PathBuf {
    let name = "<img src=x onerror=alert(1)>\u{202e}\"'&".to_owned() + &"long".repeat(40);
    let folder = home.join("hostile").join(name).join("performance/run_1");
    fs::create_dir_all(&folder).unwrap();
    let fixture =
        root().join("crates/mlperf/tests/fixtures/summaries/own-server_tokens-perf_valid.txt");
    let summary = fs::read_to_string(fixture).unwrap();
    let summary = summary.replace("SUT name", "SUT name : </pre><script>alert(1)</script>\nSUT");
    fs::write(folder.join("mlperf_log_summary.txt"), summary).unwrap();
    home.join("hostile")
}

/// Trials of less than a second in a container of a few MiB, with latencies, claims and long names.
fn batch() -> (Lab, String) {
    let recipe = "schema: 1
title: A library in two releases
submission: { suite: own, benchmark: counting }
image: debian:bookworm-slim
variants:
  release: { \"1.0\": { container: { env: { R: '0' } } }, \"2.0\": { container: { env: { R: '120' } } } }
  backend: { own: {}, 'another-one-with-a-long-name': { container: { env: { K: '40' } } } }
default: { release: '2.0', backend: own }
scenarios:
  offline:
    performance:
      run: 'sleep 0.4; echo \"rate: $((1000 + R + K + $$ % 10)) p99: $((50 - $$ % 3))\"'
      figures:
        rate: { pattern: 'rate: ([0-9.]+)', unit: lines/s }
        p99: { pattern: 'p99: ([0-9.]+)', unit: ms, better: lower }
      expect:
        rate: { value: 1050, kind: official, source: made up }
        p99: { value: 47, kind: official, source: made up }
";
    let batch = "schema: 1
title: Is the new release faster?
recipe: ./recipe.yaml
vary: { release: ['1.0', '2.0'], backend: [own, another-one-with-a-long-name] }
baseline: { release: '1.0' }
trials: 2
claims:
  - 2.0 + own is faster than 1.0 + own by 5%
  - another-one-with-a-long-name is not slower than own
";
    let lab = Lab::new().recipe(recipe).file("batch.yaml", batch);
    let done = lab.retrial(&["batch", "./batch.yaml", "--quiet"]);
    assert!(matches!(done.code, Some(0 | 1 | 5)), "{}", done.err);
    let batches = fs::read_dir(lab.home_path().join("batches")).unwrap();
    let name = batches.map(|entry| entry.unwrap().file_name()).next();
    let name = name.unwrap().into_string().unwrap();
    (lab, name)
}

/// The page of a submission with 300 runs.
fn website(home: &Path) -> (&'static str, String) {
    let home = home.join("many");
    Many::new().plant(&home, 0..300);
    let site = home.join("site");
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .env("RETRIAL_HOME", &home)
        .args(["report", "--all", "--to"])
        .arg(&site)
        .output()
        .unwrap();
    assert!(output.status.success());
    let mut pages = fs::read_dir(&site).unwrap().map(|entry| entry.unwrap().path());
    let is_submission = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.contains("llama2") && !name.starts_with("batch.")
    };
    ("website: submission", fs::read_to_string(pages.find(is_submission).unwrap()).unwrap())
}

/// Pages of the website of a batch's runs, which link its report and are linked by it.
fn website_of_batch(home: &Path, batch: &str) -> Vec<(&'static str, String)> {
    let run = || {
        let runs = fs::read_dir(home.join("runs")).unwrap();
        let mut all: Vec<PathBuf> = runs.map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all.remove(0)
    };
    let retrial = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
            .env("RETRIAL_HOME", home)
            .arg("report")
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success());
    };
    let site = home.join("site");
    retrial(&[batch]);
    let run = run();
    retrial(&[run.file_name().unwrap().to_str().unwrap()]);
    retrial(&["--all", "--to", site.to_str().unwrap()]);
    let of_run = fs::read_to_string(run.join("report.html")).unwrap();
    let link = format!("href=\"./../../batches/{batch}/report.html\"");
    assert!(of_run.contains(&link), "{link}");
    let page = format!("batch.{batch}.html");
    let front = fs::read_to_string(site.join("index.html")).unwrap();
    let of_batch = fs::read_to_string(site.join(&page)).unwrap();
    assert!(front.contains(&format!("href=\"./{page}\"")));
    assert!(of_batch.contains(&format!("href=\"./../batches/{batch}/report.html\"")));
    let names = fs::read_dir(&site).unwrap().map(|entry| entry.unwrap().path());
    let is_of_submission = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.ends_with(".html") && name != "index.html" && !name.starts_with("batch.")
    };
    let of_submission = names.filter(is_of_submission).map(fs::read_to_string);
    let links_batch = |text: String| text.contains(&format!("href=\"./{page}\""));
    assert!(of_submission.map(Result::unwrap).all(links_batch));
    vec![("website: batches", front), ("website: batch", of_batch)]
}

/// Pages of runs, of a submission tree, of a website, and of a batch: of planted results, without an engine.
fn pages_of_planted_runs(home: &Path) -> Vec<(&'static str, String)> {
    Many::new().plant(home, 0..30);
    let ids: Vec<String> = (0..6).map(Many::id).collect();
    let several: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut ways = 0..30;
    let failed = ways.find(|number| Many::went(*number) == crate::many_runs::Went::Failed);
    let failed = failed.map(Many::id);
    let mut pages = vec![
        ("one run", report(home, &several[..1])),
        ("six runs", report(home, &several)),
        ("a submission", report(home, &["examples/submission"])),
        ("hostile", report(home, &[hostile(home).to_str().unwrap()])),
    ];
    pages.push(website(home));
    pages.extend(failed.map(|id| ("a run that failed", report(home, &[&id]))));
    pages.push(("all runs", report(home, &["--all"])));
    pages.push(("cards of several hosts", crate::radeon::page()));
    pages
}

/// Pages of runs with an engine: a batch, and the website of its runs.
fn pages_of_batch() -> Vec<(&'static str, String)> {
    let (lab, name) = batch();
    let mut pages = vec![("a batch", report(lab.home_path(), &[&name]))];
    pages.extend(website_of_batch(lab.home_path(), &name));
    pages.push(("short trials", report(lab.home_path(), &["last"])));
    pages
}

/// A table never hides a column, whether of names, ratios or outcomes: [`look_at`] finds those that are.
#[test]
#[ignore = "needs the lab"]
fn pages_of_planted_runs_can_be_read_and_printed() {
    let home = tempfile::tempdir().unwrap();
    let pages = pages_of_planted_runs(home.path());
    look_at(home.path(), &pages);
    print(home.path(), &pages);
}

#[test]
#[ignore = "needs the lab"]
fn pages_of_a_batch_can_be_read_and_printed() {
    let home = tempfile::tempdir().unwrap();
    let pages = pages_of_batch();
    look_at(home.path(), &pages);
    print(home.path(), &pages);
}

#[test]
#[ignore = "needs the lab"]
fn websites_have_room_for_titles_verdicts_and_qualifiers() {
    let home = tempfile::tempdir().unwrap();
    let pages = published::website_pages();
    look_at(home.path(), &pages);
    let (_, front) = &pages[0];
    let is_missing = |kind: &QualifierKind| !front.contains(&kind.to_string());
    let missing: Vec<QualifierKind> = QualifierKind::ALL.into_iter().filter(is_missing).collect();
    assert_eq!(missing, []);
    assert!(front.contains("imported") && front.contains("unverified"));
}

#[test]
#[ignore = "needs the lab"]
fn charts_of_extreme_data_can_be_read() {
    let home = tempfile::tempdir().unwrap();
    look_at(home.path(), &[("charts", charts::page())]);
}

/// Prints pages, each by itself.
fn print(scratch: &Path, pages: &[(&'static str, String)]) {
    let chromium = Chromium::find();
    for (name, html) in pages {
        let file = scratch.join("alone.html");
        fs::write(&file, html).unwrap();
        let (console, sheets) = chromium.printed(scratch, &file);
        assert_eq!(console, Vec::<String>::new(), "{name}");
        assert!(sheets > 0, "{name}");
    }
}

/// Checks pages in all widths and both colour schemes. `RETRIAL_PAGES=DIR` keeps them for a person to view.
fn look_at(scratch: &Path, pages: &[(&'static str, String)]) {
    if let Some(kept) = std::env::var_os("RETRIAL_PAGES") {
        for (name, html) in pages {
            let file = Path::new(&kept).join(name.replace([' ', ':'], "-") + ".html");
            fs::write(file, html).unwrap();
        }
    }
    let chromium = Chromium::find();
    let mut faults = Vec::new();
    for (dark, widths) in [(false, &WIDTHS[..]), (true, &DARK_WIDTHS)] {
        let viewed: Vec<Page<'_>> = pages
            .iter()
            .flat_map(|(name, html)| widths.iter().map(|&width| Page { name, width, html }))
            .collect();
        let views = chromium.look(scratch, &viewed, dark);
        assert_eq!(views.len(), viewed.len());
        for view in views {
            let label = format!("{} at {} (dark: {dark})", view.name, view.width);
            faults.extend(view.faults.iter().map(|fault| format!("{label}: {fault}")));
            assert_eq!((view.dark, view.is_dark), (dark, dark), "{label}");
            assert!(view.charts > 0 || WITHOUT_CHARTS.contains(&&*view.name), "{label}");
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A chart's file is drawn without a page around it.
#[test]
#[ignore = "needs the lab"]
fn chart_files_are_self_contained() {
    let chromium = Chromium::find();
    let home = tempfile::tempdir().unwrap();
    Many::new().plant(home.path(), 0..1);
    let charts = home.path().join("charts");
    let id = Many::id(0);
    report(home.path(), &[&id, "--charts", charts.to_str().unwrap()]);
    let files: Vec<PathBuf> =
        fs::read_dir(&charts).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() > 2, "{files:?}");
    for file in &files {
        let (console, drawn) = chromium.screenshot(home.path(), file);
        assert_eq!(console, Vec::<String>::new());
        assert!(drawn > 5_000, "{}: {drawn} bytes of PNG", file.display());
    }
}
