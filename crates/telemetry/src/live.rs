//! The latest sample, for an event and a display line.

use itertools::Itertools as _;
use serde::{Deserialize, Serialize};

use super::reading::{GpuReading, ThrottleCause};
use super::series::{average, highest};

/// The latest sample of all GPUs and the container.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveSample {
    /// The number of sampled GPUs.
    pub gpus: usize,
    /// Their mean utilization, percent.
    pub utilization: Option<f64>,
    /// Their total power, watts.
    pub power_w: Option<f64>,
    /// The highest temperature, degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Their total memory in use, bytes.
    pub vram: Option<u64>,
    /// The throttling causes of any of them.
    pub throttled: Vec<ThrottleCause>,
    /// Processors that the container keeps busy.
    pub cpus: Option<f64>,
    /// Memory of the container, bytes.
    pub memory: Option<u64>,
}

impl LiveSample {
    /// Returns the sample of these GPUs; sums only if each has a value.
    pub fn from_readings(gpus: &[&GpuReading]) -> Self {
        let power: Option<f64> = gpus.iter().map(|gpu| gpu.power_w).sum();
        let vram: Option<u64> = gpus.iter().map(|gpu| gpu.vram).sum();
        let throttled = gpus.iter().flat_map(|gpu| gpu.throttled.iter().flatten());
        Self {
            gpus: gpus.len(),
            utilization: average(gpus.iter().filter_map(|gpu| gpu.utilization)),
            power_w: power.filter(|_| !gpus.is_empty()),
            temperature_c: highest(gpus.iter().map(|gpu| gpu.temperature_c)),
            vram: vram.filter(|_| !gpus.is_empty()),
            throttled: throttled.copied().sorted().dedup().collect(),
            cpus: None,
            memory: None,
        }
    }
}
