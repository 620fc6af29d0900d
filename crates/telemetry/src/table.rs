//! The rows of `telemetry.csv`. One row for each GPU and one for the container at every sample; a cell is empty
//! if unknown. A row truncated by a kill is ignored.

use itertools::join;
use jiff::Timestamp;

use super::reading::{ContainerReading, GpuReading, ThrottleCause};

/// The first line of `telemetry.csv`: its columns, in order.
pub const CSV_HEADER: &str = "seconds,time,pause_s,step,scenario,mode,trial,device,pci,utilization_percent,\
memory_utilization_percent,power_w,energy_j,core_mhz,memory_mhz,temperature_c,vram_bytes,throttled,\
cpu_s,memory_bytes";

/// The container's value in the column of the GPU's index.
const CONTAINER_DEVICE: &str = "container";

/// The measurement of a step, as the rows name it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeasuredTrial {
    /// The number of the measuring step in the plan.
    pub step: u32,
    /// Scenarios that it serves, joined by `+`.
    pub scenario: String,
    /// Modes of these scenarios (`performance`, `accuracy`), joined by `+`.
    pub mode: String,
    /// The number of the trial, from 1.
    pub trial: u32,
}

/// One row of `telemetry.csv`: a sample of one GPU or of the container.
#[derive(Debug, Clone, PartialEq)]
pub struct TelemetryRow {
    /// Since the run began, seconds.
    pub seconds: f64,
    /// When the sample was taken, on the wall clock.
    pub time: Timestamp,
    /// The planned time until the next sample, seconds.
    pub pause_s: f64,
    /// The measurement during which it was taken.
    pub measured: MeasuredTrial,
    /// The source, with its reading.
    pub origin: RowSource,
}

/// The source of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum RowSource {
    /// A sample of a GPU.
    Gpu {
        /// Its index among the host's.
        index: u32,
        /// Its PCI address: `0000:05:00.0`.
        pci: String,
        /// Its sensors' values.
        reading: GpuReading,
    },
    /// A sample of the container.
    Container(ContainerReading),
}

impl TelemetryRow {
    /// Formats the row as a line of CSV, with its line break.
    pub fn to_csv_line(&self) -> String {
        let Self { measured, .. } = self;
        let container = ContainerReading::default();
        let nothing = GpuReading::default();
        let (device, pci, gpu, container) = match &self.origin {
            RowSource::Gpu {
                index,
                pci,
                reading,
            } => (index.to_string(), pci.as_str(), reading, &container),
            RowSource::Container(reading) => (CONTAINER_DEVICE.to_owned(), "", &nothing, reading),
        };
        let decimal =
            |number: Option<f64>, digits| number.map(|number| format_decimal(number, digits));
        let whole = |number: Option<u64>| number.map(|number| number.to_string());
        let labels = [
            format!("{:.3}", self.seconds),
            format!("{:.3}", self.time),
            self.pause_s.to_string(),
            measured.step.to_string(),
            quote_csv_cell(&measured.scenario),
            quote_csv_cell(&measured.mode),
            measured.trial.to_string(),
            device,
            quote_csv_cell(pci),
        ];
        let cells = [
            decimal(gpu.utilization, 1),
            decimal(gpu.memory_utilization, 1),
            decimal(gpu.power_w, 1),
            decimal(gpu.energy_j, 3),
            decimal(gpu.core_mhz, 0),
            decimal(gpu.memory_mhz, 0),
            decimal(gpu.temperature_c, 0),
            whole(gpu.vram),
            gpu.throttled.as_deref().map(format_causes),
            container.cpu_s.map(|seconds| format!("{seconds:.3}")),
            whole(container.memory),
        ];
        let values = cells.map(Option::unwrap_or_default);
        join(labels.iter().chain(&values), ",") + "\n"
    }
}

/// Formats a number with at most so many decimals, without zeros at the end.
fn format_decimal(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn format_causes(causes: &[ThrottleCause]) -> String {
    if causes.is_empty() {
        return "no".to_owned();
    }
    join(causes, "+")
}

/// A scenario's name is the recipe's own.
fn quote_csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// The rows of a file; invalid lines are skipped.
pub fn parse_rows(text: &str) -> Vec<TelemetryRow> {
    // The last line counts only with its newline: a kill may have truncated it inside a number.
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(whole.as_bytes());
    let records = reader.records().filter_map(Result::ok);
    records.filter_map(|record| parse_row(&record)).collect()
}

fn parse_row(record: &csv::StringRecord) -> Option<TelemetryRow> {
    if record.len() != CSV_HEADER.split(',').count() {
        return None;
    }
    let number = |at: usize| {
        let number: f64 = record.get(at)?.parse().ok()?;
        number.is_finite().then_some(number)
    };
    let whole = |at: usize| record.get(at)?.parse::<u64>().ok();
    let text = |at: usize| record.get(at).unwrap_or_default().to_owned();
    let source = match record.get(7)? {
        CONTAINER_DEVICE => RowSource::Container(ContainerReading {
            cpu_s: number(18),
            memory: whole(19),
        }),
        index => RowSource::Gpu {
            index: index.parse().ok()?,
            pci: text(8),
            reading: GpuReading {
                utilization: number(9),
                memory_utilization: number(10),
                power_w: number(11),
                energy_j: number(12),
                core_mhz: number(13),
                memory_mhz: number(14),
                temperature_c: number(15),
                vram: whole(16),
                throttled: parse_causes(record.get(17)?),
            },
        },
    };
    Some(TelemetryRow {
        seconds: number(0)?,
        time: record.get(1)?.parse().ok()?,
        pause_s: number(2)?,
        measured: MeasuredTrial {
            step: record.get(3)?.parse().ok()?,
            scenario: text(4),
            mode: text(5),
            trial: record.get(6)?.parse().ok()?,
        },
        origin: source,
    })
}

fn parse_causes(cell: &str) -> Option<Vec<ThrottleCause>> {
    match cell {
        "" => None,
        "no" => Some(Vec::new()),
        words => words.split('+').map(ThrottleCause::from_word).collect(),
    }
}
