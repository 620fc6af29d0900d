//! What was seen of the GPUs and of the container while steps measured. Pure: the sensors are
//! `host`'s, the file is the runner's.
//!
//! - [`reading`]: what one sample of a GPU or of the container gives.
//! - [`table`]: the rows of `telemetry.csv`, written and read.
//! - [`rate`]: how often sensors are read, so that a file of twelve hours stays small.
//! - [`summary`]: what the rows say of one measurement.
//! - [`machines`]: what was seen on several machines, as one.
//! - [`idle`]: whether the GPUs worked at all.
//! - [`live`]: the latest sample in a few words.

pub mod idle;
pub mod live;
pub mod machines;
pub mod rate;
pub mod reading;
mod series;
pub mod summary;
pub mod table;

pub use idle::Idle;
pub use live::Live;
pub use machines::MachineSummary;
pub use rate::Pace;
pub use reading::{Cause, ContainerReading, GpuReading};
pub use summary::{PerJoule, Summary};
pub use table::{Measured, Of, Row};

#[cfg(test)]
mod tests;
