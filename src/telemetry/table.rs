//! The rows of `telemetry.csv`. One row for each GPU and one for the container at every sample; a
//! cell is empty where nothing is known. A row that a kill cut off is no row.

use jiff::Timestamp;

use super::reading::{Cause, ContainerReading, GpuReading};

/// The columns.
pub const HEADER: &str = "seconds,time,pause_s,step,scenario,mode,trial,device,pci,utilization_percent,\
memory_utilization_percent,power_w,energy_j,core_mhz,memory_mhz,temperature_c,vram_bytes,throttled,\
cpu_s,memory_bytes";

/// What a row of the container says in the place of a GPU's index.
const CONTAINER: &str = "container";

/// What a step measures, as the rows name it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measured {
    /// The step's number.
    pub step: u32,
    /// Scenarios that it serves, joined by `+`.
    pub scenario: String,
    /// Modes, likewise.
    pub mode: String,
    /// The trial.
    pub trial: u32,
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Since the run began, seconds.
    pub seconds: f64,
    /// When.
    pub time: Timestamp,
    /// How long after this sample the next one was meant to be, seconds.
    pub pause_s: f64,
    /// What was measured.
    pub measured: Measured,
    /// Of what, and what was seen.
    pub of: Of,
}

/// What a row is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Of {
    /// A GPU.
    Gpu {
        /// Its index among the host's.
        index: u32,
        /// Its PCI address.
        pci: String,
        /// What was seen.
        reading: GpuReading,
    },
    /// The container.
    Container(ContainerReading),
}

impl Row {
    /// Its line, with the end of line.
    pub fn line(&self) -> String {
        let Self { measured, .. } = self;
        let container = ContainerReading::default();
        let nothing = GpuReading::default();
        let (device, pci, gpu, container) = match &self.of {
            Of::Gpu {
                index,
                pci,
                reading,
            } => (index.to_string(), pci.as_str(), reading, &container),
            Of::Container(reading) => (CONTAINER.to_owned(), "", &nothing, reading),
        };
        let decimal = |number: Option<f64>, digits| number.map(|number| short(number, digits));
        let whole = |number: Option<u64>| number.map(|number| number.to_string());
        let known = [
            format!("{:.3}", self.seconds),
            format!("{:.3}", self.time),
            self.pause_s.to_string(),
            measured.step.to_string(),
            quoted(&measured.scenario),
            quoted(&measured.mode),
            measured.trial.to_string(),
            device,
            quoted(pci),
        ];
        let seen = [
            decimal(gpu.utilization, 1),
            decimal(gpu.memory_utilization, 1),
            decimal(gpu.power_w, 1),
            decimal(gpu.energy_j, 3),
            decimal(gpu.core_mhz, 0),
            decimal(gpu.memory_mhz, 0),
            decimal(gpu.temperature_c, 0),
            whole(gpu.vram),
            gpu.throttled.as_deref().map(causes),
            container.cpu_s.map(|seconds| format!("{seconds:.3}")),
            whole(container.memory),
        ];
        let cells = known.into_iter().chain(seen.map(Option::unwrap_or_default));
        cells.collect::<Vec<_>>().join(",") + "\n"
    }
}

/// At most so many decimals, without zeros at the end.
fn short(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

fn causes(causes: &[Cause]) -> String {
    if causes.is_empty() {
        return "no".to_owned();
    }
    let words: Vec<&str> = causes.iter().map(|cause| cause.word()).collect();
    words.join("+")
}

/// A scenario's name is the recipe's own.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// The rows of a file; what is none is left out.
pub fn read(text: &str) -> Vec<Row> {
    // The last line counts only with its end: a kill may have cut it off in a number.
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(whole.as_bytes());
    let records = reader.records().filter_map(Result::ok);
    records.filter_map(|record| row(&record)).collect()
}

fn row(record: &csv::StringRecord) -> Option<Row> {
    if record.len() != HEADER.split(',').count() {
        return None;
    }
    let number = |at: usize| {
        let number: f64 = record.get(at)?.parse().ok()?;
        number.is_finite().then_some(number)
    };
    let whole = |at: usize| record.get(at)?.parse::<u64>().ok();
    let text = |at: usize| record.get(at).unwrap_or_default().to_owned();
    let of = match record.get(7)? {
        CONTAINER => Of::Container(ContainerReading {
            cpu_s: number(18),
            memory: whole(19),
        }),
        index => Of::Gpu {
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
                throttled: read_causes(record.get(17)?),
            },
        },
    };
    Some(Row {
        seconds: number(0)?,
        time: record.get(1)?.parse().ok()?,
        pause_s: number(2)?,
        measured: Measured {
            step: record.get(3)?.parse().ok()?,
            scenario: text(4),
            mode: text(5),
            trial: record.get(6)?.parse().ok()?,
        },
        of,
    })
}

fn read_causes(cell: &str) -> Option<Vec<Cause>> {
    match cell {
        "" => None,
        "no" => Some(Vec::new()),
        words => words.split('+').map(Cause::from_word).collect(),
    }
}
