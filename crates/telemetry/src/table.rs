//! The rows of `telemetry.csv`. One row for each GPU and one for the container at every sample; a cell is empty
//! if unknown. A row truncated by a kill is ignored.

use itertools::join;
use jiff::Timestamp;
use strum::VariantNames;

use super::reading::{ContainerReading, GpuReading, ThrottleCause};

/// The columns of `telemetry.csv`, in order, by their names.
#[derive(Clone, Copy, VariantNames)]
#[strum(serialize_all = "snake_case")]
enum Column {
    Seconds,
    Time,
    PauseS,
    Step,
    Scenario,
    Mode,
    Trial,
    Device,
    Pci,
    UtilizationPercent,
    MemoryUtilizationPercent,
    PowerW,
    EnergyJ,
    CoreMhz,
    MemoryMhz,
    TemperatureC,
    VramBytes,
    Throttled,
    CpuS,
    MemoryBytes,
}

/// How many columns a row has.
const COLUMN_COUNT: usize = Column::VARIANTS.len();

/// Returns the first line of `telemetry.csv`, without its line break.
pub fn csv_header() -> String {
    join(Column::VARIANTS, ",")
}

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

#[derive(Debug, Clone, PartialEq)]
pub enum RowSource {
    Gpu {
        /// Its index among the host's.
        index: u32,
        /// Its PCI address: `0000:05:00.0`.
        pci: String,
        reading: GpuReading,
    },
    Container(ContainerReading),
}

impl TelemetryRow {
    fn to_cells(&self) -> [String; COLUMN_COUNT] {
        let mut cells: [String; COLUMN_COUNT] = Default::default();
        let mut set = |column: Column, text: String| cells[column as usize] = text;
        let measured = &self.measured;
        set(Column::Seconds, format!("{:.3}", self.seconds));
        set(Column::Time, format!("{:.3}", self.time));
        set(Column::PauseS, self.pause_s.to_string());
        set(Column::Step, measured.step.to_string());
        set(Column::Scenario, measured.scenario.clone());
        set(Column::Mode, measured.mode.clone());
        set(Column::Trial, measured.trial.to_string());
        match &self.origin {
            RowSource::Gpu { index, pci, reading } => {
                set(Column::Device, index.to_string());
                set(Column::Pci, pci.clone());
                for (column, number, digits) in [
                    (Column::UtilizationPercent, reading.utilization, 1),
                    (Column::MemoryUtilizationPercent, reading.memory_utilization, 1),
                    (Column::PowerW, reading.power_w, 1),
                    (Column::EnergyJ, reading.energy_j, 3),
                    (Column::CoreMhz, reading.core_mhz, 0),
                    (Column::MemoryMhz, reading.memory_mhz, 0),
                    (Column::TemperatureC, reading.temperature_c, 0),
                ] {
                    let text = number.map(|number| format_decimal(number, digits));
                    set(column, text.unwrap_or_default());
                }
                set(Column::VramBytes, format_whole(reading.vram));
                let causes = reading.throttled.as_deref().map(format_causes);
                set(Column::Throttled, causes.unwrap_or_default());
            }
            RowSource::Container(reading) => {
                set(Column::Device, CONTAINER_DEVICE.to_owned());
                let seconds = reading.cpu_s.map(|seconds| format!("{seconds:.3}"));
                set(Column::CpuS, seconds.unwrap_or_default());
                set(Column::MemoryBytes, format_whole(reading.memory));
            }
        }
        cells
    }
}

/// Formats rows as lines of CSV, with quotes where a cell needs them: a scenario's name is the recipe's own.
pub fn format_rows(rows: impl IntoIterator<Item = TelemetryRow>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        // Writing to memory cannot fail, and the cells are text.
        let _ = writer.write_record(row.to_cells());
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

fn format_whole(number: Option<u64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
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

/// The rows of a file; invalid lines are skipped.
pub fn parse_rows(text: &str) -> Vec<TelemetryRow> {
    // The last line counts only with its newline: a kill may have truncated it inside a number.
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(whole.as_bytes());
    let records = reader.records().filter_map(Result::ok);
    records.filter_map(|record| parse_row(&record)).collect()
}

fn parse_row(record: &csv::StringRecord) -> Option<TelemetryRow> {
    if record.len() != COLUMN_COUNT {
        return None;
    }
    let cell = |column: Column| record.get(column as usize);
    let number = |column: Column| {
        let number: f64 = cell(column)?.parse().ok()?;
        number.is_finite().then_some(number)
    };
    let whole = |column: Column| cell(column)?.parse::<u64>().ok();
    let text = |column: Column| cell(column).unwrap_or_default().to_owned();
    let source = match cell(Column::Device)? {
        CONTAINER_DEVICE => RowSource::Container(ContainerReading {
            cpu_s: number(Column::CpuS),
            memory: whole(Column::MemoryBytes),
        }),
        index => RowSource::Gpu {
            index: index.parse().ok()?,
            pci: text(Column::Pci),
            reading: GpuReading {
                utilization: number(Column::UtilizationPercent),
                memory_utilization: number(Column::MemoryUtilizationPercent),
                power_w: number(Column::PowerW),
                energy_j: number(Column::EnergyJ),
                core_mhz: number(Column::CoreMhz),
                memory_mhz: number(Column::MemoryMhz),
                temperature_c: number(Column::TemperatureC),
                vram: whole(Column::VramBytes),
                throttled: parse_causes(cell(Column::Throttled)?),
            },
        },
    };
    Some(TelemetryRow {
        seconds: number(Column::Seconds)?,
        time: cell(Column::Time)?.parse().ok()?,
        pause_s: number(Column::PauseS)?,
        measured: MeasuredTrial {
            step: cell(Column::Step)?.parse().ok()?,
            scenario: text(Column::Scenario),
            mode: text(Column::Mode),
            trial: cell(Column::Trial)?.parse().ok()?,
        },
        origin: source,
    })
}

fn parse_causes(cell: &str) -> Option<Vec<ThrottleCause>> {
    match cell {
        "" => None,
        "no" => Some(Vec::new()),
        words => words.split('+').map(|word| word.parse().ok()).collect(),
    }
}
