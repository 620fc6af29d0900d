//! Moments that stay comparable when the wall clock is set: on one boot of a machine durations are differences
//! of the clock that runs since the boot. The wall clock serves display, and moments of different boots or
//! machines.

use std::fs;
use std::sync::LazyLock;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// The identity of this boot. Empty if it is unknown: then only the wall clock compares moments.
static CURRENT_BOOT: LazyLock<String> = LazyLock::new(|| {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    // A time namespace has clocks of its own.
    let namespace = |name| fs::read_link(format!("/proc/self/ns/{name}")).ok();
    let initial = namespace("time").filter(|link| link.as_os_str() != INITIAL_TIME_NAMESPACE);
    let namespace = initial.map_or_else(String::new, |link| format!("/{}", link.display()));
    match id.trim() {
        "" => String::new(),
        id => format!("{id}{namespace}"),
    }
});

/// The kernel's own time namespace (`PROC_TIME_INIT_INO`).
const INITIAL_TIME_NAMESPACE: &str = "time:[4026531834]";

/// The least by which a clock that was set differs: one that is synchronized is slowed and sped up.
pub const MIN_CLOCK_STEP: SignedDuration = SignedDuration::from_secs(1);

/// The identity of this machine's boot, and of the time namespace of this process.
pub(crate) fn current_boot() -> &'static str {
    &CURRENT_BOOT
}

/// A moment on the clock of a boot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BootMoment {
    /// The id of the boot, with the time namespace if it is not the kernel's own.
    pub boot: String,
    /// Seconds since it, including suspended ones.
    pub uptime_s: f64,
}

impl BootMoment {
    /// Returns the current moment; none if the boot is unknown.
    pub fn now() -> Option<Self> {
        let uptime = Duration::try_from(clock_gettime(ClockId::Boottime)).ok()?;
        (!current_boot().is_empty()).then(|| Self {
            boot: current_boot().to_owned(),
            uptime_s: (uptime.as_secs_f64() * 1e6).round() / 1e6,
        })
    }
}

/// A moment, on the wall clock and on that of its boot.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The time on the wall clock.
    pub time: Timestamp,
    /// The clock of the boot; none of a moment that was recorded without it.
    pub since_boot: Option<BootMoment>,
}

impl Moment {
    /// Returns the current moment on both clocks.
    pub fn now() -> Self {
        Self { time: Timestamp::now(), since_boot: BootMoment::now() }
    }

    /// Returns the time from this moment to a later one, at least 0.
    pub fn duration_until(&self, later: &Self) -> Duration {
        match (&self.since_boot, &later.since_boot) {
            (Some(from), Some(to)) if from.boot == to.boot => {
                Duration::try_from_secs_f64(to.uptime_s - from.uptime_s).unwrap_or_default()
            }
            _ => {
                let apart = later.time.duration_since(self.time);
                Duration::try_from(apart).unwrap_or_default()
            }
        }
    }

    /// Returns the time since this moment.
    pub fn age(&self) -> Duration {
        self.duration_until(&Self::now())
    }

    /// Returns the time that the wall clock would have shown, had it been set as at the anchor.
    pub fn to_clock_of(&self, anchor: &Self) -> Timestamp {
        let (Some(own), Some(other)) = (&self.since_boot, &anchor.since_boot) else {
            return self.time;
        };
        let apart = SignedDuration::try_from_secs_f64(own.uptime_s - other.uptime_s);
        let adjusted = apart.ok().and_then(|apart| anchor.time.checked_add(apart).ok());
        let is_step = |time: &Timestamp| time.duration_since(self.time).abs() >= MIN_CLOCK_STEP;
        let time = adjusted.filter(|time| own.boot == other.boot && is_step(time));
        time.unwrap_or(self.time)
    }

    /// The earliest and the latest that the wall clock showed from this moment to a later one, if it was set at
    /// most once in between: a program's own times lie in this span.
    pub fn wall_clock_span(&self, later: &Self) -> (Timestamp, Timestamp) {
        let (early, late) = (self.to_clock_of(later), later.to_clock_of(self));
        (self.time.min(early), later.time.max(late))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(time: &str, boot: &str, uptime_s: f64) -> Moment {
        let boot = boot.to_owned();
        Moment { time: time.parse().unwrap(), since_boot: Some(BootMoment { boot, uptime_s }) }
    }

    #[test]
    fn a_step_of_the_wall_clock_does_not_change_a_duration() {
        let started = moment("2026-03-02T10:00:00Z", "a", 500.0);
        for shown in ["2026-03-02T13:10:00Z", "2026-03-02T07:10:00Z"] {
            let now = moment(shown, "a", 1100.0);
            assert_eq!(started.duration_until(&now), Duration::from_mins(10), "{shown}");
            assert_eq!(now.duration_until(&started), Duration::ZERO, "{shown}");
        }
    }

    #[test]
    fn moments_of_two_boots_are_compared_by_the_wall_clock() {
        let started = moment("2026-03-02T10:00:00Z", "a", 500.0);
        let now = moment("2026-03-02T10:10:00Z", "b", 30.0);
        assert_eq!(started.duration_until(&now), Duration::from_mins(10));
        assert_eq!(now.duration_until(&started), Duration::ZERO);
    }

    #[test]
    fn the_wall_span_has_what_the_clock_showed_before_and_after_it_was_set() {
        let started = moment("2026-03-02T10:00:00Z", "a", 500.0);
        let back = moment("2026-03-02T07:10:00Z", "a", 1100.0);
        let expected = ("2026-03-02T07:00:00Z", "2026-03-02T10:10:00Z");
        let (from, to) = started.wall_clock_span(&back);
        assert_eq!((from, to), (expected.0.parse().unwrap(), expected.1.parse().unwrap()));
        let forth = moment("2026-03-02T13:10:00Z", "a", 1100.0);
        let (from, to) = started.wall_clock_span(&forth);
        assert_eq!((from, to), (started.time, forth.time));
    }

    #[test]
    fn moments_are_shown_on_one_setting_of_the_clock() {
        let started = moment("2026-03-02T10:00:00Z", "a", 500.0);
        let now = moment("2026-03-02T13:10:00Z", "a", 1100.0);
        assert_eq!(started.to_clock_of(&now), "2026-03-02T13:00:00Z".parse().unwrap());
        let other = moment("2026-03-02T13:10:00Z", "b", 1100.0);
        assert_eq!(started.to_clock_of(&other), started.time);
    }

    #[test]
    fn this_boot_has_a_clock_that_moves() {
        let first = Moment::now();
        assert!(first.since_boot.is_some());
        std::thread::sleep(Duration::from_millis(5));
        assert!(first.age() >= Duration::from_millis(5));
        assert!(first.age() < Duration::from_mins(1));
    }
}
