//! How often sensors are read. A step of twelve hours needs no sample a second: after every
//! [`BEFORE_SLOWER`] samples the pause doubles, so that samples grow with the logarithm of the time.
//! Samples that cost much are taken less often: eight GPUs' drivers take longer than one's.

use std::time::Duration;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

/// Samples at one pause before it doubles: half an hour of seconds.
pub const BEFORE_SLOWER: u32 = 1800;
/// The longest pause.
const LONGEST: Duration = Duration::from_mins(2);
/// The pause is at least so many times what a sample costs: 0.7 % of one core, so that with waking up
/// and writing down, which nobody times, it stays under 1 %.
const COST: u32 = 140;
/// Bytes after which nothing more is written, whatever happens: a plan of hundreds of trials.
pub const MOST_BYTES: u64 = 64 << 20;

/// How often a run samples, as its plan keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Interval {
    /// Milliseconds between two samples at a step's beginning; 0: nothing is watched.
    pub ms: u64,
}

impl Default for Interval {
    fn default() -> Self {
        Self { ms: 1000 }
    }
}

impl Interval {
    /// Nothing is watched.
    pub const OFF: Self = Self { ms: 0 };

    /// The pause; none where nothing is watched.
    pub fn pause(self) -> Option<Duration> {
        (self.ms > 0).then(|| Duration::from_millis(self.ms))
    }

    /// Reads `1s`, `500ms`, `2m`, `off`. Under a tenth of a second the watching itself would cost.
    ///
    /// # Errors
    /// A sentence on what it is not.
    pub fn read(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Self::OFF);
        }
        let pause: Option<SignedDuration> = text.parse().ok();
        let ms = pause.and_then(|pause| u64::try_from(pause.as_millis()).ok());
        ms.filter(|ms| (100..=600_000).contains(ms))
            .map(|ms| Self { ms })
            .ok_or_else(|| "between 100ms and 10m, or off".to_owned())
    }
}

/// The pauses of one step.
#[derive(Debug, Clone)]
pub struct Pace {
    pause: Duration,
    samples: u32,
    /// Processor time of all samples but the first, which opens the sensors.
    spent: Duration,
    counted: u32,
    first: bool,
}

impl Pace {
    /// Begins with this pause.
    pub fn new(pause: Duration) -> Self {
        Self {
            pause,
            samples: 0,
            spent: Duration::ZERO,
            counted: 0,
            first: true,
        }
    }

    /// How long to wait before the next sample.
    pub fn pause(&self) -> Duration {
        let each = self.spent.checked_div(self.counted).unwrap_or_default();
        self.pause.max(each.saturating_mul(COST))
    }

    /// One more sample was taken, which took so much of a processor's time.
    pub fn sampled(&mut self, cost: Duration) {
        if !std::mem::take(&mut self.first) {
            self.spent += cost;
            self.counted += 1;
        }
        self.samples += 1;
        if self.samples >= BEFORE_SLOWER && self.pause < LONGEST {
            self.pause = (self.pause * 2).min(LONGEST);
            self.samples = 0;
        }
    }
}
