//! Detects GPUs that were idle. An execution provider that cannot use the GPU may silently fall back to the CPU
//! (`ONNX Runtime`'s `MIGraphX` provider does), and the figure is then the CPU's. Without data a GPU is never
//! idle: it is idle only if sensors reported it.

use itertools::join;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::series::{GpuSeries, seconds_between};

/// A GPU used by a benchmark exceeds this utilization in some sample, percent.
const BUSY_UTILIZATION_PERCENT: f64 = 3.0;
/// A process that uses a GPU takes more memory there than its context alone, bytes: then the driver's
/// utilization is ignored.
const MIN_LOADED_BYTES: u64 = 1 << 30;
/// If only memory is known: less than a context, bytes.
const MAX_UNUSED_BYTES: u64 = 64 << 20;
/// The minimum number of samples, and the minimum time, for a decision.
const MIN_SAMPLES: usize = 4;
const MIN_OBSERVED_S: f64 = 2.5;
/// Only a sample this soon after the start of the step shows the memory in use before it, seconds.
const START_WINDOW_S: f64 = 2.0;

/// GPUs that were idle during the benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleGpus {
    /// Their machine, if the run has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Their indices.
    pub gpus: Vec<u32>,
    /// The number of monitored GPUs.
    pub of: usize,
    /// The number of GPUs that the recipe requires.
    pub required: usize,
}

impl IdleGpus {
    /// All of them: it was not the GPUs that were measured.
    pub fn is_all(&self) -> bool {
        self.gpus.len() == self.of
    }

    /// Returns the reason for a warning, as a lower-case fragment.
    pub fn describe(&self) -> String {
        let machine = self.machine.as_ref();
        let of_machine = machine.map_or(String::new(), |machine| format!(" of {machine}"));
        if self.is_all() {
            let subject = if self.of == 1 {
                format!("the GPU{of_machine} was")
            } else {
                format!("the GPUs{of_machine} were")
            };
            return format!(
                "{subject} idle during the benchmark: it ran on the CPU, or on GPUs that were not monitored"
            );
        }
        format!(
            "{} of {} GPUs{of_machine} were idle during the benchmark, which requires {}: {} were idle",
            self.gpus.len(),
            self.of,
            self.required,
            join(&self.gpus, ", ")
        )
    }
}

/// Returns the idle GPUs, if fewer were busy than are required.
pub(super) fn find_idle(
    series: &[GpuSeries],
    started: Timestamp,
    required: usize,
) -> Option<IdleGpus> {
    let idle: Vec<u32> =
        series.iter().filter(|gpu| gpu.is_idle(started)).map(|gpu| gpu.index).collect();
    let busy = series.len() - idle.len();
    let too_few = busy == 0 || busy < required.min(series.len());
    (required > 0 && !idle.is_empty() && too_few).then_some(IdleGpus {
        machine: None,
        gpus: idle,
        of: series.len(),
        required,
    })
}

impl GpuSeries<'_> {
    fn is_idle(&self, started: Timestamp) -> bool {
        let (Some(first), Some(last)) = (self.samples.first(), self.samples.last()) else {
            return false;
        };
        if seconds_between(first.0, last.0) < MIN_OBSERVED_S {
            return false;
        }
        // The first sample shows the state before the step.
        let later = || self.samples.iter().skip(1).map(|sample| sample.2);
        let busy: Vec<f64> = later().filter_map(|reading| reading.utilization).collect();
        let vram: Vec<u64> = later().filter_map(|reading| reading.vram).collect();
        let before = first.2.vram.filter(|_| seconds_between(started, first.0) <= START_WINDOW_S);
        let before_and_peak = before.zip(vram.iter().max());
        let rise = before_and_peak.map(|(before, most)| most.saturating_sub(before));
        if busy.iter().any(|percent| *percent >= BUSY_UTILIZATION_PERCENT) {
            return false;
        }
        if busy.len() >= MIN_SAMPLES {
            return rise.is_none_or(|rise| rise < MIN_LOADED_BYTES);
        }
        vram.len() >= MIN_SAMPLES && rise.is_some_and(|rise| rise < MAX_UNUSED_BYTES)
    }
}
