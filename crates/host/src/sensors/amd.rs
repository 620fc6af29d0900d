//! An AMD card's sensors, from its driver's files in `/sys`.
//!
//! The files differ between cards and drivers; each may be missing, empty, or unreadable (`EBUSY` while the
//! card is suspended). Units are `hwmon`'s: microwatts, thousandths of a degree, hertz.

use super::amd_metrics::{self, AmdMetrics};
use crate::amd_device::AmdDevice;
use crate::model::Gpu;
use crate::root::HostRoot;
use retrial_readings::number::to_f64;
use retrial_telemetry::GpuReading;

/// The paths of a card's files.
pub struct AmdCard {
    device: String,
    hwmon: Option<String>,
    temperatures: Vec<String>,
    previous_metrics: Option<AmdMetrics>,
}

impl AmdCard {
    /// Finds a card's files.
    pub fn new(root: &HostRoot, gpu: &Gpu) -> Self {
        let folders = AmdDevice::from_gpu(gpu).0;
        // A partition's own device has no sensors, and a hidden one has no files at all.
        let device = folders
            .iter()
            .find(|device| root.read_text(&format!("{device}/gpu_busy_percent")).is_some())
            .or_else(|| folders.iter().find(|device| !root.list_names(device).is_empty()))
            .unwrap_or(&folders[0])
            .clone();
        let folder = format!("{device}/hwmon");
        let hwmon_name = root.list_names(&folder).into_iter().next();
        let hwmon = hwmon_name.map(|name| format!("{folder}/{name}"));
        let temperatures = hwmon.iter().flat_map(|hwmon| {
            let names = root.list_names(hwmon).into_iter();
            names
                .filter(|name| name.starts_with("temp") && name.ends_with("_input"))
                .map(move |name| format!("{hwmon}/{name}"))
        });
        Self { temperatures: temperatures.collect(), device, hwmon, previous_metrics: None }
    }

    /// Reads the current values of all sensors.
    pub fn read_sample(&mut self, root: &HostRoot) -> GpuReading {
        let device = |name: &str| root.read_number(&format!("{}/{name}", self.device)).map(to_f64);
        let hwmon =
            |name: &str| root.read_number(&format!("{}/{name}", self.hwmon.as_ref()?)).map(to_f64);
        let clock = |input: &str, levels: &str| {
            let hertz = hwmon(input).filter(|hertz| *hertz > 0.0);
            hertz.map(|hertz| hertz / 1e6).or_else(|| {
                let text = root.read_text(&format!("{}/{levels}", self.device))?;
                marked_clock_mhz(&text)
            })
        };
        let temperatures = self.temperatures.iter();
        let mut reading = GpuReading {
            utilization: device("gpu_busy_percent").filter(|percent| *percent <= 100.0),
            memory_utilization: device("mem_busy_percent").filter(|percent| *percent <= 100.0),
            power_w: hwmon("power1_average")
                .or_else(|| hwmon("power1_input"))
                .map(|microwatts| microwatts / 1e6),
            energy_j: None,
            core_mhz: clock("freq1_input", "pp_dpm_sclk"),
            memory_mhz: clock("freq2_input", "pp_dpm_mclk"),
            temperature_c: temperatures
                .filter_map(|path| root.read_number(path))
                .max()
                .map(|thousandths| to_f64(thousandths) / 1e3),
            vram: root.read_number(&format!("{}/mem_info_vram_used", self.device)),
            throttled: None,
        };
        let metrics = root
            .read_bytes(&format!("{}/gpu_metrics", self.device))
            .and_then(|bytes| amd_metrics::parse_metrics(&bytes));
        if let Some(metrics) = metrics {
            reading.energy_j = metrics.energy_j;
            reading.throttled = metrics.throttle_causes(self.previous_metrics.as_ref());
            self.previous_metrics = Some(metrics);
        }
        reading
    }
}

/// The marked level: `1: 2100Mhz *`.
fn marked_clock_mhz(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.trim_end().ends_with('*'))?;
    let level = line.split_once(':')?.1.trim_start();
    let digits = level.find(|letter: char| !letter.is_ascii_digit())?;
    level[digits..].to_ascii_lowercase().starts_with("mhz").then_some(())?;
    level[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::marked_clock_mhz;

    #[rstest]
    #[case("0: 500Mhz\n1: 2100Mhz *\n", Some(2100.0))]
    #[case("S: 132Mhz *\n0: 500Mhz\n", Some(132.0))]
    #[case("0: 96Mhz\n1: 1000MHz *", Some(1000.0))]
    #[case("0: 500Mhz\n1: 2100Mhz\n", None)]
    #[case("N/A", None)]
    #[case("1: *", None)]
    #[case("1: 99999999999999999999999 *", None)]
    fn the_marked_level_is_the_clock(#[case] text: &str, #[case] mhz: Option<f64>) {
        assert_eq!(marked_clock_mhz(text), mhz);
    }
}
