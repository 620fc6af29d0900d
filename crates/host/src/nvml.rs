//! NVIDIA's management library, loaded at run time if present, never linked. `plan` does not use it (loading is
//! slow); `doctor` and telemetry do.

use std::sync::OnceLock;

use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, EccCounter, MemoryError, TemperatureSensor};
use nvml_wrapper::{Device, Nvml};

use crate::model::{Gpu, GpuCondition, GpuProgram, HardwareErrors};
use retrial_readings::number::to_f64;
use retrial_recipe::model::GpuVendor;
use retrial_telemetry::{GpuReading, ThrottleCause};

/// The library's names: the plain one is the developer's package, which is rarely installed.
const LIBRARY_NAMES: [&str; 2] = ["libnvidia-ml.so.1", "libnvidia-ml.so"];

/// NVIDIA's management library, loaded and initialized.
pub struct NvmlLibrary(Nvml);

static LOADED_LIBRARY: OnceLock<Option<NvmlLibrary>> = OnceLock::new();

/// The library, loaded at the first call; none if it is missing, or has no driver.
pub fn load_library() -> Option<&'static NvmlLibrary> {
    let load = || {
        let mut names = LIBRARY_NAMES.iter();
        let found = names.find_map(|name| Nvml::builder().lib_path(name.as_ref()).init().ok());
        found.map(NvmlLibrary)
    };
    LOADED_LIBRARY.get_or_init(load).as_ref()
}

/// The sensors of one GPU.
pub struct NvmlSensor(Device<'static>);

impl NvmlLibrary {
    fn find_device(&self, gpu: &Gpu) -> Option<Device<'_>> {
        if gpu.vendor != GpuVendor::Nvidia {
            return None;
        }
        let uuid = gpu.uuid.as_deref();
        let by_name = uuid.and_then(|uuid| self.0.device_by_uuid(uuid).ok());
        by_name.or_else(|| self.0.device_by_pci_bus_id(gpu.pci.as_str()).ok())
    }

    /// The sensors of a GPU; none if it is unknown to the library.
    pub fn find_sensor(&'static self, gpu: &Gpu) -> Option<NvmlSensor> {
        self.find_device(gpu).map(NvmlSensor)
    }

    /// The current condition; none if the GPU is unknown to the library.
    pub fn read_condition(&self, gpu: &Gpu) -> Option<GpuCondition> {
        let device = self.find_device(gpu)?;
        let memory = device.memory_info().ok();
        let running = device.running_compute_processes().unwrap_or_default();
        let count = |kind| device.total_ecc_errors(kind, EccCounter::Volatile).ok();
        let errors = || {
            Some(HardwareErrors {
                corrected: count(MemoryError::Corrected)?,
                uncorrected: count(MemoryError::Uncorrected)?,
            })
        };
        Some(GpuCondition {
            vram_total: memory.as_ref().map(|memory| memory.total),
            vram_used: memory.as_ref().map(|memory| memory.used),
            busy_percent: device.utilization_rates().ok().map(|rates| rates.gpu),
            power_cap_w: device.enforced_power_limit().ok().map(|milliwatts| milliwatts / 1000),
            processes: running.iter().map(to_process).collect(),
            errors: errors(),
            performance_level: None,
            divided: device.mig_mode().ok().map(|mode| mode.current != 0),
        })
    }
}

fn to_process(info: &nvml_wrapper::struct_wrappers::device::ProcessInfo) -> GpuProgram {
    use nvml_wrapper::enums::device::UsedGpuMemory;
    GpuProgram {
        pid: info.pid,
        name: std::fs::read_to_string(format!("/proc/{}/comm", info.pid))
            .ok()
            .map(|name| name.trim().to_owned()),
        vram: match info.used_gpu_memory {
            UsedGpuMemory::Used(bytes) => Some(bytes),
            UsedGpuMemory::Unavailable => None,
        },
    }
}

impl NvmlSensor {
    /// Reads the current values of all sensors.
    pub fn read_sample(&self) -> GpuReading {
        let device = &self.0;
        let rates = device.utilization_rates().ok();
        let clock = |domain| device.clock_info(domain).ok().map(f64::from);
        let joules = |millijoules| to_f64(millijoules) / 1e3;
        GpuReading {
            utilization: rates.as_ref().map(|rates| f64::from(rates.gpu)),
            memory_utilization: rates.as_ref().map(|rates| f64::from(rates.memory)),
            power_w: device.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1e3),
            energy_j: device.total_energy_consumption().ok().map(joules),
            core_mhz: clock(Clock::SM),
            memory_mhz: clock(Clock::Memory),
            temperature_c: device.temperature(TemperatureSensor::Gpu).ok().map(f64::from),
            vram: device.memory_info().ok().map(|memory| memory.used),
            throttled: device.current_throttle_reasons().ok().map(throttle_causes),
        }
    }
}

/// Idleness and clocks set by the user are not throttling.
fn throttle_causes(reasons: ThrottleReasons) -> Vec<ThrottleCause> {
    let heat = ThrottleReasons::SW_THERMAL_SLOWDOWN | ThrottleReasons::HW_THERMAL_SLOWDOWN;
    let board = ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN | ThrottleReasons::HW_SLOWDOWN;
    let [power, heat, board] =
        [ThrottleReasons::SW_POWER_CAP, heat, board].map(|bits| reasons.intersects(bits));
    ThrottleCause::from_flags(power, heat, board)
}
