//! Telemetry of the GPUs and the container during measurements. Pure: the sensors are in `host`, the file in
//! `run`.
//!
//! - [`reading`]: one sample of a GPU or of the container.
//! - [`table`]: the rows of `telemetry.csv`, written and read.
//! - [`rate`]: how often sensors are read, so that a file of twelve hours stays small.
//! - [`summary`]: the summary of one measurement.
//! - [`machines`]: the combination of several machines.
//! - [`idle`]: the detection of idle GPUs.
//! - [`live`]: the latest sample, for display.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod idle;
pub mod live;
pub mod machines;
pub mod rate;
pub mod reading;
mod series;
pub mod summary;
pub mod table;

pub use idle::IdleGpus;
pub use live::LiveSample;
pub use machines::MachineSummary;
pub use rate::SamplingPace;
pub use reading::{ContainerReading, GpuReading, ThrottleCause};
pub use summary::{EnergyEfficiency, TelemetrySummary};
pub use table::{MeasuredTrial, RowSource, TelemetryRow};

#[cfg(test)]
mod tests;
