//! Searches: the next run follows from the results so far, also after a kill.

use serde_json::Value;

use super::Batches;
use super::removed_images::{has_image, published_as};
use crate::lab::{Done, Going, Lab, recipe_with};

const VALUES: &str = "1,2,3,4,5,6,7,8";
const ASKS: [&str; 6] = ["bisect", "./recipe.yaml", "--along", "release", "--values", VALUES];

/// A figure that is 20 % less from release 6 on, after these commands.
fn releases(before: &str) -> String {
    let keys = "params:\n  release: { type: int, default: 1 }\n";
    let figure = "{ pattern: 'speed: ([0-9.]+)', unit: MB/s }";
    let main = format!(
        "  main:\n    performance:\n      run: |\n        {before}\n        test ${{{{ params.release }}}} -lt 6 && echo speed: 100.$(date +%N | cut -c1) || echo speed: 80.$(date +%N | cut -c1)\n      figures: {{ speed: {figure} }}\n"
    );
    recipe_with(keys, &main)
}

fn start<'a>(lab: &'a Lab, more: &[&str]) -> Going<'a> {
    lab.start_retrial(&[&ASKS[..], more].concat())
}

fn bisect(lab: &Lab, more: &[&str]) -> Done {
    start(lab, more).end()
}

/// Outcome, and the pair of neighbours.
fn search_result(lab: &Lab) -> (String, Value, Value) {
    let search = lab.batch_verdict()["search"].clone();
    let outcome = search["outcome"].as_str().unwrap().to_owned();
    (outcome, search["before"].clone(), search["after"].clone())
}

fn pair(before: &str, after: &str) -> (String, Value, Value) {
    ("found".to_owned(), before.into(), after.into())
}

#[test]
#[ignore = "needs the lab"]
fn a_search_that_is_killed_continues() {
    let lab = Lab::new();
    let lab = lab.recipe(&releases("sleep 0.2"));
    for ended in [2, 5] {
        let going = start(&lab, &[]);
        lab.until("some runs ended", |lab| lab.happened("trial_run_ended").len() >= ended);
        going.kill();
    }
    let done = bisect(&lab, &[]).expect_exit(0);
    done.prints("continues (start a new one: --new)")
        .prints("The change is between release 5 and 6");
    assert_eq!(search_result(&lab), pair("5", "6"));
    // Nothing was measured twice.
    let runs = lab.started_runs();
    let mut different = runs.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), runs.len(), "{runs:?}");
    let ends: Vec<&str> = runs.iter().take(4).map(|(cell, _)| cell.as_str()).collect();
    assert_eq!(ends, ["release=1", "release=8", "release=8", "release=1"]);
    assert_eq!(lab.containers(), [""; 0]);
    let id = lab.batch_id();
    lab.retrial(&["judge", &id]).expect_exit(0);
    lab.retrial(&["resume", &id]).expect_exit(0);
    assert_eq!(lab.started_runs(), runs);
    let report = lab.retrial(&["report", &id, "--output", "html"]).expect_exit(0);
    report.prints("a trial, with its number in the search");
}

#[test]
#[ignore = "needs the lab"]
fn a_failing_release_is_skipped() {
    let lab = Lab::new();
    let fails = "case ${{ params.release }} in 5|6) echo broken >&2; exit 7;; esac";
    let lab = lab.recipe(&releases(fails));
    bisect(&lab, &["--criterion", "slower:5%"]).expect_exit(0).prints("release 5 was excluded");
    assert_eq!(search_result(&lab), pair("4", "7"));
}

#[test]
#[ignore = "needs the lab"]
fn a_breaking_release_is_found_by_validity() {
    let lab = Lab::new();
    let lab = lab.recipe(&releases("test ${{ params.release }} -lt 3 || exit 7"));
    bisect(&lab, &["--criterion", "validity"]).expect_exit(0).prints("2 is valid, 3 is not");
    assert_eq!(search_result(&lab), pair("2", "3"));
}

#[test]
#[ignore = "needs the lab"]
fn searches_without_a_result_have_exit_codes() {
    let lab = Lab::new();
    let lab = lab.recipe(&releases("true"));
    bisect(&lab, &["--criterion", "faster"])
        .expect_exit(1)
        .prints("release 8 is not faster, compared with 1");
    let lab = Lab::new().recipe(&releases("true"));
    // Both ends twice leave four trials, and each halves the 64 releases at best.
    let values: Vec<String> = (1..=64).map(|release| release.to_string()).collect();
    let values = values.join(",");
    let arguments = [&ASKS[..5], &[&values, "--max-trials", "8"]].concat();
    lab.retrial(&arguments).expect_exit(5).prints("not decided");
    // The first release has no result.
    let lab = Lab::new();
    let lab = lab.recipe(&releases("test ${{ params.release }} -gt 1"));
    bisect(&lab, &[]).expect_exit(5).prints("is an end of the search");
}

#[test]
#[ignore = "needs the lab"]
fn invalid_searches_are_refused() {
    let lab = Lab::new();
    let lab = lab.recipe(&releases("true"));
    let refused = |arguments: &[&str], text: &str| {
        let all = [&["bisect", "./recipe.yaml", "--along"], arguments].concat();
        lab.retrial(&all).expect_exit(2).prints(text);
    };
    refused(&["version"], "no variant or param `version`");
    refused(&["release"], "lists no values of release");
    refused(&["release", "--values", "1,2"], "needs 3 to 64");
    let many: Vec<String> = (1..=65).map(|value| value.to_string()).collect();
    refused(&["release", "--values", &many.join(",")], "needs 3 to 64");
    refused(&["release", "--values", "1,2,2"], "duplicate `2`");
    let values = ["release", "--values", "1,2,3"];
    refused(
        &[&values[..], &["--figure", "latency"]].concat(),
        "no scenario has a figure `latency`",
    );
    refused(&[&values[..], &["--criterion", "worse"]].concat(), "expected slower");
    refused(&[&values[..], &["--trials", "3"]].concat(), "each run of a search is one trial");
}

#[test]
#[ignore = "needs the lab"]
fn the_tags_of_a_registry_are_searched_in_order() {
    let commands = "case ${{ params.image }} in *20261103|*20261104) s=80;; *) s=100;; esac; echo speed: $s.$(tr -dc 0-9 </proc/sys/kernel/random/uuid | cut -c1)";
    let main = format!(
        "  main:\n    performance:\n      run: |\n        {commands}\n      figures: {{ speed: {{ pattern: 'speed: ([0-9.]+)', unit: MB/s }} }}\n"
    );
    let keys = "params:\n  image: { type: string }\nimage: ${{ params.image }}\n";
    let lab = Lab::new().recipe(&recipe_with(keys, &main));
    let tags =
        ["nightly-20261104", "nightly-20261101", "latest", "nightly-20261103", "nightly-20261102"];
    let names = published_as(&lab, "nightlies", &tags);
    let (name, _) = names[0].rsplit_once(':').unwrap();
    let pattern = format!("{name}:*");
    let arguments = [
        "bisect",
        "./recipe.yaml",
        "--tags",
        &pattern,
        "--criterion",
        "slower:5%",
        "--remove-images",
    ];
    let done = lab.retrial(&arguments).expect_exit(0);
    let note = format!("not searched: {name}:latest: it states neither a release nor a date");
    assert!(done.err.contains(&note), "{}", done.err);
    assert_eq!(search_result(&lab), pair(&names[4], &names[3]));
    assert!(names.iter().all(|name| !has_image(&lab, name)));
    let narrow = format!("{name}:*20261104");
    let refused = lab.retrial(&["bisect", "./recipe.yaml", "--tags", &narrow]).expect_exit(2);
    assert!(refused.err.contains("widen the pattern"), "{}", refused.err);
}
