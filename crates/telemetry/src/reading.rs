//! One sample. A value that a sensor does not report is absent, never zero.

use schemars::JsonSchema;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct GpuReading {
    /// Utilization of its cores, percent.
    pub utilization: Option<f64>,
    /// Utilization of its memory interface, percent.
    pub memory_utilization: Option<f64>,
    pub power_w: Option<f64>,
    /// Energy since the driver was loaded, joules.
    pub energy_j: Option<f64>,
    /// Clock of the cores, MHz.
    pub core_mhz: Option<f64>,
    /// Clock of the memory, MHz.
    pub memory_mhz: Option<f64>,
    /// The hottest of its temperatures, degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Memory in use by all programs, bytes.
    pub vram: Option<u64>,
    /// Its throttling causes; empty: none.
    pub throttled: Option<Vec<ThrottleCause>>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ContainerReading {
    /// Processor time so far, seconds.
    pub cpu_s: Option<f64>,
    /// Memory in use, without the file cache that the kernel can drop, bytes.
    pub memory: Option<u64>,
}

retrial_document::words! {
    /// What holds a GPU's clocks down.
    #[derive(JsonSchema)]
    pub enum ThrottleCause {
        /// The power limit.
        Power = "power",
        /// Heat.
        Heat = "heat",
        /// The board: its power supply, or a signal from outside.
        Board = "board",
    }
}

impl ThrottleCause {
    /// Returns the causes that hold, in their order.
    pub fn from_flags(power: bool, heat: bool, board: bool) -> Vec<Self> {
        let held = [power, heat, board].into_iter().zip(Self::ALL);
        held.filter_map(|(held, cause)| held.then_some(cause)).collect()
    }
}
