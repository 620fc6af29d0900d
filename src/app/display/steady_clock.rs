//! The clock of a display: durations are differences of its times, also after the wall clock was set.

use jiff::Timestamp;

use retrial_store::clock::Moment;
use retrial_store::journal::Event;

/// A clock that starts with the wall clock's time and then counts monotonically.
#[derive(Debug, Clone)]
pub struct SteadyClock {
    anchor: Moment,
}

impl SteadyClock {
    /// Starts with the wall clock's time.
    pub fn start() -> Self {
        let anchor = Moment::now();
        Self { anchor }
    }

    /// Returns the time at the start plus what has passed since, however the wall clock was set.
    pub fn now(&self) -> Timestamp {
        Moment::now().to_clock_of(&self.anchor)
    }

    /// Returns an event with its time on this clock.
    pub fn retime_event(&self, event: &Event) -> Event {
        Event { time: event.moment().to_clock_of(&self.anchor), ..event.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retrial_store::clock::BootMoment;
    use retrial_store::journal::EventKind;

    #[test]
    fn an_event_after_the_clock_was_set_back_is_shown_after_those_before() {
        let clock = SteadyClock::start();
        let mut event = Event::new("local", None, EventKind::CheckReset);
        event.time = clock.anchor.time - jiff::SignedDuration::from_hours(3);
        let BootMoment { boot, uptime_s } = clock.anchor.since_boot.clone().unwrap();
        let uptime_s = uptime_s + 60.0;
        event.since_boot = Some(BootMoment { boot, uptime_s });
        let shown = clock.retime_event(&event).time;
        let after = shown.duration_since(clock.anchor.time).as_secs_f64();
        assert!((after - 60.0).abs() < 0.01, "{after}");
    }
}
