//! The samples of each GPU: means, energy, peaks, and throttling over time.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::reading::{GpuReading, ThrottleCause};
use super::table::{RowSource, TelemetryRow};

/// One GPU's samples, in order.
#[derive(Debug, Default)]
pub(super) struct GpuSeries<'a> {
    /// The GPU's index among the host's GPUs of its vendor.
    pub index: u32,
    /// Time, planned interval to the next sample, and reading.
    pub samples: Vec<(Timestamp, f64, &'a GpuReading)>,
}

/// A pause of this multiple of the planned one is a gap.
const GAP_FACTOR: f64 = 2.0;
/// The allowed delay of a busy machine, seconds.
const GAP_TOLERANCE_S: f64 = 2.0;

pub(super) fn group_by_gpu<'a>(rows: &[&'a TelemetryRow]) -> Vec<GpuSeries<'a>> {
    let mut series: BTreeMap<u32, GpuSeries> = BTreeMap::new();
    for row in rows {
        if let RowSource::Gpu { index, reading, .. } = &row.origin {
            let gpu = series.entry(*index).or_default();
            gpu.index = *index;
            gpu.samples.push((row.time, row.pause_s, reading));
        }
    }
    series.into_values().collect()
}

pub(super) fn seconds_between(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64()
}

/// The seconds from one sample to the next, if planned samples between them are missing.
pub(super) fn find_gap_s((time, pause): (Timestamp, f64), next: Timestamp) -> Option<f64> {
    let seconds = seconds_between(time, next);
    (seconds > GAP_FACTOR * pause + GAP_TOLERANCE_S).then_some(seconds)
}

pub(super) fn average(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    (count > 0.0).then(|| sum / count)
}

pub(super) fn highest(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().max_by(f64::total_cmp)
}

impl GpuSeries<'_> {
    fn reading_at(&self, time: Timestamp) -> Option<&GpuReading> {
        let at = self.samples.binary_search_by_key(&time, |sample| sample.0);
        Some(self.samples[at.ok()?].2)
    }

    /// The time-weighted mean of a sensor's values, by trapezoids; gaps are excluded.
    pub(super) fn time_weighted_mean(
        &self,
        reading: fn(&GpuReading) -> Option<f64>,
    ) -> Option<f64> {
        let values: Vec<(Timestamp, f64, f64)> = self
            .samples
            .iter()
            .filter_map(|(time, pause, sample)| Some((*time, *pause, reading(sample)?)))
            .collect();
        let (mut area, mut seconds) = (0.0, 0.0);
        for pair in values.windows(2) {
            let ((time, pause, value), (next, _, then)) = (pair[0], pair[1]);
            if find_gap_s((time, pause), next).is_none() {
                area += f64::midpoint(value, then) * seconds_between(time, next);
                seconds += seconds_between(time, next);
            }
        }
        if seconds > 0.0 {
            return Some(area / seconds);
        }
        average(values.iter().map(|(_, _, value)| *value))
    }

    /// Joules by its counter; none if it has none, or it was reset meanwhile.
    pub(super) fn counted_energy_j(&self) -> Option<f64> {
        let first = self.samples.first()?.2.energy_j?;
        let last = self.samples.last()?.2.energy_j?;
        (self.samples.len() > 1 && last >= first).then_some(last - first)
    }
}

/// The highest sum over the GPUs at one sample in which all reported their power.
pub(super) fn peak_power(series: &[GpuSeries], moments: &[(Timestamp, f64)]) -> Option<f64> {
    if series.is_empty() {
        return None;
    }
    let sums = moments.iter().map(|(time, _)| {
        let powers = series.iter().map(|gpu| gpu.reading_at(*time)?.power_w);
        powers.sum::<Option<f64>>()
    });
    highest(sums)
}

/// Seconds in which at least one GPU was throttled, by cause: the state at a sample counts for the time before
/// it.
pub(super) fn throttled_seconds(
    series: &[GpuSeries],
    moments: &[(Timestamp, f64)],
) -> BTreeMap<ThrottleCause, f64> {
    let mut seconds = BTreeMap::new();
    for pair in moments.windows(2) {
        let (before, (time, _)) = (pair[0], pair[1]);
        if find_gap_s(before, time).is_some() {
            continue;
        }
        for cause in ThrottleCause::ALL {
            let held = series.iter().any(|gpu| {
                let reading = gpu.reading_at(time);
                let causes = reading.and_then(|reading| reading.throttled.as_deref());
                causes.is_some_and(|causes| causes.contains(&cause))
            });
            if held {
                *seconds.entry(cause).or_insert(0.0) += seconds_between(before.0, time);
            }
        }
    }
    seconds
}
