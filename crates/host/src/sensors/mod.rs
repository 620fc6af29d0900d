//! Samples GPUs and a container repeatedly: a sample reads a few small files at known paths, and NVIDIA's
//! library if present. Nothing here fails: a value that a sensor does not report is absent from the reading,
//! and a GPU that falls off the bus has an empty one.

mod amd;
mod amd_metrics;
mod container;

use std::path::Path;

pub use container::ContainerSensor;

use itertools::join;

use super::nvml;
use super::root::HostRoot;
use crate::model::Gpu;
use retrial_recipe::model::GpuVendor;
use retrial_telemetry::GpuReading;

/// A GPU whose sensors are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledGpu {
    /// Its index among the host's GPUs; of several partitions of one card, the first's.
    pub index: u32,
    /// Its PCI address: `0000:05:00.0`.
    pub pci: String,
}

pub struct Sensors {
    root: HostRoot,
    gpus: Vec<(SampledGpu, GpuSensor)>,
    /// Remarks, shown once, about GPUs that are not sampled.
    pub remarks: Vec<String>,
}

enum GpuSensor {
    Amd(Box<amd::AmdCard>),
    Nvidia(nvml::NvmlSensor),
}

impl Sensors {
    /// Finds the sensors of these GPUs, given with their indices. Files are searched for below `root`; NVIDIA's
    /// library covers this machine only.
    pub fn open(root: &Path, gpus: &[(u32, Gpu)]) -> Self {
        let library = (root == Path::new("/")).then(nvml::load_library).flatten();
        let root = HostRoot::new(root);
        let mut sensors = Self { root, gpus: Vec::new(), remarks: Vec::new() };
        let (mut shared, mut dark) = (Vec::new(), Vec::new());
        for (index, gpu) in gpus {
            let watched = SampledGpu { index: *index, pci: gpu.pci.clone() };
            let mut sampled = sensors.gpus.iter();
            let source = match gpu.vendor {
                // Partitions of a card have one address, and share the card's sensors.
                GpuVendor::Amd if sampled.any(|(sampled, _)| sampled.pci == gpu.pci) => {
                    shared.push(*index);
                    continue;
                }
                GpuVendor::Amd => {
                    Some(GpuSensor::Amd(Box::new(amd::AmdCard::new(&sensors.root, gpu))))
                }
                GpuVendor::Nvidia => {
                    library.and_then(|library| library.find_sensor(gpu)).map(GpuSensor::Nvidia)
                }
            };
            match source {
                Some(source) => sensors.gpus.push((watched, source)),
                None => dark.push(*index),
            }
        }
        if !shared.is_empty() {
            sensors.remarks.push(format!(
                "partitions of a card share its sensors: GPUs {} are measured as the first of their card",
                join(&shared, ", ")
            ));
        }
        if !dark.is_empty() {
            sensors.remarks.push(format!(
                "GPUs {} are not measured: NVIDIA's library (libnvidia-ml.so.1) does not list them",
                join(&dark, ", ")
            ));
        }
        sensors
    }

    pub fn read_samples(&mut self) -> Vec<(SampledGpu, GpuReading)> {
        let Self { root, gpus, .. } = self;
        let look = |(watched, source): &mut (SampledGpu, GpuSensor)| {
            let reading = match source {
                GpuSensor::Amd(card) => card.read_sample(root),
                GpuSensor::Nvidia(sensor) => sensor.read_sample(),
            };
            (watched.clone(), reading)
        };
        gpus.iter_mut().map(look).collect()
    }
}

#[cfg(test)]
mod tests;
