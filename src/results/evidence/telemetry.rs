//! What `telemetry.csv` says of a run's steps.

use std::path::Path;

use jiff::Timestamp;

use crate::plan::step::Plan;
use crate::store::RunDirectory;
use crate::store::open::read_text_beneath;
use crate::telemetry::rate::MOST_BYTES;
use crate::telemetry::{Row, Summary, table};

/// The file's name in the run's directory.
pub const FILE: &str = "telemetry.csv";

/// The rows of a run; none where nothing was watched.
#[must_use]
pub fn rows(run: &RunDirectory) -> Vec<Row> {
    // The header and the last look may reach beyond the limit.
    let text = read_text_beneath(run.path(), Path::new(FILE), MOST_BYTES + (1 << 20));
    text.map(|text| table::read(&text)).unwrap_or_default()
}

/// What they say of a step, from its beginning to its end; a step that was done again keeps nothing
/// of the first time. Within a window, where the benchmark says when it measured: what came before
/// and after it is left out, but not for whether the GPUs worked.
#[must_use]
pub fn of_step(
    plan: &Plan,
    rows: &[Row],
    step: u32,
    (began, ended): (Timestamp, Timestamp),
    window: Option<(Timestamp, Timestamp)>,
) -> Option<Summary> {
    let required = plan
        .requires
        .gpus
        .as_ref()
        .map_or(0, |gpus| gpus.count as usize);
    let of_step: Vec<Row> = rows
        .iter()
        .filter(|row| row.measured.step == step)
        .cloned()
        .collect();
    let whole = Summary::of(&of_step, (began, ended), began, required)?;
    let within = window
        .and_then(|window| Summary::of(&of_step, window, began, required))
        .filter(|within| within.samples > 1);
    let seen = match within {
        Some(within) => Summary {
            idle: within.idle.or(whole.idle),
            within_measurement: true,
            ..within
        },
        None => whole,
    };
    Some(Summary {
        first_machine_only: plan.nodes.is_some_and(|nodes| nodes.count > 1),
        ..seen
    })
}
