//! Charts of `telemetry.csv`: GPUs and container during the measurements.

use std::collections::BTreeMap;

use super::{Chart, ChartKind, LineChart, LineSeries, to_f64, value_range};
use retrial_document::measures::format::format_duration;
use retrial_results::verdict::number::format_figure;
use retrial_telemetry::{ContainerReading, GpuReading, RowSource, TelemetryRow};

/// The most points of a line: a drawing has no room for more.
const MAX_POINTS: usize = 200;
/// More GPUs are one line of their mean, with the range around it.
const MAX_GPU_LINES: usize = 3;
/// A sample that is this many intervals and seconds late leaves a gap.
const MAX_LATE_INTERVALS: f64 = 3.0;

/// A reading of a GPU: title, unit, whether its axis starts at zero, and the value.
type SensorSeries = (&'static str, &'static str, bool, fn(&GpuReading) -> Option<f64>);

const SENSORS: [SensorSeries; 5] = [
    ("Power of each GPU", "W", true, |gpu| gpu.power_w),
    ("Utilization of each GPU", "%", true, |gpu| gpu.utilization),
    ("Core clock of each GPU", "MHz", true, |gpu| gpu.core_mhz),
    ("Temperature of each GPU", "°C", false, |gpu| gpu.temperature_c),
    ("Memory in use on each GPU", BYTES_UNIT, true, |gpu| gpu.vram.map(bytes_to_f64)),
];

/// Shown in the binary unit that fits the largest sample.
const BYTES_UNIT: &str = "B";

#[expect(clippy::cast_precision_loss, reason = "bytes, shown with three digits")]
fn bytes_to_f64(bytes: u64) -> f64 {
    bytes as f64
}

/// The unit in which an axis up to so many bytes has even numbers, and its size.
fn fitting_binary_unit(most: f64) -> (&'static str, f64) {
    const UNITS: [(&str, f64); 4] =
        [("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1024.0), (BYTES_UNIT, 1.0)];
    let fits = UNITS.into_iter().find(|(_, size)| most >= *size);
    fits.unwrap_or(UNITS[3])
}

/// A sample: its time, the time until the next one was due, its step, and the value.
type ChartSample = (f64, f64, u32, f64);

/// The charts of a run's telemetry; none without samples.
pub fn telemetry_charts(rows: &[TelemetryRow]) -> Vec<Chart> {
    let mut gpus: BTreeMap<u32, Vec<(&TelemetryRow, &GpuReading)>> = BTreeMap::new();
    let mut container: Vec<(&TelemetryRow, &ContainerReading)> = Vec::new();
    for row in rows {
        match &row.origin {
            RowSource::Gpu { index, reading, .. } => {
                gpus.entry(*index).or_default().push((row, reading));
            }
            RowSource::Container(reading) => container.push((row, reading)),
        }
    }
    let stretches = step_stretches(rows);
    let mut charts = Vec::new();
    let mut add = |title, unit, from_zero, series: Vec<(String, Vec<ChartSample>)>| {
        charts.extend(sensor_chart(title, unit, from_zero, series, &stretches));
    };
    for (title, unit, from_zero, read) in SENSORS {
        let all = gpus.iter().map(|(index, samples)| {
            let gpu_rows = samples.iter();
            let samples = gpu_rows.filter_map(|(row, gpu)| Some(to_sample(row, read(gpu)?)));
            (format!("GPU {index}"), samples.collect::<Vec<_>>())
        });
        let drawable = all.filter(|(_, samples)| samples.len() > 1);
        add(title, unit, from_zero, drawable.collect());
    }
    let container_series = |samples| vec![("container".to_owned(), samples)];
    add("CPUs in use", "CPUs", true, container_series(busy_cpus(&container)));
    let container_rows = container.iter();
    let memory_samples = container_rows
        .filter_map(|(row, reading)| Some(to_sample(row, bytes_to_f64(reading.memory?))));
    let memory = container_series(memory_samples.collect());
    add("Memory of the container", BYTES_UNIT, true, memory);
    charts
}

fn to_sample(row: &TelemetryRow, value: f64) -> ChartSample {
    (row.seconds, row.pause_s, row.measured.step, value)
}

/// CPUs busy between two samples in the same step.
fn busy_cpus(container: &[(&TelemetryRow, &ContainerReading)]) -> Vec<ChartSample> {
    let pairs = container.windows(2).filter_map(|pair| {
        let ((before, first), (row, then)) = (pair[0], pair[1]);
        let seconds = row.seconds - before.seconds;
        let used = then.cpu_s? - first.cpu_s?;
        let same = before.measured.step == row.measured.step;
        (same && seconds > 0.0 && used >= 0.0).then(|| to_sample(row, used / seconds))
    });
    pairs.collect()
}

/// Returns the time of each step, from its first to its last sample.
fn step_stretches(rows: &[TelemetryRow]) -> Vec<(f64, f64)> {
    let same =
        |left: &TelemetryRow, right: &TelemetryRow| left.measured.step == right.measured.step;
    let steps = rows.chunk_by(same);
    let ends = steps.filter_map(|rows| Some((rows.first()?.seconds, rows.last()?.seconds)));
    ends.take(MAX_POINTS).collect()
}

fn sensor_chart(
    title: &str,
    unit: &str,
    from_zero: bool,
    mut all: Vec<(String, Vec<ChartSample>)>,
    stretches: &[(f64, f64)],
) -> Option<Chart> {
    if all.iter().all(|(_, samples)| samples.len() < 2) {
        return None;
    }
    let values = all.iter().flat_map(|(_, samples)| samples);
    let (least, most) = value_range(values.map(|sample| sample.3));
    let (unit, size) = if unit == BYTES_UNIT { fitting_binary_unit(most) } else { (unit, 1.0) };
    for sample in all.iter_mut().flat_map(|(_, samples)| samples) {
        sample.3 /= size;
    }
    let series = if all.len() > MAX_GPU_LINES {
        let name = format!("mean of {} GPUs, lowest to highest", all.len());
        let samples = all.into_iter().flat_map(|(_, samples)| samples);
        let line = bucketed_line(samples.collect());
        vec![LineSeries { name, ..line }]
    } else {
        let series = all.into_iter().map(|(name, samples)| LineSeries {
            name,
            band: Vec::new(),
            ..bucketed_line(samples)
        });
        series.collect()
    };
    let ends = stretches.first().zip(stretches.last());
    let description = format!(
        "from {} to {} over {}",
        format_figure(round_to_hundredths(least / size), unit),
        format_figure(round_to_hundredths(most / size), unit),
        format_duration(ends.map_or(0.0, |(first, last)| last.1 - first.0)),
    );
    // A single one is the whole axis.
    let marked = Some(stretches).filter(|all| all.len() > 1);
    let lines = LineChart {
        axis_name: "seconds since the run started".to_owned(),
        unit: unit.to_owned(),
        from_zero,
        series,
        stretches: marked.unwrap_or_default().to_vec(),
        ..LineChart::default()
    };
    Some(Chart::new("", title, &description, ChartKind::Lines(lines)))
}

fn round_to_hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// A line through the samples, in at most [`MAX_POINTS`] points: means, with the lowest and the highest
/// value around them. It is broken where samples are missing.
fn bucketed_line(mut samples: Vec<ChartSample>) -> LineSeries {
    samples.sort_by(|left, right| left.0.total_cmp(&right.0));
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
        return LineSeries::default();
    };
    let width = ((last.0 - first.0) / to_f64(MAX_POINTS)).max(f64::MIN_POSITIVE);
    let begin = first.0;
    let mut series = LineSeries::default();
    let same = |left: &ChartSample, right: &ChartSample| {
        let bucket = |sample: &ChartSample| ((sample.0 - begin) / width).floor();
        left.2 == right.2 && (bucket(left) - bucket(right)).abs() < 0.5
    };
    let mut before: Option<ChartSample> = None;
    for together in samples.chunk_by(same) {
        let Some(last) = together.last() else {
            continue;
        };
        if let Some((time, pause, step, _)) = before
            && (step != last.2
                || together[0].0 - time > MAX_LATE_INTERVALS * pause + MAX_LATE_INTERVALS)
        {
            series.points.push((time, None));
            series.band.push((0.0, 0.0));
        }
        let count = to_f64(together.len());
        let mean = |value: fn(&ChartSample) -> f64| together.iter().map(value).sum::<f64>() / count;
        let point = (mean(|sample| sample.0), Some(mean(|sample| sample.3)));
        series.points.push(point);
        let values = together.iter().map(|sample| sample.3);
        series.band.push(value_range(values));
        before = Some(*last);
    }
    series
}
