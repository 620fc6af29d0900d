//! The latest sample, as an event carries it and a line shows it.

use serde::{Deserialize, Serialize};

use super::reading::{Cause, GpuReading};

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
    #[must_use]
    pub fn of(gpus: &[&GpuReading]) -> Self {
        let values = |value: fn(&GpuReading) -> Option<f64>| -> Vec<f64> {
            gpus.iter().filter_map(|one| value(one)).collect()
        };
        let busy = values(|one| one.utilization);
        let power = values(|one| one.power_w);
        let vram: Vec<u64> = gpus.iter().filter_map(|one| one.vram).collect();
        let mut throttled: Vec<Cause> = gpus
            .iter()
            .flat_map(|one| one.throttled.iter().flatten().copied())
            .collect();
        throttled.sort_unstable();
        throttled.dedup();
        #[expect(clippy::cast_precision_loss, reason = "GPUs of one machine")]
        let count = busy.len() as f64;
        Self {
            gpus: gpus.len(),
            utilization: (count > 0.0).then(|| busy.iter().sum::<f64>() / count),
            power_w: (!power.is_empty() && power.len() == gpus.len()).then(|| power.iter().sum()),
            temperature_c: values(|one| one.temperature_c)
                .into_iter()
                .max_by(f64::total_cmp),
            vram: (!vram.is_empty() && vram.len() == gpus.len()).then(|| vram.iter().sum()),
            throttled,
            cpus: None,
            memory: None,
        }
    }
}
