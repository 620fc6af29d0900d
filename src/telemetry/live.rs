//! The latest sample, as an event carries it and a line shows it.

use serde::{Deserialize, Serialize};

use super::reading::{Cause, GpuReading};
use super::series::{average, highest};

/// The latest sample of all GPUs and the container.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Live {
    /// GPUs.
    pub gpus: usize,
    /// Their mean utilization, percent.
    pub utilization: Option<f64>,
    /// Their power together, watts.
    pub power_w: Option<f64>,
    /// The highest temperature, degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Their memory in use together, bytes.
    pub vram: Option<u64>,
    /// What holds any of them down.
    pub throttled: Vec<Cause>,
    /// Processors that the container keeps busy.
    pub cpus: Option<f64>,
    /// Memory of the container, bytes.
    pub memory: Option<u64>,
}

impl Live {
    /// Of these GPUs; sums only where each has said something.
    pub fn of(gpus: &[&GpuReading]) -> Self {
        let busy: Vec<f64> = gpus.iter().filter_map(|one| one.utilization).collect();
        let power: Option<f64> = gpus.iter().map(|one| one.power_w).sum();
        let vram: Option<u64> = gpus.iter().map(|one| one.vram).sum();
        let mut throttled: Vec<Cause> = gpus
            .iter()
            .flat_map(|one| one.throttled.iter().flatten().copied())
            .collect();
        throttled.sort_unstable();
        throttled.dedup();
        Self {
            gpus: gpus.len(),
            utilization: average(&busy),
            power_w: power.filter(|_| !gpus.is_empty()),
            temperature_c: highest(gpus.iter().map(|one| one.temperature_c)),
            vram: vram.filter(|_| !gpus.is_empty()),
            throttled,
            cpus: None,
            memory: None,
        }
    }
}
