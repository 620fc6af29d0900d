//! How often sensors are read. A step of twelve hours does not need a sample every second: after every
//! [`SAMPLES_BEFORE_SLOWER`] samples the pause doubles, so that samples grow with the logarithm of the time. Expensive
//! samples are taken less often: eight GPUs take longer than one.

use std::time::Duration;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

/// Samples at one pause before it doubles: half an hour of seconds.
pub const SAMPLES_BEFORE_SLOWER: u32 = 1800;
/// The longest time between two samples.
const MAX_PAUSE: Duration = Duration::from_mins(2);
/// The pause is at least this multiple of a sample's cost: 0.7 % of one core, so that with the untimed wake-up
/// and writing it stays under 1 %.
const MIN_PAUSE_PER_COST: u32 = 140;
/// The maximum size of the file, bytes: for a plan of hundreds of trials.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// The sampling rate of a run, as its plan stores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SamplingInterval {
    /// Milliseconds between two samples at the start of a step; 0: off.
    pub ms: u64,
}

/// A text that is no sampling interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a time between 100ms and 10m, or `off`")]
pub struct InvalidSamplingInterval;

impl Default for SamplingInterval {
    fn default() -> Self {
        Self { ms: 1000 }
    }
}

impl SamplingInterval {
    /// No samples at all: `--telemetry off`.
    pub const OFF: Self = Self { ms: 0 };

    /// The pause; none if sampling is off.
    pub fn initial_pause(self) -> Option<Duration> {
        (self.ms > 0).then(|| Duration::from_millis(self.ms))
    }

    /// Reads `1s`, `500ms`, `2m`, `off`. Under a tenth of a second, sampling itself would have a cost.
    ///
    /// # Errors
    /// The text is none of these, or a time out of range.
    pub fn parse(text: &str) -> Result<Self, InvalidSamplingInterval> {
        if text == "off" {
            return Ok(Self::OFF);
        }
        let pause: Option<SignedDuration> = text.parse().ok();
        let ms = pause.and_then(|pause| u64::try_from(pause.as_millis()).ok());
        ms.filter(|ms| (100..=600_000).contains(ms))
            .map(|ms| Self { ms })
            .ok_or(InvalidSamplingInterval)
    }
}

/// The pauses of one step.
#[derive(Debug, Clone)]
pub struct SamplingPace {
    pause: Duration,
    samples: u32,
    /// Processor time of all samples but the first, which opens the sensors.
    cpu_time: Duration,
    counted: u32,
    first: bool,
}

impl SamplingPace {
    /// Starts with this pause.
    pub fn new(pause: Duration) -> Self {
        Self { pause, samples: 0, cpu_time: Duration::ZERO, counted: 0, first: true }
    }

    /// The time before the next sample.
    pub fn next_pause(&self) -> Duration {
        let each = self.cpu_time.checked_div(self.counted).unwrap_or_default();
        self.pause.max(each.saturating_mul(MIN_PAUSE_PER_COST))
    }

    /// Adds a sample with its CPU time.
    pub fn add_sample(&mut self, cost: Duration) {
        if !std::mem::take(&mut self.first) {
            self.cpu_time += cost;
            self.counted += 1;
        }
        self.samples += 1;
        if self.samples >= SAMPLES_BEFORE_SLOWER && self.pause < MAX_PAUSE {
            self.pause = (self.pause * 2).min(MAX_PAUSE);
            self.samples = 0;
        }
    }
}
