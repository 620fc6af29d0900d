//! The output of commands, in files in which `retrial judge` searches for the printed figures.

use super::shell_quote;
use crate::changes::OPTIONS_FILE;
use crate::measurement::MeasurementPlan;
use crate::step::{Action, CommandPurpose, ExecStep, Plan, Step};
use retrial_recipe::model::{FigureLocator, FigureSource, InvalidMarker, Mode};

/// The directory of the results that are judged.
pub(super) const RESULTS_DIRECTORY: &str = "results";

/// Shows the output of a command and logs it to a file; ends the script if the command fails.
const LOGGED_FUNCTION: &str = r#"
# shows the output of a command, and keeps it in a file
logged() {
  log=$1; shift; mkdir -p "${log%/*}"; rm -f "$log.failed"
  { "$@" 2>&1 || echo "$?" >"$log.failed"; } | tee "$log"
  [ ! -e "$log.failed" ] || exit "$(cat "$log.failed")"
}
"#;

/// The function, if the script needs it.
pub(super) fn logged_function(plan: &Plan) -> &'static str {
    let is_logged = |step: &Step| matches!(&step.action, Action::Exec(exec) if !output_files(plan, exec).is_empty());
    if plan.steps.iter().any(is_logged) { LOGGED_FUNCTION } else { "" }
}

/// Keeps the options that changed the plan next to the results, for the verdict on them.
pub(super) fn save_changed_options(plan: &Plan) -> String {
    let changes = plan.changing_options();
    if changes.is_empty() {
        return String::new();
    }
    let quoted_changes: Vec<String> = changes.iter().map(|change| shell_quote(change)).collect();
    let changes = quoted_changes.join(" ");
    format!(
        "mkdir -p {RESULTS_DIRECTORY}; printf '%s\\n' {changes} >{RESULTS_DIRECTORY}/{OPTIONS_FILE}\n"
    )
}

/// A line that runs a command of a measurement, and logs its output if anything is read from it.
pub(super) fn log_output(plan: &Plan, exec: &ExecStep, line: &str) -> String {
    let mut files = output_files(plan, exec).into_iter();
    let Some((directory, name)) = files.next() else {
        return line.to_owned();
    };
    let first = shell_quote(&format!("{directory}/{name}"));
    let copies = files.map(|(other, name)| {
        let (other, copy) = (shell_quote(&other), shell_quote(&format!("{other}/{name}")));
        format!("\nmkdir -p {other}; cp {first} {copy}")
    });
    format!("logged {first} {line}{}", copies.collect::<String>())
}

/// Returns the directories and names of the files in which `retrial judge` searches the output of a command.
fn output_files(plan: &Plan, exec: &ExecStep) -> Vec<(String, String)> {
    let (measurements, trial) = match &exec.purpose {
        CommandPurpose::Prepare => return Vec::new(),
        CommandPurpose::Measure { measurements, trial } => (measurements.clone(), *trial),
        CommandPurpose::Check { measurement, trial, .. } => (vec![*measurement], *trial),
    };
    let is_check = matches!(exec.purpose, CommandPurpose::Check { .. });
    let named = measurements.into_iter().filter_map(|index| {
        let measured = plan.measurements.get(index)?;
        let name = if is_check {
            check_output_name(plan, measured)
        } else {
            measurement_output_name(plan, measured, trial)
        };
        Some((trial_results_directory(plan, index, trial), name?))
    });
    named.collect()
}

/// The name for the output of a check: `MLPerf`'s for that of the accuracy script.
fn check_output_name(plan: &Plan, measured: &MeasurementPlan) -> Option<String> {
    if measured.loadgen && measured.mode == Mode::Accuracy {
        return Some("accuracy.txt".to_owned());
    }
    is_output_read(plan, measured).then(|| "check.log".to_owned())
}

/// The name for the output of a measurement. Training logs have that of `MLCommons`.
fn measurement_output_name(plan: &Plan, measured: &MeasurementPlan, trial: u32) -> Option<String> {
    let is_log = |(_, source): &(String, FigureSource)| {
        source.file.is_none() && matches!(source.find, FigureLocator::Mllog(_))
    };
    if measured.figures.iter().any(is_log) {
        return Some(format!("result_{trial}.txt"));
    }
    let signs = plan.failure_signs(measured);
    let is_searched = signs.is_some_and(|signs| !signs.output.is_empty());
    (is_searched || is_output_read(plan, measured)).then(|| "output.log".to_owned())
}

/// Whether anything is read from what the commands of a measurement print: figures, or marks of an
/// invalid result.
fn is_output_read(plan: &Plan, measured: &MeasurementPlan) -> bool {
    let mut figures = measured.figures.iter();
    let mut markers = plan.judge.invalid_if.iter();
    figures.any(|(_, source)| source.file.is_none())
        || markers.any(|marker| !matches!(marker, InvalidMarker::File(_)))
}

/// The directory of a trial's results. Those of a warm-up are elsewhere, since `judge` reads all results.
pub(super) fn trial_results_directory(plan: &Plan, measurement: usize, trial: u32) -> String {
    let measured = plan.measurements.get(measurement);
    let place = measured.map(|plan| plan.trial_directory(trial));
    let is_judged = measured.is_none_or(|plan| trial > plan.warmup);
    let above = if is_judged { RESULTS_DIRECTORY } else { "warm-up" };
    format!("{above}/{}", place.unwrap_or_default())
}
