//! Power next to a scenario's performance: what the meter measured during `performance/run_1`, and
//! the files that a result with power has.

use std::io::Read;
use std::path::Path;

use jiff::civil::DateTime;
use serde_json::Value;
use sha1::{Digest, Sha1};

use super::files::{MissingFile, read_object};
use super::submission::ScenarioFolder;
use crate::evidence::folder;
use crate::verdict::{FigureValue, RuleCheck};
use retrial_mlperf::loadgen::{LoadgenDetail, LoadgenRun, MULTI_STREAM_SAMPLES, TestScenario};
use retrial_mlperf::power::ranging::{check_phase, check_power};
use retrial_mlperf::power::session::PowerSessions;
use retrial_mlperf::power::{PowerMeter, PowerSummary, parse_moment, ptd_log};
use retrial_mlperf::submission_layout::PERFORMANCE_FOLDER;
use retrial_readings::number::to_f64;
use retrial_store::{StoreError, blocks, open};

/// The file name of the meter's log.
const METER_LOG: &str = "spl.txt";
/// The run by which the meter's ranges were chosen.
const RANGING_FOLDER: &str = "ranging";
/// The longest log of the power daemon that is read; published ones have 4 MB.
const MAX_LOG_BYTES: u64 = 256 << 20;
/// The meter's log of the run that counts, as the power tool lists it.
const LISTED_METER_LOG: &str = "run_1/spl.txt";
/// The folders of such a result next to `performance/run_1`.
const POWER_FILES: [&str; 8] = [
    "performance/ranging/mlperf_log_detail.txt",
    "performance/ranging/mlperf_log_summary.txt",
    "performance/ranging/spl.txt",
    "performance/power/client.json",
    "performance/power/client.log",
    "performance/power/ptd_logs.txt",
    "performance/power/server.json",
    "performance/power/server.log",
];

/// The reason why a result with power has no figure of it.
#[derive(Debug, thiserror::Error)]
enum PowerFigureError {
    #[error("no detail log states when the run began")]
    NoDetailLog,
    #[error("the detail log does not state when the run began and ended")]
    NoSpan,
    #[error("the detail log does not state the number of queries")]
    NoQueries,
    #[error(transparent)]
    Open(#[from] StoreError),
    #[error("{METER_LOG}: {0}")]
    Read(#[from] std::io::Error),
    #[error("{METER_LOG} has {samples} samples, and none between {from} and {to}")]
    NoSamples { samples: u64, from: DateTime, to: DateTime },
}

/// Returns the figure of a place that has power; what is wrong with it where there is none.
pub(crate) fn measure_power(
    place: &ScenarioFolder,
    run: &LoadgenRun,
    missing: &mut Vec<MissingFile>,
) -> Option<Result<(String, FigureValue), RuleCheck>> {
    let root = &place.submitter.root;
    let folder = place.results_path().join(PERFORMANCE_FOLDER);
    let log = folder.join("run_1").join(METER_LOG);
    if !root.join(&log).exists() && !root.join(folder.join("power")).is_dir() {
        return None;
    }
    let files = POWER_FILES.iter().map(|name| place.results_path().join(name));
    missing.extend(files.filter(|file| !root.join(file).exists()).map(MissingFile));
    Some(compute_power_figure(place, run, root, &log).map_err(|error| {
        RuleCheck::violation(
            "power",
            error.to_string(),
            "samples of the meter between the run's power_begin and power_end",
        )
    }))
}

fn compute_power_figure(
    place: &ScenarioFolder,
    run: &LoadgenRun,
    root: &Path,
    log: &Path,
) -> Result<(String, FigureValue), PowerFigureError> {
    let detail_log = run.detail.as_ref();
    let detail = detail_log.ok_or(PowerFigureError::NoDetailLog)?;
    let (from, to) = run_span(detail).ok_or(PowerFigureError::NoSpan)?;
    let meter = read_meter(root, log, (from, to))?;
    let samples = meter.samples;
    let mean = meter.mean_w.ok_or(PowerFigureError::NoSamples { samples, from, to })?;
    let scenario = place.scenario();
    if !matches!(scenario, Some(TestScenario::SingleStream | TestScenario::MultiStream)) {
        return Ok(("average_power_w".to_owned(), FigureValue::new(mean, "W")));
    }
    let seconds = to.duration_since(from).as_secs_f64();
    let energy =
        energy_per_query_mj(mean * seconds, scenario, detail).ok_or(PowerFigureError::NoQueries)?;
    let name = "energy_per_query_mj".to_owned();
    Ok((name, FigureValue::new(energy, "mJ")))
}

/// Returns the start and the end of a run, by its log.
fn run_span(detail: &LoadgenDetail) -> Option<(DateTime, DateTime)> {
    let at = |text: &Option<String>| text.as_deref().and_then(parse_moment);
    at(&detail.power_begin).zip(at(&detail.power_end))
}

/// Returns the samples of a meter in a span of time.
fn read_meter(
    root: &Path,
    log: &Path,
    (from, to): (DateTime, DateTime),
) -> Result<PowerSummary, PowerFigureError> {
    let file = open::open_beneath(root, log)?;
    let mut meter = PowerMeter::for_interval(from, to);
    blocks::for_each_block(file, |block| meter.push(block))?;
    Ok(meter.finish())
}

/// Checks the session of which a result's power is: what its client and server recorded, the meter's
/// log, and the ranging run. A missing file is reported with the files.
pub(crate) fn check_session(place: &ScenarioFolder, run: &LoadgenRun) -> Vec<RuleCheck> {
    let root = &place.submitter.root;
    let folder = place.results_path().join(PERFORMANCE_FOLDER);
    let [client, server] = ["client.json", "server.json"]
        .map(|name| read_object(root, &folder.join("power").join(name)).ok());
    let (Some(client), Some(server)) = (client, server) else {
        return Vec::new();
    };
    let sessions = PowerSessions { client: &client, server: &server };
    let mut checks = sessions.check();
    let ranging = folder.join(RANGING_FOLDER);
    let ranged = folder::read_detail_log(root, &ranging).ok();
    let spans = [ranged.as_ref(), run.detail.as_ref()].map(|detail| detail.and_then(run_span));
    for (phase, span) in [RANGING_FOLDER, "testing"].into_iter().zip(spans) {
        checks.extend(span.and_then(|span| check_phase(&client, phase, span)));
    }
    let logs = [ranging, folder.join("run_1")].map(|run| run.join(METER_LOG));
    let [ranging, testing] =
        [0, 1].map(|run| spans[run].and_then(|span| read_meter(root, &logs[run], span).ok()));
    checks.extend(testing.and_then(|meter| meter.check_coverage()));
    if let (Some(ranging), Some(testing)) =
        (ranging.and_then(|meter| meter.mean_w), testing.and_then(|meter| meter.mean_w))
    {
        checks.push(check_power(ranging, testing));
    }
    let log = open::read_text_beneath(root, &folder.join("power/ptd_logs.txt"), MAX_LOG_BYTES);
    let name = server.get("session_name").and_then(Value::as_str);
    if let (Ok(log), Some(name)) = (log, name) {
        checks.extend(ptd_log::check_meter_log(&log, name));
    }
    checks
}

/// Checks the sums that the power tool wrote when it ended against the files that they are of. An
/// edited log of the meter has another.
pub(crate) fn check_checksums(place: &ScenarioFolder) -> Vec<RuleCheck> {
    let root = &place.submitter.root;
    let folder = place.results_path().join(PERFORMANCE_FOLDER);
    let mut checks = Vec::new();
    for (summary, file) in
        [("power/client.json", None), ("power/server.json", Some(LISTED_METER_LOG))]
    {
        // A missing summary is reported with the files.
        let Ok(object) = read_object(root, &folder.join(summary)) else {
            continue;
        };
        let listed_sums = object.get("results").and_then(Value::as_object);
        let sum_entries = listed_sums.into_iter().flatten();
        let sums: Vec<(&String, &str)> =
            sum_entries.filter_map(|(name, sum)| Some((name, sum.as_str()?))).collect();
        let required = format!("its SHA-1 in {summary}");
        if let Some(file) = file.filter(|file| sums.iter().all(|(name, _)| name != file)) {
            checks.push(RuleCheck::violation(file, "not listed", required.as_str()));
        }
        for (name, sum) in sums {
            let Ok(file) = open::open_beneath(root, &folder.join(name)) else {
                continue;
            };
            let actual = hash_sha1(file).unwrap_or_else(|error| error.to_string());
            let passed = actual.eq_ignore_ascii_case(sum);
            let measured = format!("SHA-1 {actual}");
            let required = format!("{sum}, as in {summary}");
            checks.push(RuleCheck::new(name, measured, required, passed));
        }
    }
    checks
}

fn hash_sha1(file: impl Read) -> std::io::Result<String> {
    let mut hash = Sha1::new();
    blocks::for_each_block(file, |block| hash.update(block))?;
    Ok(hex::encode(hash.finalize()))
}

/// Millijoules of a query. A SingleStream run may stand for MultiStream, whose query is eight.
fn energy_per_query_mj(
    joules: f64,
    scenario: Option<TestScenario>,
    detail: &LoadgenDetail,
) -> Option<f64> {
    let queries = detail.query_count.filter(|count| *count > 0)?;
    let inferred = scenario == Some(TestScenario::MultiStream)
        && detail.scenario == Some(TestScenario::SingleStream);
    let each = to_f64(if inferred { MULTI_STREAM_SAMPLES } else { 1 });
    Some(joules * 1000.0 * each / to_f64(queries))
}
