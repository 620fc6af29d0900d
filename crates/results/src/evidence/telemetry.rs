//! The telemetry of a run's steps, from each machine's `telemetry.csv`.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use retrial_plan::step::{Plan, Step};
use retrial_store::RunDirectory;
use retrial_store::clock::{MIN_CLOCK_STEP, Moment};
use retrial_store::open::read_text_beneath;
use retrial_telemetry::rate::MAX_FILE_BYTES;
use retrial_telemetry::{MachineSummary, TelemetryRow, TelemetrySummary, table};

/// The file's name in the directory of a run, and of each of its other machines.
pub const TELEMETRY_FILE: &str = "telemetry.csv";

/// The telemetry of a run, by machine; none by default.
#[derive(Debug, Default)]
pub struct RunTelemetry {
    head: Vec<TelemetryRow>,
    others: Vec<PeerTelemetry>,
}

/// Another machine of a run.
#[derive(Debug)]
struct PeerTelemetry {
    name: String,
    has_gpus: bool,
    rows: Vec<TelemetryRow>,
}

pub type TimeSpan = (Timestamp, Timestamp);

#[derive(Debug, Clone)]
pub struct StepSpan {
    /// The start of its run; none if that is not known.
    pub run: Option<Moment>,
    pub started: Moment,
    pub ended: Moment,
}

impl StepSpan {
    /// Returns the times that programs of the step may have read.
    pub fn wall_span(&self) -> TimeSpan {
        self.started.wall_clock_span(&self.ended)
    }

    /// Returns the step on the clock as it was set when it started.
    fn steady_span(&self) -> TimeSpan {
        (self.started.time, self.ended.to_clock_of(&self.started))
    }

    /// Returns the rows on that clock: they count the seconds since the run started.
    fn rows_on_step_clock(&self, rows: &[TelemetryRow]) -> Vec<TelemetryRow> {
        let before = self.run.as_ref().map(|run| run.duration_until(&self.started));
        let shift = |row: &TelemetryRow| {
            let since = SignedDuration::try_from_secs_f64(row.seconds - before?.as_secs_f64());
            let time = self.started.time.checked_add(since.ok()?).ok()?;
            let is_step = time.duration_since(row.time).abs() >= MIN_CLOCK_STEP;
            is_step.then_some(time)
        };
        let shifted_rows = rows
            .iter()
            .map(|row| TelemetryRow { time: shift(row).unwrap_or(row.time), ..row.clone() });
        shifted_rows.collect()
    }
}

/// What was recorded of one step of a run.
pub(crate) struct StepTelemetry<'a> {
    pub recorded: &'a RunTelemetry,
    pub plan: &'a Plan,
    pub step: &'a Step,
    pub span: StepSpan,
}

impl StepTelemetry<'_> {
    /// Summarizes the step, or a window within it.
    pub fn summarize(&self, window: Option<TimeSpan>) -> Option<TelemetrySummary> {
        self.recorded.summarize_step(self.plan, self.step, &self.span, window)
    }
}

impl RunTelemetry {
    /// Reads what was recorded of a run.
    pub fn from_run(run: &RunDirectory) -> Self {
        let others = run.list_other_machines().into_iter().map(|name| {
            let directory = run.machine_directory(&name);
            let plan: Value = directory.read_json("plan.json").unwrap_or_default();
            let gpus = plan.pointer("/assigned_gpus/gpus").and_then(Value::as_array);
            PeerTelemetry {
                has_gpus: gpus.is_some_and(|gpus| !gpus.is_empty()),
                rows: read_rows(&directory),
                name,
            }
        });
        Self { others: others.collect(), head: read_rows(run) }
    }

    /// Summarizes a step, from its beginning to its end; a step that was executed again keeps nothing
    /// of the first time. Within a window, where the benchmark says when it measured: samples before
    /// and after it are excluded, but not for whether the GPUs worked.
    pub fn summarize_step(
        &self,
        plan: &Plan,
        step: &Step,
        span: &StepSpan,
        window: Option<TimeSpan>,
    ) -> Option<TelemetrySummary> {
        let here = span.rows_on_step_clock(&rows_of_step(&self.head, step));
        let here = |required| summarize_machine(&here, span.steady_span(), window, required);
        let gpus = plan.requires.gpus.as_ref();
        let required = gpus.map_or(0, |gpus| gpus.count as usize);
        let needed = |takes_part: bool| if takes_part { required } else { 0 };
        if self.others.is_empty() {
            return here(required);
        }
        let steps = || plan.steps.iter().filter(|other| belongs_to_step(other, step));
        let head = needed(steps().any(Step::runs_on_head));
        let elsewhere = needed(steps().any(Step::runs_on_others));
        let assigned = plan.assigned_gpus.as_ref();
        let head = MachineSummary {
            name: "the first machine".to_owned(),
            has_gpus: assigned.is_some_and(|assigned| !assigned.gpus.is_empty()),
            summary: here(head),
        };
        let others = self.others.iter().map(|other| MachineSummary {
            name: other.name.clone(),
            has_gpus: other.has_gpus,
            summary: summarize_machine(
                &rows_of_step(&other.rows, step),
                span.wall_span(),
                window,
                elsewhere,
            ),
        });
        TelemetrySummary::combine_machines(std::iter::once(head).chain(others).collect())
    }
}

/// Returns the rows that were recorded on one machine; none where nothing was watched.
pub fn read_rows(machine: &RunDirectory) -> Vec<TelemetryRow> {
    // The header and the last look may reach beyond the limit.
    let text =
        read_text_beneath(machine.path(), Path::new(TELEMETRY_FILE), MAX_FILE_BYTES + (1 << 20));
    text.map(|text| table::parse_rows(&text)).unwrap_or_default()
}

/// Returns whether it is the step, or starts a service that the step needs.
fn belongs_to_step(other: &Step, step: &Step) -> bool {
    let needs = step.recipe_command().map(|command| &command.needs);
    other.number == step.number || needs.is_some_and(|needs| needs.contains(&other.number))
}

fn rows_of_step(rows: &[TelemetryRow], step: &Step) -> Vec<TelemetryRow> {
    let step_rows = rows.iter().filter(|row| row.measured.step == step.number);
    step_rows.cloned().collect()
}

fn summarize_machine(
    rows: &[TelemetryRow],
    span: TimeSpan,
    window: Option<TimeSpan>,
    required: usize,
) -> Option<TelemetrySummary> {
    let whole = TelemetrySummary::from_rows(rows, span, span.0, required)?;
    let within = window
        .and_then(|window| TelemetrySummary::from_rows(rows, window, span.0, required))
        .filter(|within| within.samples > 1);
    Some(match within {
        Some(within) => TelemetrySummary {
            idle: within.idle.or(whole.idle),
            within_measurement: true,
            ..within
        },
        None => whole,
    })
}
