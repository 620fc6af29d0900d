//! Whether the GPUs worked at all. An execution provider that cannot use the GPU may fall back to
//! the CPU without a word (`ONNX Runtime`'s `MIGraphX` provider does), and the figure is then the
//! CPU's. What is not known is never idle: a GPU is called idle only by sensors that spoke.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::series::{Series, between};

/// A GPU that is at work in a benchmark is busier than this at some sample, percent.
const BUSY: f64 = 3.0;
/// A process that uses a GPU takes more memory there than its context alone, bytes: then the
/// utilization that the driver tells is not believed.
const LOADED: u64 = 1 << 30;
/// Where only memory is known: not even a context, bytes.
const NO_CONTEXT: u64 = 64 << 20;
/// Fewer samples, or a shorter time, say nothing.
const LEAST_SAMPLES: usize = 4;
const LEAST_SECONDS: f64 = 2.5;
/// Only a sample so soon after the step began tells how much memory was in use before it, seconds.
const AT_THE_BEGINNING: f64 = 2.0;

/// GPUs that did nothing while the benchmark ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Idle {
    /// Their machine, if the run has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Their indices.
    pub gpus: Vec<u32>,
    /// How many were watched.
    pub of: usize,
    /// How many the recipe requires.
    pub required: usize,
}

impl Idle {
    /// All of them: it was not the GPUs that were measured.
    pub fn all(&self) -> bool {
        self.gpus.len() == self.of
    }

    /// What it means, as a lower-case fragment.
    pub fn reason(&self) -> String {
        let machine = self.machine.as_ref();
        let of_machine = machine.map_or(String::new(), |machine| format!(" of {machine}"));
        if self.all() {
            let who = if self.of == 1 {
                format!("the GPU{of_machine} was")
            } else {
                format!("the GPUs{of_machine} were")
            };
            return format!(
                "{who} idle during the benchmark: it ran on the CPU, or on GPUs that were not monitored"
            );
        }
        let list: Vec<String> = self.gpus.iter().map(u32::to_string).collect();
        format!(
            "{} of {} GPUs{of_machine} were idle during the benchmark, which requires {}: {} were idle",
            self.gpus.len(),
            self.of,
            self.required,
            list.join(", ")
        )
    }
}

/// The GPUs that did nothing, where fewer worked than are required.
pub(super) fn find(series: &[Series], started: Timestamp, required: usize) -> Option<Idle> {
    let idle: Vec<u32> = series
        .iter()
        .filter(|one| one.is_idle(started))
        .map(|one| one.index)
        .collect();
    let worked = series.len() - idle.len();
    let too_few = worked == 0 || worked < required.min(series.len());
    (required > 0 && !idle.is_empty() && too_few).then_some(Idle {
        machine: None,
        gpus: idle,
        of: series.len(),
        required,
    })
}

impl Series<'_> {
    fn is_idle(&self, started: Timestamp) -> bool {
        let (Some(first), Some(last)) = (self.samples.first(), self.samples.last()) else {
            return false;
        };
        if between(first.0, last.0) < LEAST_SECONDS {
            return false;
        }
        // The first sample shows what was before.
        let later = || self.samples.iter().skip(1).map(|sample| sample.2);
        let busy: Vec<f64> = later().filter_map(|one| one.utilization).collect();
        let vram: Vec<u64> = later().filter_map(|one| one.vram).collect();
        let before = first
            .2
            .vram
            .filter(|_| between(started, first.0) <= AT_THE_BEGINNING);
        let rise = before.zip(vram.iter().max());
        let rise = rise.map(|(before, most)| most.saturating_sub(before));
        if busy.iter().any(|percent| *percent >= BUSY) {
            return false;
        }
        if busy.len() >= LEAST_SAMPLES {
            return rise.is_none_or(|rise| rise < LOADED);
        }
        vram.len() >= LEAST_SAMPLES && rise.is_some_and(|rise| rise < NO_CONTEXT)
    }
}
