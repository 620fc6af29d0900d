//! Reads the runs of an export: plan, host, verdict, and the files of each trial.

use std::collections::BTreeMap;
use std::path::Path;

use walkdir::WalkDir;

use super::{CheckOutput, ExportedTrial, SourceRun};
use retrial_mlperf::submission_layout::is_test;
use retrial_plan::step::Action;
use retrial_results::evidence::compliance::VERIFY_FILES;
use retrial_results::evidence::folder::{self, SUMMARY};
use retrial_results::evidence::run::RunFiles;
use retrial_results::evidence::texts::TextFile;
use retrial_results::verdict::Verdict;
use retrial_store::{StoreError, open};

/// An accuracy.txt has a few lines; the output of a check may have more.
const MAX_TEXT_BYTES: u64 = 1 << 20;
/// Limits on the files of a result: their depth below its folder, and their number.
const MAX_FILE_DEPTH: usize = 6;
const MAX_FILES: usize = 10_000;

/// Reads a run; `host` is its host.json.
///
/// # Errors
/// If host.json is missing or invalid.
pub fn read_run(files: &RunFiles<'_>, verdict: Verdict) -> Result<SourceRun, StoreError> {
    let host = files.directory.read_host()?;
    let engine = files.directory.read_host_record()?.engine;
    let mut results = Vec::new();
    for (index, measured) in files.plan.measurements.iter().enumerate() {
        for trial in measured.judged_trials() {
            let collected = measured.results_directory(trial);
            results.extend(read_trial_files(files, index, trial, &collected));
        }
    }
    Ok(SourceRun {
        id: files.directory.id().to_owned(),
        plan: files.plan.clone(),
        host,
        engine: engine.map(|engine| format!("{} {}", engine.product, engine.version)),
        digests: files.state.digests.clone(),
        models: files.state.models.clone(),
        verdict,
        results,
    })
}

/// The files of one trial; none if nothing was collected.
fn read_trial_files(
    files: &RunFiles<'_>,
    measurement: usize,
    trial: u32,
    collected: &str,
) -> Option<ExportedTrial> {
    let root = files.directory.join(collected);
    if !root.is_dir() {
        return None;
    }
    let summaries = folder::find_summary_folders(&root);
    // With several summaries it is the folder of a whole scenario.
    let inner = match &summaries[..] {
        [only] => only.as_path(),
        _ => Path::new(""),
    };
    let untrimmed_folder = Path::new(collected).join(inner).display().to_string();
    let folder = untrimmed_folder.trim_end_matches('/').to_owned();
    let place = files.directory.join(&folder);
    let listed = list_files(&place);
    let accuracy = open::read_text_beneath(&place, Path::new("accuracy.txt"), MAX_TEXT_BYTES).ok();
    let has_run = listed.contains_key(SUMMARY);
    let run = has_run.then(|| folder::read_result_folder(&place).ok()).flatten();
    Some(ExportedTrial {
        measurement,
        trial,
        tests: find_tests(&listed, &source_path(files, measurement, trial)),
        accuracy: accuracy.filter(|text| !text.trim().is_empty()),
        printed: read_check_output(files, measurement, trial),
        parameters: run.map(|run| run.parameters()).unwrap_or_default(),
        files: listed,
        folder,
    })
}

/// The regular files below a folder, with their sizes; links are no files.
fn list_files(root: &Path) -> BTreeMap<String, u64> {
    let entries = WalkDir::new(root).min_depth(1).max_depth(MAX_FILE_DEPTH + 1);
    let files = entries.into_iter().filter_map(|entry| {
        let file_entry = entry.ok().filter(|entry| entry.file_type().is_file())?;
        let path = file_entry.path().strip_prefix(root).ok()?.to_str()?.to_owned();
        Some((path, file_entry.metadata().ok()?.len()))
    });
    files.take(MAX_FILES).collect()
}

/// The path of the results in the container: folders' names identify the audit's tests.
fn source_path(files: &RunFiles<'_>, measurement: usize, trial: u32) -> String {
    let mut steps = files.plan.steps.iter();
    let collect = steps.find_map(|step| match &step.action {
        Action::Collect { path, .. } if step.belongs_to_trial(measurement, trial) => {
            Some(path.clone())
        }
        _ => None,
    });
    collect.unwrap_or_default()
}

/// Folders of the audit's tests: those with a verification in them, by their names.
fn find_tests(listed: &BTreeMap<String, u64>, source_path: &str) -> BTreeMap<String, String> {
    let verified = listed.keys().filter_map(|path| {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_verified = VERIFY_FILES.contains(&name);
        is_verified.then_some(folder)
    });
    verified
        .filter_map(|folder| {
            let whole = format!("{source_path}/{folder}");
            let name = whole.split('/').rev().find(|part| is_test(part))?;
            Some((name.to_ascii_uppercase(), folder.to_owned()))
        })
        .collect()
}

fn read_check_output(files: &RunFiles<'_>, measurement: usize, trial: u32) -> Option<CheckOutput> {
    let mut steps = files.plan.steps.iter();
    let step =
        steps.find(|step| step.checks_results() && step.belongs_to_trial(measurement, trial))?;
    let output = TextFile::step_output(files.directory.path(), &step.directory_name());
    let text = open::read_text_beneath(&output.directory, &output.file, MAX_TEXT_BYTES).ok()?;
    Some(CheckOutput { step: step.name.clone(), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests(files: &[&str], source_path: &str) -> Vec<(String, String)> {
        let listed = files.iter().map(|name| ((*name).to_owned(), 1)).collect();
        find_tests(&listed, source_path).into_iter().collect()
    }

    #[test]
    fn a_test_is_identified_by_its_directory() {
        let pair = |name: &str, folder: &str| (name.to_owned(), folder.to_owned());
        assert_eq!(
            tests(&["verify_accuracy.txt", "accuracy/x.json"], "/results/TEST06"),
            [pair("TEST06", "")]
        );
        assert_eq!(
            tests(
                &[
                    "TEST01/verify_accuracy.txt",
                    "TEST01/verify_performance.txt",
                    "a/TEST04/verify_performance.txt"
                ],
                "/results/compliance"
            ),
            [pair("TEST01", "TEST01"), pair("TEST04", "a/TEST04")]
        );
        assert!(tests(&["verify_accuracy.txt"], "/results/audit").is_empty());
    }
}
