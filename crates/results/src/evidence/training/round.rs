//! The round of training results: by their path, else by the benchmarks that the submitters
//! have, and the dates of their logs.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::find::{TrainingResult, TrainingTrees};
use crate::evidence::folder::folder_names;
use retrial_mlperf::mllog::parse_events;
use retrial_mlperf::submission_layout::RESULTS_FOLDER;
use retrial_mlperf::training::{self, TrainingRound};
use retrial_store::open;

/// The first events of a log are in its first lines.
const HEAD_BYTES: u64 = 1 << 16;

/// Returns the round of these results; `None` where nothing tells.
pub fn find_round(trees: &TrainingTrees) -> Option<&'static TrainingRound> {
    let mut roots = trees.results.iter().map(|result| result.root.as_path());
    roots.find_map(round_in_path).or_else(|| {
        let is_known = |name: &String| {
            let mut rounds = training::built_in_training_rounds().iter();
            rounds.any(|round| round.benchmark_names().any(|other| other == name))
        };
        let names: BTreeSet<String> = trees.results.iter().flat_map(submitted_benchmarks).collect();
        let names: Vec<&str> =
            names.iter().filter(|name| is_known(name)).map(String::as_str).collect();
        let newest = trees.results.iter().filter_map(first_day).max();
        (!names.is_empty()).then(|| training::find_training_round(&names, newest)).flatten()
    })
}

/// `training_results_v5.1`, or `v5.1`, somewhere in the path.
fn round_in_path(root: &Path) -> Option<&'static TrainingRound> {
    let mut parts: Vec<_> = root.iter().map(|part| part.to_string_lossy()).collect();
    parts.reverse();
    parts.iter().find_map(|part| {
        let last = part.rsplit(['_', '-']).next()?;
        training::built_in_training_rounds().iter().find(|round| round.round == last)
    })
}

/// Returns all benchmarks of a result's submitter.
fn submitted_benchmarks(result: &TrainingResult) -> Vec<String> {
    let results = result.root.join(&result.submitter).join(RESULTS_FOLDER);
    let systems = folder_names(&results).into_iter();
    systems.flat_map(|system| folder_names(&results.join(system))).collect()
}

/// Returns the day on which a result's first log began.
fn first_day(result: &TrainingResult) -> Option<Date> {
    use std::io::Read;

    let log = result.relative_path().join(result.logs.first()?);
    let file = open::open_beneath(&result.root, &log).ok()?;
    let mut head = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let first = head.lines().flat_map(parse_events).find(|event| event.time_ms > 0.0)?;
    to_utc_date(first.time_ms)
}

/// Returns the day of a time in milliseconds since 1970.
pub(super) fn to_utc_date(time_ms: f64) -> Option<Date> {
    #[expect(clippy::cast_possible_truncation, reason = "what is no time is refused")]
    let time = Timestamp::from_millisecond(time_ms as i64).ok()?;
    Some(time.to_zoned(TimeZone::UTC).date())
}
