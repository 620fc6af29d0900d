//! The files of a trial that a script ran: the results, and what the script kept of the outputs.

use std::path::Path;

use super::accuracy::ACCURACY_FILE;
use super::figures::TextFile;
use super::readings::{TrialReadings, read_trial_figures};
use crate::verdict::StepOutcome;
use retrial_plan::measurement::MeasurementPlan;
use retrial_plan::{OPTIONS_FILE, Plan};
use retrial_recipe::model::{FigureLocator, FigureSource, Mode};
use retrial_store::open;

/// The file with the output of a command that Retrial did not run.
pub(crate) const OUTPUT: &str = "output.log";
/// The file with the output of a check that Retrial did not run.
const CHECK_OUTPUT: &str = "check.log";
/// The files with the logs of a submission's runs, as MLCommons names them.
pub(crate) const TRAINING_LOGS: &str = "result_*.txt";
/// Maximum height of the root above the directory that is judged: that of `SCENARIO/MODE/run_N`.
pub(crate) const MAX_LEVELS_ABOVE: usize = 3;

/// The end of a file's name that has the exit code of the command whose output it keeps.
const EXIT_CODE_SUFFIX: &str = "failed";
/// The largest such file.
const MAX_CODE_BYTES: u64 = 64;
/// The largest file of changing options.
const MAX_OPTIONS_BYTES: u64 = 64 << 10;

/// Returns the outputs of a trial's commands in its folder, the check's first.
pub(crate) fn output_texts(folder: &Path, measured: &MeasurementPlan) -> Vec<TextFile> {
    let names = [CHECK_OUTPUT, ACCURACY_FILE].into_iter().filter(|name| exists_in(folder, name));
    let mut outputs: Vec<TextFile> = names.map(|file| text_in_folder(folder, file)).collect();
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

/// Returns the failure of a trial's command whose exit code a script kept: the trial has no result then.
pub(crate) fn read_command_failure(folder: &Path, trial: u32) -> Option<StepOutcome> {
    let training_log = TRAINING_LOGS.replace('*', &trial.to_string());
    read_failure(folder, &[OUTPUT, &training_log], "it")
}

/// Returns the failure of the check of a trial's results, likewise.
pub(crate) fn read_check_failure(folder: &Path) -> Option<StepOutcome> {
    read_failure(folder, &[CHECK_OUTPUT, ACCURACY_FILE], "its check failed: it")
}

/// Returns the outcome by the exit code that a script kept next to the output of a command that failed.
fn read_failure(folder: &Path, outputs: &[&str], subject: &str) -> Option<StepOutcome> {
    let code = outputs.iter().find_map(|output| {
        let file = format!("{output}.{EXIT_CODE_SUFFIX}");
        match open::read_text_beneath(folder, Path::new(&file), MAX_CODE_BYTES) {
            Ok(text) => Some(text.trim().to_owned()),
            Err(_) => exists_in(folder, &file).then(String::new),
        }
    })?;
    Some(StepOutcome::Failed {
        reason: format!("{subject} ended with exit code {code}"),
        code: code.parse().ok(),
    })
}

/// Returns whether figures of a measurement are read of training logs.
fn has_training_figures(measured: &MeasurementPlan) -> bool {
    let mut figures = measured.figures.iter();
    figures.any(|(_, figure)| matches!(figure.find, FigureLocator::Mllog(_)))
}

/// Returns the texts in which a figure of a trial is searched: its own file, or the outputs.
pub(crate) fn texts_of_source(
    folder: &Path,
    outputs: &[TextFile],
    source: &FigureSource,
) -> Vec<TextFile> {
    match &source.file {
        Some(file) => vec![text_in_folder(folder, &file.0)],
        None => outputs.to_vec(),
    }
}

/// Reads a measurement's figures in a folder.
pub(crate) fn read_figures(folder: &Path, measured: &MeasurementPlan) -> Vec<TrialReadings> {
    let outputs = output_texts(folder, measured);
    read_trial_figures(&measured.figures, &|source| texts_of_source(folder, &outputs, source))
}

/// Returns whether one of the files that a measurement's figures are read from is in a folder.
pub(crate) fn has_files(folder: &Path, measured: &MeasurementPlan) -> bool {
    let outputs = output_texts(folder, measured);
    let mut sources = measured.figures.iter();
    sources.any(|(_, source)| texts_of_source(folder, &outputs, source).iter().any(is_there))
}

/// Returns whether a folder has a figure of a measurement, or a file that only its figures are read from.
pub(crate) fn has_figures(folder: &Path, measured: &MeasurementPlan) -> bool {
    let mut files = measured.figures.iter().filter_map(|(_, source)| source.file.as_ref());
    files.any(|file| is_there(&text_in_folder(folder, &file.0)))
        || read_figures(folder, measured).iter().any(|reading| !reading.figures.is_empty())
}

/// Returns whether a text exists: one file of a glob's.
fn is_there(text: &TextFile) -> bool {
    let files = text.matching_files().unwrap_or_default();
    files.iter().any(|file| exists_in(&file.directory, &file.file))
}

/// Returns whether a measurement is of the mode that a scenario's results have where nothing tells it.
pub(crate) fn is_main_mode(measured: &MeasurementPlan, plan: &Plan) -> bool {
    let modes = || {
        let all = plan.measurements.iter();
        all.filter(|one| one.key == measured.key).map(|one| one.mode)
    };
    let main = modes().find(|mode| *mode == Mode::Performance);
    main.or_else(|| modes().next()) == Some(measured.mode)
}

/// Names a file beneath a folder.
fn text_in_folder(folder: &Path, file: &str) -> TextFile {
    TextFile { directory: folder.to_owned(), file: file.into() }
}

fn exists_in(folder: &Path, file: impl AsRef<Path>) -> bool {
    std::fs::symlink_metadata(folder.join(file)).is_ok()
}

/// Returns the options that changed the plan of the script that left a directory's results, or those around it.
pub(crate) fn read_changing_options(directory: &Path) -> Vec<String> {
    let mut around = directory.ancestors().take(MAX_LEVELS_ABOVE + 1);
    let stored_text = around.find_map(|folder| {
        open::read_text_beneath(folder, Path::new(OPTIONS_FILE), MAX_OPTIONS_BYTES).ok()
    });
    let text = stored_text.unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(str::to_owned).collect()
}
