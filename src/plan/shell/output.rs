//! The output of commands, in files where `retrial judge` looks for the figures that they print.

use super::quote;
use crate::plan::measurement::MeasurementPlan;
use crate::plan::step::{Action, ExecStep, Plan, Purpose};
use retrial_recipe::model::Mode;

/// The directory of the results that are judged.
pub(super) const RESULTS: &str = "results";

/// Shows the output of a command and keeps it; ends the script if the command fails.
const FUNCTION: &str = r#"
# shows the output of a command, and keeps it in a file
logged() {
  log=$1; shift; mkdir -p "${log%/*}"; rm -f "$log.failed"
  { "$@" 2>&1 || echo "$?" >"$log.failed"; } | tee "$log"
  [ ! -e "$log.failed" ] || exit "$(cat "$log.failed")"
}
"#;

/// The function, if the script needs it.
pub(super) fn header(plan: &Plan) -> &'static str {
    let mut commands = plan.steps.iter().filter_map(|step| match &step.action {
        Action::Exec(exec) => Some(exec),
        _ => None,
    });
    if commands.any(|exec| !files(plan, exec).is_empty()) {
        return FUNCTION;
    }
    ""
}

/// A line that runs a command of a measurement, and keeps its output if figures are read from it.
pub(super) fn kept(plan: &Plan, exec: &ExecStep, line: &str) -> String {
    let mut files = files(plan, exec).into_iter();
    let Some((directory, name)) = files.next() else {
        return line.to_owned();
    };
    let first = quote(&format!("{directory}/{name}"));
    let copies = files.map(|(other, _)| {
        let other = quote(&other);
        format!("\nmkdir -p {other}; cp {first} {other}")
    });
    format!("logged {first} {line}{}", copies.collect::<String>())
}

/// The directories and names of files from which `retrial judge` reads what a command prints.
fn files(plan: &Plan, exec: &ExecStep) -> Vec<(String, &'static str)> {
    let measured = |index: &usize| Some((*index, plan.measurements.get(*index)?));
    let (found, trial, name): (Vec<_>, u32, &str) = match &exec.purpose {
        Purpose::Prepare => return Vec::new(),
        Purpose::Measure {
            measurements,
            trial,
        } => {
            let found = measurements.iter().filter_map(measured);
            let found = found.filter(|(_, one)| !one.loadgen && is_printed(one));
            (found.collect(), *trial, "output.log")
        }
        Purpose::Check {
            measurement, trial, ..
        } => {
            let found = measured(measurement).into_iter();
            // MLPerf's name for what a script says of the accuracy.
            let found = found.filter(|(_, one)| one.loadgen && one.mode == Mode::Accuracy);
            (found.collect(), *trial, "accuracy.txt")
        }
    };
    let places = found.into_iter();
    places
        .map(|(index, _)| (directory(plan, index, trial), name))
        .collect()
}

/// The directory of a trial's results. Those of a warm-up lie elsewhere, for `judge` counts all that it finds.
pub(super) fn directory(plan: &Plan, measurement: usize, trial: u32) -> String {
    let measured = plan.measurements.get(measurement);
    let place = measured.map(|one| one.trial_directory(trial));
    let is_judged = measured.is_none_or(|one| trial > one.warmup);
    let above = if is_judged { RESULTS } else { "warm-up" };
    format!("{above}/{}", place.unwrap_or_default())
}

/// Whether any figure is read from the output of the command.
fn is_printed(measured: &MeasurementPlan) -> bool {
    let mut figures = measured.figures.iter();
    figures.any(|(_, source)| source.file.is_none())
}
