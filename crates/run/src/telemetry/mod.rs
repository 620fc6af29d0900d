//! Telemetry of the steps that measure, written to `telemetry.csv` as it is sampled. A slow sensor delays neither
//! a step nor the end of a run. What the samples mean is decided by `retrial_telemetry`.

mod record;
mod recorder;

pub use recorder::{TelemetryRecorder, with_peer_telemetry};
