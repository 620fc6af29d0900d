//! A website of made-up runs: of every built-in recipe, with every outcome and qualifier, on three machines.

use std::collections::{BTreeMap, HashMap};
use std::process::Command;

use jiff::{SignedDuration, Timestamp};
use retrial_history::{DecidingFigure, RunState, RunSummary};
use retrial_plan::BatchPosition;
use retrial_recipe::model::{Mode, Submission};
use retrial_report::content::website::{Website, WebsiteOptions};
use retrial_report::html::render_website_page;
use retrial_results::verdict::{Outcome, QualifierKind};
use serde_json::Value;

/// Qualifiers as they occur together.
const QUALIFIERS: [&[QualifierKind]; 8] = [
    &[],
    &[QualifierKind::UnpinnedImage],
    &[QualifierKind::UnpinnedImage, QualifierKind::ExceedsPublished],
    &[QualifierKind::InPart],
    &[QualifierKind::SmokeTest],
    &[
        QualifierKind::PerformanceOnly,
        QualifierKind::Modified,
        QualifierKind::Resumed,
        QualifierKind::OtherHardware,
        QualifierKind::UnpinnedImage,
    ],
    &[
        QualifierKind::ChangedRecipe,
        QualifierKind::SimulatedHost,
        QualifierKind::OtherHardware,
        QualifierKind::Reimplemented,
    ],
    &[QualifierKind::IdleGpus, QualifierKind::UnpinnedImage],
];
/// Host, ROCm, driver and image.
const MACHINES: [[&str; 4]; 3] = [
    [
        "mi355x-rack4-node07.lab.example.com",
        "7.0.0",
        "6.14.14",
        "rocm/amd-mlperf:mi355x_llama2_70b_inference_5.1",
    ],
    ["mi355x-a", "7.1.1", "6.16.6", "rocm/amd-mlperf:mi355x_llama2_70b_inference_6.0"],
    ["login2", "7.2.0", "6.16.13", "registry.example.com:5000/ml/pytorch-training:v25.6_nightly"],
];
const OUTCOMES: [Outcome; 8] = [
    Outcome::Reproduced,
    Outcome::Reproduced,
    Outcome::Reproduced,
    Outcome::NotReproduced,
    Outcome::Measured,
    Outcome::Inconclusive,
    Outcome::Reproduced,
    Outcome::Invalid,
];

/// The built-in recipes.
fn recipes() -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["list", "--output", "json"])
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn run_of(recipe: &Value, number: usize, nth: usize) -> RunSummary {
    let text = |key: &str| recipe[key].as_str().map(str::to_owned);
    let first: Timestamp = "2026-10-01T06:00:00Z".parse().unwrap();
    let hours = i64::try_from(number * 5 + nth * 61).unwrap();
    let started = first + SignedDuration::from_hours(hours);
    let name = text("name").unwrap();
    let [host, rocm, driver, image] = MACHINES[(number + nth) % 3].map(str::to_owned);
    let at = (number + nth * 3) % 8;
    let published = recipe["published"]["value"].as_f64().unwrap_or(1000.0);
    let ratio = 0.90 + 0.02 * f64::from(u8::try_from((number * 7 + nth) % 12).unwrap());
    let is_failed = (number + nth) % 11 == 10;
    let unit = recipe["published"]["unit"].as_str().unwrap_or("samples/s");
    let backend = ["vllm", "migraphx"][nth % 2].to_owned();
    let is_plain = number.is_multiple_of(3);
    let variant = [("backend".to_owned(), backend), ("rocm".to_owned(), rocm.clone())];
    RunSummary {
        id: format!(
            "{}-{}-{number:02x}{nth:02x}",
            started.strftime("%Y%m%d-%H%M%S"),
            name.rsplit('/').next().unwrap()
        ),
        recipe: name,
        title: text("title").unwrap(),
        submission: Submission {
            suite: text("suite").unwrap(),
            round: text("round"),
            submitter: text("submitter"),
            system: Some(text("gpus").unwrap_or_default() + &text("title").unwrap()),
            benchmark: text("benchmark").unwrap(),
            ..Submission::default()
        },
        variant: if is_plain { BTreeMap::new() } else { variant.into() },
        started: Some(started),
        ended: Some(started + SignedDuration::from_mins(70)),
        host,
        gpus: text("gpus").unwrap_or_default(),
        rocm,
        driver,
        image,
        batch: number.is_multiple_of(2).then(|| BatchPosition {
            id: format!("20261001-060000-releases-{:02x}", nth / 4),
            cell: format!("recipe={number},rocm=7.2.0"),
            trial: u32::try_from(nth % 4 + 1).unwrap(),
        }),
        imported_from: (number % 5 == 4).then(|| "another".to_owned()),
        run_state: RunState::Ended,
        exit_code: Some(u8::from(is_failed)),
        reason: is_failed.then(|| {
            "step offline-performance: exit code 137, out of GPU memory on GPU 3".to_owned()
        }),
        outcome: (!is_failed).then(|| OUTCOMES[at]),
        qualifiers: if is_failed { Vec::new() } else { QUALIFIERS[at].to_vec() },
        sentence: "103,480 tokens/s, 100.0 % of the published figure; at worst 0.5 % below (95 %), 5 % allowed."
            .to_owned(),
        deciding: (!is_failed).then(|| DecidingFigure {
            scenario: recipe["published"]["scenario"].as_str().unwrap_or("Offline").to_owned().into(),
            mode: Mode::Performance,
            figure: "tokens_per_second".to_owned(),
            value: Some(published * ratio),
            unit: unit.to_owned(),
            ratio: Some(ratio),
            is_of_single_trial: nth % 4 == 1,
        }),
        ..RunSummary::default()
    }
}

/// The front page, the pages of submissions with many runs and with few, and of a batch.
pub fn website_pages() -> Vec<(&'static str, String)> {
    let all = recipes();
    let numbered = all.iter().enumerate();
    let mut rows: Vec<RunSummary> = numbered
        .flat_map(|(number, recipe)| {
            let runs = if number == 20 { 70 } else { 1 + number % 9 };
            (0..runs).map(move |nth| run_of(recipe, number, nth))
        })
        .collect();
    rows.sort_by_key(|row| (row.started, row.id.clone()));
    let options = WebsiteOptions {
        made_by: "retrial 0.1.0",
        link: &|row| Some(format!("../runs/{}/report.html", row.id)),
        batches: &HashMap::new(),
        url: None,
    };
    let website = Website::new(&rows, &options);
    let names: Vec<String> = website.page_names().into_iter().map(str::to_owned).collect();
    let text_of = |at: usize| {
        let page = website.build_page(at);
        render_website_page(&page.document, &page.links)
    };
    let at = |end: &str| text_of(names.iter().position(|name| name.ends_with(end)).unwrap());
    let is_submission = |name: &str| name != "index.html" && !name.starts_with("batch.");
    let submissions = (0..names.len()).filter(|at| is_submission(&names[*at])).map(text_of);
    let mut submissions: Vec<String> = submissions.collect();
    submissions.sort_by_key(String::len);
    vec![
        ("website: front", at("index.html")),
        ("website: published", submissions.pop().unwrap()),
        ("website: unjudged batch", at("releases-00.html")),
        ("website: few runs", submissions.swap_remove(0)),
    ]
}
