//! Cached directories: populated once and retained for later runs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::lab::{Lab, case, recipe_with};

mod filled;
mod mounts;
mod shared;
mod trust;

/// A recipe with a cached dataset: the commands that populate it, further keys, and the measurement.
fn keeps(image: &str, commands: &str, more: &str, measured: &str) -> String {
    let indent = |text: &str| text.replace('\n', "\n      ");
    let keys = format!(
        "{image}\ndatasets:\n  data:\n    run: |\n      {}\n    {}",
        indent(commands),
        more.replace('\n', "\n    ")
    );
    recipe_with(&keys, &case("main", measured, ""))
}

const KEEP: &str = "cache: { path: /data, key: data }";
const DOWNLOAD: &str = "echo downloading; echo content >/data/file";

/// The SHA-256 of `content\n`.
const HASH: &str = "434728a410a78f56fc1b5899c3593436e61ab0c731e9072d95e96db290205e53";

fn listed(size: u64, hash: &str) -> String {
    format!(
        "cache: {{ path: /data, key: data, files: {{ file: {{ size: {size}, sha256: {hash} }} }} }}"
    )
}

/// Complete cached directories below the cache.
fn cached(cache: &Path) -> Vec<PathBuf> {
    let below = |path: &Path| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let keys = below(&cache.join("directories")).into_iter();
    let names = keys.filter(|key| !key.ends_with(".locks")).flat_map(|key| below(&key));
    names.map(|name| name.join("current/content")).filter(|content| content.is_dir()).collect()
}

/// The last decision of the step.
fn decision(lab: &Lab) -> String {
    let journal = lab.journal().into_iter();
    let mut decisions = journal
        .filter(|entry| entry["name"] == "dataset-data" && entry["event"] == "decided")
        .map(|entry| entry["decision"].as_str().unwrap().to_owned());
    decisions.next_back().unwrap_or_default()
}

/// Another home with the same cache.
fn sharing_cache(lab: &Lab) -> Lab {
    let cache = lab.path("cache");
    Lab::new().env("RETRIAL_CACHE", cache.to_str().unwrap())
}
