//! Charts of `telemetry.csv`: what GPUs and container did while something was measured.

use std::collections::BTreeMap;

use super::{Chart, Kind, Lines, Series, file_name};
use crate::telemetry::{ContainerReading, GpuReading, Of, Row};

/// Points of a line: more than a drawing has dots says nothing more.
const POINTS: usize = 200;
/// More GPUs are a mean with what lies around it.
const FEW: usize = 3;
/// A pause of this share more than was meant is a gap, and so many seconds.
const LATE: f64 = 3.0;

/// What of a GPU.
struct Sensor {
    title: &'static str,
    unit: &'static str,
    from_zero: bool,
    read: fn(&GpuReading) -> Option<f64>,
}

#[expect(clippy::cast_precision_loss, reason = "bytes, shown with three digits")]
fn gibibytes(bytes: u64) -> f64 {
    bytes as f64 / (1_u64 << 30) as f64
}

const SENSORS: [Sensor; 5] = [
    Sensor {
        title: "Power of each GPU",
        unit: "W",
        from_zero: true,
        read: |gpu| gpu.power_w,
    },
    Sensor {
        title: "Utilization of each GPU",
        unit: "%",
        from_zero: true,
        read: |gpu| gpu.utilization,
    },
    Sensor {
        title: "Clock of each GPU's cores",
        unit: "MHz",
        from_zero: true,
        read: |gpu| gpu.core_mhz,
    },
    Sensor {
        title: "Temperature of each GPU",
        unit: "°C",
        from_zero: false,
        read: |gpu| gpu.temperature_c,
    },
    Sensor {
        title: "Memory in use on each GPU",
        unit: "GiB",
        from_zero: true,
        read: |gpu| gpu.vram.map(gibibytes),
    },
];

/// A sample: when, how long until the next was meant to be, in which step, and what was seen.
type Sample = (f64, f64, u32, f64);

/// The charts of a run's rows; none where nobody sampled.
#[must_use]
pub fn of_telemetry(rows: &[Row]) -> Vec<Chart> {
    let mut gpus: BTreeMap<u32, Vec<(&Row, &GpuReading)>> = BTreeMap::new();
    let mut container: Vec<(&Row, &ContainerReading)> = Vec::new();
    for row in rows {
        match &row.of {
            Of::Gpu { index, reading, .. } => gpus.entry(*index).or_default().push((row, reading)),
            Of::Container(reading) => container.push((row, reading)),
        }
    }
    let stretches = stretches(rows);
    let mut charts = Vec::new();
    for sensor in &SENSORS {
        let all: Vec<(String, Vec<Sample>)> = gpus
            .iter()
            .map(|(index, samples)| {
                let seen = samples
                    .iter()
                    .filter_map(|(row, reading)| Some(sample(row, (sensor.read)(reading)?)));
                (format!("GPU {index}"), seen.collect())
            })
            .filter(|(_, samples): &(String, Vec<Sample>)| samples.len() > 1)
            .collect();
        charts.extend(chart(
            sensor.title,
            sensor.unit,
            sensor.from_zero,
            &all,
            &stretches,
        ));
    }
    let busy = vec![("container".to_owned(), busy(&container))];
    charts.extend(chart(
        "CPUs that the container kept busy",
        "CPUs",
        true,
        &busy,
        &stretches,
    ));
    let memory = container
        .iter()
        .filter_map(|(row, reading)| Some(sample(row, gibibytes(reading.memory?))));
    let memory = vec![("container".to_owned(), memory.collect())];
    charts.extend(chart(
        "Memory of the container",
        "GiB",
        true,
        &memory,
        &stretches,
    ));
    charts
}

fn sample(row: &Row, value: f64) -> Sample {
    (row.seconds, row.pause_s, row.measured.step, value)
}

/// CPUs busy between two samples in the same step.
fn busy(container: &[(&Row, &ContainerReading)]) -> Vec<Sample> {
    let pairs = container.windows(2).filter_map(|pair| {
        let ((before, first), (row, then)) = (pair[0], pair[1]);
        let seconds = row.seconds - before.seconds;
        let used = then.cpu_s? - first.cpu_s?;
        let same = before.measured.step == row.measured.step;
        (same && seconds > 0.0 && used >= 0.0).then(|| sample(row, used / seconds))
    });
    pairs.collect()
}

/// From the first to the last sample of each step.
fn stretches(rows: &[Row]) -> Vec<(f64, f64)> {
    let same = |one: &Row, other: &Row| one.measured.step == other.measured.step;
    let steps = rows.chunk_by(same);
    let ends = steps.filter_map(|rows| Some((rows.first()?.seconds, rows.last()?.seconds)));
    ends.take(POINTS).collect()
}

fn chart(
    title: &str,
    unit: &str,
    from_zero: bool,
    all: &[(String, Vec<Sample>)],
    stretches: &[(f64, f64)],
) -> Option<Chart> {
    let samples = || all.iter().flat_map(|(_, samples)| samples);
    if all.iter().all(|(_, samples)| samples.len() < 2) {
        return None;
    }
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for (_, _, _, value) in samples() {
        least = least.min(*value);
        most = most.max(*value);
    }
    let series = if all.len() > FEW {
        vec![Series {
            name: format!("mean of {} GPUs, from lowest to highest", all.len()),
            ..line(
                all.iter()
                    .flat_map(|(_, samples)| samples.iter().copied())
                    .collect(),
            )
        }]
    } else {
        all.iter()
            .map(|(name, samples)| Series {
                name: name.clone(),
                band: Vec::new(),
                ..line(samples.clone())
            })
            .collect()
    };
    Some(Chart {
        title: title.to_owned(),
        name: file_name(title),
        description: format!(
            "from {} to {} over {:.0} seconds",
            crate::results::verdict::number::figure(rounded(least), unit),
            crate::results::verdict::number::figure(rounded(most), unit),
            stretches.last().map_or(0.0, |last| last.1)
                - stretches.first().map_or(0.0, |first| first.0),
        ),
        kind: Kind::Lines(Lines {
            over: "seconds since the run started".to_owned(),
            unit: unit.to_owned(),
            from_zero,
            series,
            // One alone is the whole axis.
            stretches: if stretches.len() > 1 {
                stretches.to_vec()
            } else {
                Vec::new()
            },
            ..Lines::default()
        }),
    })
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// One line through the samples, in as many points as can be seen: the mean of each, and around it the
/// lowest and the highest. Where nobody sampled the line is broken.
fn line(mut samples: Vec<Sample>) -> Series {
    samples.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
        return Series::default();
    };
    #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
    let width = ((last.0 - first.0) / POINTS as f64).max(f64::MIN_POSITIVE);
    let begin = first.0;
    let mut series = Series::default();
    let same = |one: &Sample, other: &Sample| {
        let bucket = |sample: &Sample| ((sample.0 - begin) / width).floor();
        one.2 == other.2 && (bucket(one) - bucket(other)).abs() < 0.5
    };
    let mut before: Option<Sample> = None;
    for together in samples.chunk_by(same) {
        let Some(last) = together.last() else {
            continue;
        };
        if let Some((time, pause, step, _)) = before
            && (step != last.2 || together[0].0 - time > LATE * pause + LATE)
        {
            series.points.push((time, None));
            series.band.push((0.0, 0.0));
        }
        #[expect(clippy::cast_precision_loss, reason = "samples of one bucket")]
        let count = together.len() as f64;
        let mean = |value: fn(&Sample) -> f64| together.iter().map(value).sum::<f64>() / count;
        let values = together.iter().map(|sample| sample.3);
        let low = values.clone().fold(f64::INFINITY, f64::min);
        let high = values.fold(f64::NEG_INFINITY, f64::max);
        series
            .points
            .push((mean(|sample| sample.0), Some(mean(|sample| sample.3))));
        series.band.push((low, high));
        before = Some(*last);
    }
    series
}
