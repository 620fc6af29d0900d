//! The latest sample, for an event and a display line.

use itertools::Itertools as _;
use serde::{Deserialize, Serialize};

use super::reading::{ContainerReading, GpuReading, ThrottleCause};
use super::series::{average, highest};

/// The latest sample of all GPUs and the container.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LiveSample {
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

    /// Adds the sample of the container, taken at these seconds of the meter's clock.
    pub fn add_container(&mut self, reading: ContainerReading, seconds: f64, meter: &mut CpuMeter) {
        self.memory = reading.memory;
        self.cpus = meter.measure_cpus(seconds, reading.cpu_s);
    }
}

/// Computes the number of processors that a container uses, from its processor time at two samples.
#[derive(Debug, Default)]
pub struct CpuMeter {
    /// The time of the last sample and the processor time until then, seconds.
    previous: Option<(f64, f64)>,
}

impl CpuMeter {
    /// Returns the number of processors used since the last sample; none at the first one, or without a reading.
    fn measure_cpus(&mut self, seconds: f64, cpu_s: Option<f64>) -> Option<f64> {
        let sample = cpu_s.map(|cpu_s| (seconds, cpu_s));
        let previous = std::mem::replace(&mut self.previous, sample);
        let ((then, before), (now, after)) = (previous?, sample?);
        (now > then && after >= before).then(|| (after - before) / (now - then))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_processors_are_those_between_two_samples() {
        let mut meter = CpuMeter::default();
        let cpus =
            [(0.0, Some(5.0)), (2.0, Some(8.0)), (3.0, None), (4.0, Some(9.0)), (5.0, Some(2.0))]
                .map(|(seconds, cpu_s)| meter.measure_cpus(seconds, cpu_s));
        assert_eq!(cpus, [None, Some(1.5), None, None, None]);
    }
}
