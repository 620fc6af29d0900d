//! The files of a trial that a script ran: the results, and what the script kept of the outputs.

use std::path::Path;

use super::{CHECK_OUTPUT, LEVELS, OUTPUT, TRAINING_LOGS};
use crate::evidence::accuracy::ACCURACY;
use crate::evidence::figures::TextFile;
use crate::evidence::readings::readings;
use crate::evidence::trial_files::{TrialFiles, is_trained};
use crate::verdict::{Evidence, StepOutcome, TrialEvidence};
use retrial_plan::measurement::MeasurementPlan;
use retrial_plan::{OPTIONS_FILE, Plan};
use retrial_recipe::model::Mode;
use retrial_store::open;

/// The end of a file's name that has the exit code of the command whose output it keeps.
const FAILED: &str = "failed";
/// The largest such file.
const CODE_CAP: u64 = 64;
/// The largest file of changing options.
const OPTIONS_CAP: u64 = 64 << 10;

/// Returns the outputs of a trial's commands in its folder, the check's first.
pub(super) fn outputs(folder: &Path, measured: &MeasurementPlan) -> Vec<TextFile> {
    let of_check = [CHECK_OUTPUT, ACCURACY].into_iter();
    let of_check = of_check.filter(|name| is_there(folder, name));
    let mut outputs: Vec<TextFile> = of_check.map(|file| text(folder, file)).collect();
    outputs.push(if is_trained(measured) {
        let logs = text(folder, TRAINING_LOGS);
        match logs.files().as_deref() {
            Ok([only]) => only.clone(),
            _ => logs,
        }
    } else {
        text(folder, OUTPUT)
    });
    outputs
}

/// Reads a trial's files; one whose command failed has no result.
pub(super) fn read(
    files: &TrialFiles<'_>,
    mut trial: TrialEvidence,
    evidence: &mut Evidence,
) -> Vec<TrialEvidence> {
    let training_log = TRAINING_LOGS.replace('*', &trial.trial.to_string());
    if let Some(code) = [OUTPUT, &training_log]
        .into_iter()
        .find_map(|name| exit_code(files.folder, name))
    {
        trial.outcome = failed("it", &code);
        return vec![trial];
    }
    if let Some(code) = [CHECK_OUTPUT, ACCURACY]
        .into_iter()
        .find_map(|name| exit_code(files.folder, name))
    {
        trial.outcome = failed("its check failed: it", &code);
    }
    if files.measured.mode == Mode::Compliance {
        files.read_tests(trial.trial, evidence);
    }
    files.read(trial, evidence)
}

/// Returns whether one of the files that a measurement's figures are read from is in a folder.
pub(super) fn has_files(folder: &Path, measured: &MeasurementPlan) -> bool {
    let is_printed = |text: &TextFile| {
        let files = text.files().unwrap_or_default();
        files.iter().any(|file| is_there(folder, &file.file))
    };
    let mut sources = measured.figures.iter();
    sources.any(|(_, source)| match &source.file {
        Some(file) => is_printed(&text(folder, &file.0)),
        None => outputs(folder, measured).iter().any(is_printed),
    })
}

/// Returns whether a folder has a figure of a measurement, or a file that only its figures are read from.
pub(super) fn has_figures(folder: &Path, measured: &MeasurementPlan) -> bool {
    let outputs = outputs(folder, measured);
    let texts = |file: Option<&str>| match file {
        Some(file) => vec![text(folder, file)],
        None => outputs.clone(),
    };
    let named = measured
        .figures
        .iter()
        .filter_map(|(_, source)| source.file.as_ref());
    let mut named = named.flat_map(|file| text(folder, &file.0).files().unwrap_or_default());
    named.any(|file| is_there(folder, &file.file))
        || readings(&measured.figures, &|source| {
            texts(source.file.as_ref().map(|file| file.0.as_str()))
        })
        .iter()
        .any(|reading| !reading.figures.is_empty())
}

/// Returns whether a measurement is of the mode that a scenario's results have where nothing tells it.
pub(super) fn is_main_mode(measured: &MeasurementPlan, plan: &Plan) -> bool {
    let modes = || {
        let all = plan.measurements.iter();
        all.filter(|one| one.key == measured.key)
            .map(|one| one.mode)
    };
    let main = modes().find(|mode| *mode == Mode::Performance);
    main.or_else(|| modes().next()) == Some(measured.mode)
}

/// Names a file beneath a folder.
pub(super) fn text(folder: &Path, file: &str) -> TextFile {
    TextFile {
        directory: folder.to_owned(),
        file: file.into(),
    }
}

fn is_there(folder: &Path, file: impl AsRef<Path>) -> bool {
    std::fs::symlink_metadata(folder.join(file)).is_ok()
}

/// Returns the options that changed the plan of the script that left a directory's results, or those around it.
pub(super) fn changing_options(directory: &Path) -> Vec<String> {
    let mut around = directory.ancestors().take(LEVELS + 1);
    let text = around.find_map(|folder| {
        open::read_text_beneath(folder, Path::new(OPTIONS_FILE), OPTIONS_CAP).ok()
    });
    let text = text.unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(str::to_owned).collect()
}

/// Returns the exit code that a script kept next to the output of a command that failed.
fn exit_code(folder: &Path, output: &str) -> Option<String> {
    let file = format!("{output}.{FAILED}");
    let text = open::read_text_beneath(folder, Path::new(&file), CODE_CAP);
    match text {
        Ok(text) => Some(text.trim().to_owned()),
        Err(_) => is_there(folder, &file).then(String::new),
    }
}

fn failed(subject: &str, code: &str) -> StepOutcome {
    StepOutcome::Failed {
        reason: format!("{subject} ended with exit code {code}"),
        code: code.parse().ok(),
    }
}
