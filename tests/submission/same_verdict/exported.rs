//! A run and the submission tree that it exports agree on what is valid.

use std::collections::BTreeMap;
use std::fs;

use rstest::rstest;
use serde_json::Value;

use super::scene::verdict;
use crate::export::planted::{Home, Planted};

/// Validity by scenario and mode, as far as a run and a tree have both.
fn validity(verdicts: &Value) -> BTreeMap<(String, String), bool> {
    let results = verdicts["results"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    results
        .filter(|result| result["mode"] != "compliance")
        .map(|result| {
            let key = (text(&result["scenario"]), text(&result["mode"]));
            (key, result["valid"] == true)
        })
        .collect()
}

#[rstest]
#[case::all_valid("nothing", true)]
#[case::loadgen_says_invalid("word", true)]
#[case::answers_are_wrong("accuracy.txt", false)]
#[case::figure_is_missing("figure", false)]
fn a_tree_and_its_run_agree_on_what_is_valid(#[case] fault: &str, #[case] accuracy: bool) {
    let home = Home::new("v6.0");
    home.plant(&Planted { scenarios: "offline", valid: fault != "word", ..Planted::WHOLE });
    let results = home.path("runs/whole/results/Offline");
    if fault == "accuracy.txt" {
        let wrong =
            "{'rouge1': 12.5, 'rouge2': 22.09, 'rougeL': 28.86, 'tokens_per_sample': 290.9}\n";
        fs::write(results.join("accuracy/run_1/accuracy.txt"), wrong).unwrap();
    }
    if fault == "figure" {
        let wrong = "{'rouge2': 22.09, 'rougeL': 28.86, 'tokens_per_sample': 290.9}\n";
        fs::write(results.join("accuracy/run_1/accuracy.txt"), wrong).unwrap();
    }
    let own = verdict(&home.retrial(&["judge", "whole", "--output", "json"]));
    let (tree, _) =
        home.export(&["whole", "--layout", "v6.0", "--to", "tree", "--submitter", "ACME"]);
    assert!(tree["files"].is_array(), "{tree:#}");
    // What violates a rule is exported as open, which has no limits of accuracy.
    if tree["division"] == "open" {
        fs::rename(home.path("tree/open"), home.path("tree/closed")).unwrap();
    }
    let judged = verdict(&home.retrial(&["judge", "tree", "--round", "v6.0", "--output", "json"]));
    let (own, judged) = (validity(&own), validity(&judged));
    assert_eq!(own[&("Offline".to_owned(), "accuracy".to_owned())], accuracy);
    assert_eq!(own, judged);
}
