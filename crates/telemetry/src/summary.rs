//! The summary of one measurement: power, energy, utilization, throttling.

use std::collections::BTreeMap;

use itertools::Itertools as _;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::idle::{self, IdleGpus};
use super::reading::{GpuReading, ThrottleCause};
use super::series::{
    GpuSeries, average, find_gap_s, group_by_gpu, highest, peak_power, seconds_between,
    throttled_seconds,
};
use super::table::{RowSource, TelemetryRow};

/// Telemetry of one measurement. GPUs' power and energy are those of all GPUs together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TelemetrySummary {
    /// The number of samples.
    pub samples: usize,
    /// From the first sample to the last, seconds.
    pub seconds: f64,
    /// Seconds of that time without a sample (the tool was not running).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unobserved_s: f64,
    /// The number of monitored GPUs.
    pub gpus: usize,
    /// Mean power, watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_power_w: Option<f64>,
    /// The highest power at one sample, watts; of several machines, the sum of each one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_power_w: Option<f64>,
    /// Energy, joules: by the GPUs' own counters where all have one, else mean power times time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_j: Option<f64>,
    /// The samples are those within the benchmark's own measurement: no loading, no compiling.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub within_measurement: bool,
    /// Machines that were watched, if the run has several: power and energy are their sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machines: Option<usize>,
    /// Machines with GPUs that were not monitored; then power and energy are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unwatched_machines: Vec<String>,
    /// The deciding figure for each watt of mean power, within the benchmark's own measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_joule: Option<EnergyEfficiency>,
    /// Mean utilization of the GPUs, percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_utilization: Option<f64>,
    /// Mean clock of the cores, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_core_mhz: Option<f64>,
    /// The highest temperature of any GPU, degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_temperature_c: Option<f64>,
    /// The most memory in use on any one GPU, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_vram: Option<u64>,
    /// For how long any GPU's clocks were held down, by cause, seconds; absent: not known. Of several
    /// machines, the one where it was longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_s: Option<BTreeMap<ThrottleCause, f64>>,
    /// Mean number of processors that the container kept busy; of several machines, their sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_cpus: Option<f64>,
    /// The peak memory of the container, bytes; of several machines, the highest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory: Option<u64>,
    /// Idle GPUs, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<IdleGpus>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// A throughput over mean power: `tokens/s` over watts is `tokens/J`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnergyEfficiency {
    /// The figure.
    pub figure: String,
    /// The value.
    pub value: f64,
    /// Its unit, for example `tokens/J`.
    pub unit: String,
}

impl TelemetrySummary {
    /// Summarizes the rows of a step between two times; none without rows. `started`: the start of the step.
    /// `required`: the number of GPUs that the recipe requires.
    pub fn from_rows(
        all_rows: &[TelemetryRow],
        (from, to): (Timestamp, Timestamp),
        started: Timestamp,
        required: usize,
    ) -> Option<Self> {
        let rows: Vec<&TelemetryRow> =
            all_rows.iter().filter(|row| from <= row.time && row.time <= to).collect();
        let (first, last) = (rows.first()?.time, rows.last()?.time);
        let mut moments: Vec<(Timestamp, f64)> =
            rows.iter().map(|row| (row.time, row.pause_s)).collect();
        moments.dedup_by_key(|(time, _)| *time);
        let series = group_by_gpu(&rows);
        let mut summary = Self {
            samples: moments.len(),
            seconds: seconds_between(first, last),
            unobserved_s: moments
                .windows(2)
                .filter_map(|pair| find_gap_s(pair[0], pair[1].0))
                .sum(),
            gpus: series.len(),
            ..Self::default()
        };
        summary.add_gpus(&series, &moments);
        summary.add_container(&rows);
        summary.idle = idle::find_idle(&series, started, required);
        Some(summary)
    }

    fn add_gpus(&mut self, series: &[GpuSeries], moments: &[(Timestamp, f64)]) {
        let all = |each: &dyn Fn(&GpuSeries) -> Option<f64>| -> Option<Vec<f64>> {
            let values: Option<Vec<f64>> = series.iter().map(each).collect();
            values.filter(|values| !values.is_empty())
        };
        let sum = |values: Vec<f64>| values.into_iter().sum::<f64>();
        let mean = |reading: fn(&GpuReading) -> Option<f64>| {
            average(series.iter().filter_map(|gpu| gpu.time_weighted_mean(reading)))
        };
        let by_counter = all(&|gpu| gpu.counted_energy_j()).map(sum).filter(|_| self.seconds > 0.0);
        self.mean_power_w = match by_counter {
            Some(joules) => Some(joules / self.seconds),
            None => all(&|gpu| gpu.time_weighted_mean(|reading| reading.power_w)).map(sum),
        };
        self.energy_j = by_counter.or(self.mean_power_w.map(|watts| watts * self.seconds));
        self.peak_power_w = peak_power(series, moments);
        self.mean_utilization = mean(|reading| reading.utilization);
        self.mean_core_mhz = mean(|reading| reading.core_mhz);
        let readings = || series.iter().flat_map(|gpu| gpu.samples.iter().map(|sample| sample.2));
        self.peak_temperature_c = highest(readings().map(|reading| reading.temperature_c));
        self.peak_vram = readings().filter_map(|reading| reading.vram).max();
        if readings().any(|reading| reading.throttled.is_some()) {
            self.throttled_s = Some(throttled_seconds(series, moments));
        }
    }

    fn add_container(&mut self, rows: &[&TelemetryRow]) {
        let samples = rows.iter().filter_map(|row| match &row.origin {
            RowSource::Container(reading) => Some((row.time, reading)),
            RowSource::Gpu { .. } => None,
        });
        let cpu: Vec<(Timestamp, f64)> =
            samples.clone().filter_map(|(time, reading)| Some((time, reading.cpu_s?))).collect();
        if let (Some(first), Some(last)) = (cpu.first(), cpu.last()) {
            let seconds = seconds_between(first.0, last.0);
            self.mean_cpus =
                (seconds > 0.0 && last.1 >= first.1).then(|| (last.1 - first.1) / seconds);
        }
        self.peak_memory = samples.filter_map(|(_, reading)| reading.memory).max();
    }

    /// Combines several measurements: the trials of a scenario.
    pub fn combine_trials(all: &[&Self]) -> Option<Self> {
        let [first, rest @ ..] = all else {
            return None;
        };
        if rest.is_empty() {
            return Some((*first).clone());
        }
        let sum = |value: fn(&Self) -> Option<f64>| -> Option<f64> {
            all.iter().map(|summary| value(summary)).sum()
        };
        let seconds: f64 = all.iter().map(|summary| summary.seconds).sum();
        let weighted = |value: fn(&Self) -> Option<f64>| -> Option<f64> {
            let parts: Option<f64> =
                all.iter().map(|summary| Some(value(summary)? * summary.seconds)).sum();
            parts.filter(|_| seconds > 0.0).map(|sum| sum / seconds)
        };
        let throttled: Option<Vec<&BTreeMap<ThrottleCause, f64>>> =
            all.iter().map(|summary| summary.throttled_s.as_ref()).collect();
        let throttled_s = throttled.map(|all| {
            let mut sum = BTreeMap::new();
            for (cause, seconds) in all.into_iter().flatten() {
                *sum.entry(*cause).or_insert(0.0) += seconds;
            }
            sum
        });
        Some(Self {
            samples: all.iter().map(|summary| summary.samples).sum(),
            seconds,
            unobserved_s: all.iter().map(|summary| summary.unobserved_s).sum(),
            gpus: first.gpus,
            within_measurement: all.iter().all(|summary| summary.within_measurement),
            machines: first.machines,
            unwatched_machines: all
                .iter()
                .flat_map(|summary| &summary.unwatched_machines)
                .unique()
                .cloned()
                .collect(),
            mean_power_w: weighted(|summary| summary.mean_power_w),
            peak_power_w: highest(all.iter().map(|summary| summary.peak_power_w)),
            energy_j: sum(|summary| summary.energy_j),
            per_joule: None,
            mean_utilization: weighted(|summary| summary.mean_utilization),
            mean_core_mhz: weighted(|summary| summary.mean_core_mhz),
            peak_temperature_c: highest(all.iter().map(|summary| summary.peak_temperature_c)),
            peak_vram: all.iter().filter_map(|summary| summary.peak_vram).max(),
            throttled_s,
            mean_cpus: weighted(|summary| summary.mean_cpus),
            peak_memory: all.iter().filter_map(|summary| summary.peak_memory).max(),
            // The worst of them: one trial on the CPU invalidates the figure.
            idle: all
                .iter()
                .filter_map(|summary| summary.idle.clone())
                .max_by_key(|idle| idle.gpus.len()),
        })
    }

    /// A throughput for each watt of mean power; none for a figure that is no throughput, or without the time
    /// of its measurement (the power of loading a model does not count).
    pub fn per_joule(&self, figure: &str, throughput: f64, unit: &str) -> Option<EnergyEfficiency> {
        let within = self.within_measurement.then_some(self.mean_power_w);
        let watts = within.flatten().filter(|watts| *watts > 0.0)?;
        let unit = match (unit.strip_suffix("/s"), unit.strip_suffix("FLOPS")) {
            (Some(numerator), _) if !numerator.is_empty() => format!("{numerator}/J"),
            (_, Some(prefix)) => format!("{prefix}FLOP/J"),
            _ => return None,
        };
        let value = throughput / watts;
        value.is_finite().then(|| EnergyEfficiency { figure: figure.to_owned(), value, unit })
    }
}
