//! Batches: runs over varied axes, executed by the real program on a real engine.

mod failed_cells;
mod killed;
mod order;
mod removed_images;
mod search;
mod workers;

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::lab::{Done, Going, Lab, recipe_with};

/// A recipe whose case is varied by params: which word it prints, and what it does before.
pub fn varied(keys: &str, before: &str) -> String {
    let keys = format!(
        "params:\n  word: {{ type: string, default: none }}\n  number: {{ type: int, default: 0 }}\n{keys}"
    );
    let commands = format!("{before}\necho \"${{{{ params.word }}}} ${{{{ params.number }}}}\"");
    recipe_with(&keys, &crate::lab::case("main", &commands, ""))
}

/// The batches of a lab.
pub trait Batches {
    /// `retrial batch ./recipe.yaml --vary …`, two cells, to its end.
    fn batch(&self, arguments: &[&str]) -> Done;
    /// The same in the background of the test.
    fn start_batch(&self, arguments: &[&str]) -> Going<'_>;
    /// The directory of the one batch.
    fn the_batch(&self) -> PathBuf;
    /// The id of the one batch.
    fn batch_id(&self) -> String;
    /// Its journal.
    fn batch_journal(&self) -> Vec<Value>;
    /// Its verdict.
    fn batch_verdict(&self) -> Value;
    /// Events of a kind.
    fn happened(&self, event: &str) -> Vec<Value>;
    /// The runs of the batch's journal, in the order in which they began: cell and trial.
    fn started_runs(&self) -> Vec<(String, u64)>;
    /// Text of a file of every run, by id.
    fn of_runs(&self, relative: &str) -> Vec<(String, String)>;
}

impl Batches for Lab {
    fn batch(&self, arguments: &[&str]) -> Done {
        self.start_batch(arguments).end()
    }

    fn start_batch(&self, arguments: &[&str]) -> Going<'_> {
        let mut all = vec!["batch", "./recipe.yaml", "--vary", "word=one,two"];
        all.extend(arguments);
        self.start_retrial(&all)
    }

    fn the_batch(&self) -> PathBuf {
        let batches = fs::read_dir(self.home_path().join("batches"));
        let mut batches = batches.into_iter().flatten();
        let batch = batches.next().expect("a batch").unwrap().path();
        assert!(batches.next().is_none(), "several batches");
        batch
    }

    fn batch_id(&self) -> String {
        let name = self.the_batch();
        name.file_name().unwrap().to_str().unwrap().to_owned()
    }

    fn batch_journal(&self) -> Vec<Value> {
        let batches = fs::read_dir(self.home_path().join("batches"));
        let batch = batches.into_iter().flatten().flatten().next();
        let text = batch.map(|batch| fs::read_to_string(batch.path().join("journal.jsonl")));
        let text = text.and_then(Result::ok).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn batch_verdict(&self) -> Value {
        let text = fs::read_to_string(self.the_batch().join("verdict.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn happened(&self, event: &str) -> Vec<Value> {
        let mut journal = self.batch_journal();
        journal.retain(|entry| entry["event"] == event);
        journal
    }

    fn started_runs(&self) -> Vec<(String, u64)> {
        let started = self.happened("trial_run_started");
        let names = started.iter().map(|started| {
            let cell = started["cell"].as_str().unwrap().to_owned();
            (cell, started["trial"].as_u64().unwrap())
        });
        names.collect()
    }

    fn of_runs(&self, relative: &str) -> Vec<(String, String)> {
        let texts = self.runs().into_iter().map(|run| {
            let id = run.file_name().unwrap().to_str().unwrap().to_owned();
            (id, fs::read_to_string(run.join(relative)).unwrap_or_default())
        });
        texts.collect()
    }
}

#[test]
#[ignore = "needs the lab"]
fn an_image_that_exists_nowhere_is_found_before_the_first_run() {
    let known = crate::lab::image("busybox");
    let unknown = known.replace(":1", ":no-such-tag");
    let keys = "params:\n  image: { type: string }\nimage: ${{ params.image }}\n";
    let recipe = recipe_with(keys, &crate::lab::case("main", "echo 1", ""));
    let lab = Lab::new().recipe(&recipe);
    let other = known.replace(":1", ":no-other-tag");
    let vary = format!("image={other},{unknown}");
    let done = lab.start_retrial(&["batch", "./recipe.yaml", "--vary", &vary]).end();
    let text = done.expect_exit(3).err;
    assert!(text.contains("no-such-tag: there is no image"), "{text}");
    assert!(text.contains("nothing was started"), "{text}");
    assert!(lab.happened("trial_run_started").is_empty());
}
