//! The samples of each GPU: means, energy, peaks, and throttling over time.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::reading::{Cause, GpuReading};
use super::table::{Of, Row};

/// One GPU's samples, in order.
#[derive(Debug, Default)]
pub(super) struct Series<'a> {
    /// Its index.
    pub index: u32,
    /// When, how long until the next sample was meant to be, and what was seen.
    pub samples: Vec<(Timestamp, f64, &'a GpuReading)>,
}

/// A pause of this share more than was meant is a gap.
const LATE: f64 = 2.0;
/// A machine that is busy may be so late, seconds.
const LATE_S: f64 = 2.0;

pub(super) fn series<'a>(rows: &[&'a Row]) -> Vec<Series<'a>> {
    let mut series: BTreeMap<u32, Series> = BTreeMap::new();
    for row in rows {
        if let Of::Gpu { index, reading, .. } = &row.of {
            let one = series.entry(*index).or_default();
            one.index = *index;
            one.samples.push((row.time, row.pause_s, reading));
        }
    }
    series.into_values().collect()
}

pub(super) fn between(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64()
}

/// The seconds from one sample to the next, if there was no sample meanwhile as was meant.
pub(super) fn gap((time, pause): (Timestamp, f64), next: Timestamp) -> Option<f64> {
    let seconds = between(time, next);
    (seconds > LATE * pause + LATE_S).then_some(seconds)
}

pub(super) fn average(values: &[f64]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "GPUs of one machine")]
    let count = values.len() as f64;
    (count > 0.0).then(|| values.iter().sum::<f64>() / count)
}

/// The highest of what sensors said.
pub(super) fn highest(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().max_by(f64::total_cmp)
}

impl Series<'_> {
    /// The mean over time of what a sensor said, by trapezoids; gaps left out.
    pub(super) fn mean(&self, reading: fn(&GpuReading) -> Option<f64>) -> Option<f64> {
        let known: Vec<(Timestamp, f64, f64)> = self
            .samples
            .iter()
            .filter_map(|(time, pause, one)| Some((*time, *pause, reading(one)?)))
            .collect();
        let (mut area, mut seconds) = (0.0, 0.0);
        for pair in known.windows(2) {
            let ((time, pause, value), (next, _, then)) = (pair[0], pair[1]);
            if gap((time, pause), next).is_none() {
                area += f64::midpoint(value, then) * between(time, next);
                seconds += between(time, next);
            }
        }
        if seconds > 0.0 {
            return Some(area / seconds);
        }
        average(&known.iter().map(|(_, _, value)| *value).collect::<Vec<_>>())
    }

    /// Joules by its counter; none where it has none, or it began anew meanwhile.
    pub(super) fn energy(&self) -> Option<f64> {
        let counter = |sample: &(Timestamp, f64, &GpuReading)| sample.2.energy_j;
        let (first, last) = (
            counter(self.samples.first()?)?,
            counter(self.samples.last()?)?,
        );
        (self.samples.len() > 1 && last >= first).then_some(last - first)
    }
}

/// The highest sum over the GPUs at one sample at which all said their power.
pub(super) fn peak_power(series: &[Series], moments: &[(Timestamp, f64)]) -> Option<f64> {
    if series.is_empty() {
        return None;
    }
    let sums = moments.iter().map(|(time, _)| {
        let powers = series.iter().map(|one| {
            let at = one
                .samples
                .binary_search_by_key(time, |sample| sample.0)
                .ok()?;
            one.samples[at].2.power_w
        });
        powers.sum::<Option<f64>>()
    });
    highest(sums)
}

/// Seconds in which at least one GPU was held down, by cause: what was so at a sample counts for the
/// time before it.
pub(super) fn throttled(series: &[Series], moments: &[(Timestamp, f64)]) -> BTreeMap<Cause, f64> {
    let mut seconds = BTreeMap::new();
    for pair in moments.windows(2) {
        let (before, (time, _)) = (pair[0], pair[1]);
        if gap(before, time).is_some() {
            continue;
        }
        for cause in Cause::ALL {
            let held = series.iter().any(|one| {
                let at = one.samples.binary_search_by_key(&time, |sample| sample.0);
                let causes = at
                    .ok()
                    .and_then(|at| one.samples[at].2.throttled.as_deref());
                causes.is_some_and(|causes| causes.contains(&cause))
            });
            if held {
                *seconds.entry(cause).or_insert(0.0) += between(before.0, time);
            }
        }
    }
    seconds
}
