//! The files of a trial that a script ran: the results, and what the script kept of the outputs.

use std::path::Path;

use super::{CHECK_OUTPUT, MAX_LEVELS_ABOVE, OUTPUT, TRAINING_LOGS};
use crate::evidence::accuracy::ACCURACY_FILE;
use crate::evidence::figures::TextFile;
use crate::evidence::readings::read_trial_figures;
use crate::evidence::trial_files::{TrialFiles, has_training_figures};
use crate::verdict::{Evidence, StepOutcome, TrialEvidence};
use retrial_plan::measurement::MeasurementPlan;
use retrial_plan::{OPTIONS_FILE, Plan};
use retrial_recipe::model::Mode;
use retrial_store::open;

/// The end of a file's name that has the exit code of the command whose output it keeps.
const EXIT_CODE_SUFFIX: &str = "failed";
/// The largest such file.
const MAX_CODE_BYTES: u64 = 64;
/// The largest file of changing options.
const MAX_OPTIONS_BYTES: u64 = 64 << 10;

/// Returns the outputs of a trial's commands in its folder, the check's first.
pub(super) fn output_texts(folder: &Path, measured: &MeasurementPlan) -> Vec<TextFile> {
    let check_names = [CHECK_OUTPUT, ACCURACY_FILE].into_iter();
    let of_check = check_names.filter(|name| exists_in(folder, name));
    let mut outputs: Vec<TextFile> = of_check.map(|file| text_in_folder(folder, file)).collect();
    outputs.push(if has_training_figures(measured) {
        let logs = text_in_folder(folder, TRAINING_LOGS);
        match logs.matching_files().as_deref() {
            Ok([only]) => only.clone(),
            _ => logs,
        }
    } else {
        text_in_folder(folder, OUTPUT)
    });
    outputs
}

/// Reads a trial's files; one whose command failed has no result.
pub(super) fn read_trial_files(
    files: &TrialFiles<'_>,
    mut trial: TrialEvidence,
    evidence: &mut Evidence,
) -> Vec<TrialEvidence> {
    let training_log = TRAINING_LOGS.replace('*', &trial.trial.to_string());
    if let Some(code) =
        [OUTPUT, &training_log].into_iter().find_map(|name| read_exit_code(files.folder, name))
    {
        trial.outcome = failed_outcome("it", &code);
        return vec![trial];
    }
    if let Some(code) = [CHECK_OUTPUT, ACCURACY_FILE]
        .into_iter()
        .find_map(|name| read_exit_code(files.folder, name))
    {
        trial.outcome = failed_outcome("its check failed: it", &code);
    }
    if files.measured.mode == Mode::Compliance {
        files.check_tests(trial.trial, evidence);
    }
    files.read_trial(trial, evidence)
}

/// Returns whether one of the files that a measurement's figures are read from is in a folder.
pub(super) fn has_files(folder: &Path, measured: &MeasurementPlan) -> bool {
    let is_printed = |text: &TextFile| {
        let files = text.matching_files().unwrap_or_default();
        files.iter().any(|file| exists_in(folder, &file.file))
    };
    let mut sources = measured.figures.iter();
    sources.any(|(_, source)| match &source.file {
        Some(file) => is_printed(&text_in_folder(folder, &file.0)),
        None => output_texts(folder, measured).iter().any(is_printed),
    })
}

/// Returns whether a folder has a figure of a measurement, or a file that only its figures are read from.
pub(super) fn has_figures(folder: &Path, measured: &MeasurementPlan) -> bool {
    let outputs = output_texts(folder, measured);
    let texts = |file: Option<&str>| match file {
        Some(file) => vec![text_in_folder(folder, file)],
        None => outputs.clone(),
    };
    let sources_with_file = measured.figures.iter().filter_map(|(_, source)| source.file.as_ref());
    let mut named = sources_with_file
        .flat_map(|file| text_in_folder(folder, &file.0).matching_files().unwrap_or_default());
    named.any(|file| exists_in(folder, &file.file))
        || read_trial_figures(&measured.figures, &|source| {
            texts(source.file.as_ref().map(|file| file.0.as_str()))
        })
        .iter()
        .any(|reading| !reading.figures.is_empty())
}

/// Returns whether a measurement is of the mode that a scenario's results have where nothing tells it.
pub(super) fn is_main_mode(measured: &MeasurementPlan, plan: &Plan) -> bool {
    let modes = || {
        let all = plan.measurements.iter();
        all.filter(|one| one.key == measured.key).map(|one| one.mode)
    };
    let main = modes().find(|mode| *mode == Mode::Performance);
    main.or_else(|| modes().next()) == Some(measured.mode)
}

/// Names a file beneath a folder.
pub(super) fn text_in_folder(folder: &Path, file: &str) -> TextFile {
    TextFile { directory: folder.to_owned(), file: file.into() }
}

fn exists_in(folder: &Path, file: impl AsRef<Path>) -> bool {
    std::fs::symlink_metadata(folder.join(file)).is_ok()
}

/// Returns the options that changed the plan of the script that left a directory's results, or those around it.
pub(super) fn read_changing_options(directory: &Path) -> Vec<String> {
    let mut around = directory.ancestors().take(MAX_LEVELS_ABOVE + 1);
    let stored_text = around.find_map(|folder| {
        open::read_text_beneath(folder, Path::new(OPTIONS_FILE), MAX_OPTIONS_BYTES).ok()
    });
    let text = stored_text.unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(str::to_owned).collect()
}

/// Returns the exit code that a script kept next to the output of a command that failed.
fn read_exit_code(folder: &Path, output: &str) -> Option<String> {
    let file = format!("{output}.{EXIT_CODE_SUFFIX}");
    let text = open::read_text_beneath(folder, Path::new(&file), MAX_CODE_BYTES);
    match text {
        Ok(text) => Some(text.trim().to_owned()),
        Err(_) => exists_in(folder, &file).then(String::new),
    }
}

fn failed_outcome(subject: &str, code: &str) -> StepOutcome {
    StepOutcome::Failed {
        reason: format!("{subject} ended with exit code {code}"),
        code: code.parse().ok(),
    }
}
