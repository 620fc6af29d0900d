//! The files of a submission that carry no figure, and are asked for all the same. That one is
//! missing is told of the benchmark: what the others prove stands.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::submission::ScenarioFolder;
use crate::results::evidence::folder::is_missing;
use crate::results::verdict::RuleCheck;
use crate::store::open;
use retrial_mlperf::submission;

/// The largest description that is read: real ones have 1 to 3 kB.
const CAP: u64 = 1 << 20;
/// How many missing files are named.
const NAMED: usize = 4;

/// A file that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing(pub PathBuf);

/// The files beside a scenario's logs: how it was configured and run, and what was measured.
pub(crate) fn of_place(place: &ScenarioFolder) -> (Vec<Missing>, Vec<RuleCheck>) {
    let folder = place.measurements();
    let at = place.submitter.root.join(&folder);
    let names: Vec<String> = std::fs::read_dir(&at)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let mut missing = Vec::new();
    for name in ["user.conf", "README.md"] {
        if !names.iter().any(|there| there == name) {
            missing.push(Missing(folder.join(name)));
        }
    }
    let ours = |name: &&String| {
        let of_system =
            name.starts_with(&place.system) && Path::new(name).extension() == Some("json".as_ref());
        name.as_str() == "measurements.json" || !place.submitter.in_one_folder && of_system
    };
    let Some(name) = names.iter().find(ours) else {
        missing.push(Missing(folder.join("measurements.json")));
        return (missing, Vec::new());
    };
    let file = folder.join(name);
    let checks = match object(&place.submitter.root, &file) {
        Ok(object) => submission::check_measurements(&object),
        Err(because) => vec![RuleCheck::failed("measurements", because, "a JSON object")],
    };
    let of_file = |mut check: RuleCheck| {
        check.rule = format!("{}: {}", place.folder, check.rule);
        check
    };
    (missing, checks.into_iter().map(of_file).collect())
}

/// A JSON object that describes a system or a measurement.
///
/// # Errors
/// A fragment: where it is missing, or cannot be read as one.
pub(crate) fn object(root: &Path, file: &Path) -> Result<Map<String, Value>, String> {
    let text = open::read_text_beneath(root, file, CAP).map_err(|error| {
        if is_missing(&error) {
            "missing".to_owned()
        } else {
            error.to_string()
        }
    })?;
    submission::object(&text)
}

/// All that are missing of a benchmark, as one rule.
pub(crate) fn check(missing: &[Missing], benchmark: &Path) -> Option<RuleCheck> {
    let names = missing.iter().map(|Missing(path)| {
        let below = path.strip_prefix(benchmark).unwrap_or(path);
        below.display().to_string()
    });
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| {
        let measured = format!("missing: {}", crate::format::first(&names, NAMED));
        RuleCheck::failed("files", measured, "every file of a submission")
    })
}
