//! A power meter's log of a performance run: `spl.txt` of SPEC's `PTDaemon`, a line a second.
//!
//! MLCommons publishes the mean of the samples between `power_begin` and `power_end` of LoadGen's
//! detail log, in watts, for Offline and Server, and the energy of a query for the others.

pub mod ptd_log;
pub mod ranging;
pub mod session;

use jiff::civil::DateTime;
use jiff::fmt::strtime;

use super::check::RuleCheck;
use retrial_readings::lines::LineSplitter;
use retrial_readings::number::format_grouped;

/// A line has at most a few channels.
const MAX_LINE_BYTES: usize = 4096;
/// The meter is read once a second; while it changes its range, it has no value.
const MIN_SAMPLES_PER_SECOND: f64 = 0.9;

/// Parses a moment as LoadGen and the meter write it: `07-15-2024 23:40:08.786`, in local time.
pub fn parse_moment(text: &str) -> Option<DateTime> {
    let read = strtime::parse("%m-%d-%Y %H:%M:%S%.f", text.trim()).ok()?;
    read.to_datetime().ok()
}

/// The samples of a span of time, as they come.
#[derive(Debug, Clone)]
pub struct PowerMeter {
    span: (DateTime, DateTime),
    splitter: LineSplitter,
    sum: SampleSum,
}

#[derive(Debug, Clone, Copy, Default)]
struct SampleSum {
    samples: u64,
    inside: u32,
    watts: f64,
}

/// The summary of a meter's samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerSummary {
    /// Samples, of any time.
    pub samples: u64,
    /// Those within the span.
    pub inside: u32,
    /// Their mean, watts; none where there is none.
    pub mean_w: Option<f64>,
    /// The seconds of the span.
    pub seconds: f64,
}

impl PowerSummary {
    /// Warns of a meter that was not read during all of the span: its mean is that of a part of the run.
    pub fn check_coverage(&self) -> Option<RuleCheck> {
        let required = self.seconds * MIN_SAMPLES_PER_SECOND;
        (f64::from(self.inside) < required).then(|| {
            let measured = format!("{} samples", self.inside);
            let seconds = format_grouped(self.seconds);
            RuleCheck::warning(
                "samples of the meter",
                measured,
                format!("one for each of {seconds} s"),
            )
        })
    }
}

impl PowerMeter {
    pub fn for_interval(from: DateTime, to: DateTime) -> Self {
        Self {
            span: (from, to),
            splitter: LineSplitter::with_limit(MAX_LINE_BYTES),
            sum: SampleSum::default(),
        }
    }

    /// Reads the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.splitter.push(bytes, |line| self.sum.add_line(&line.text, self.span));
    }

    /// Summarizes them. A last line without its end was truncated, and does not count.
    pub fn finish(self) -> PowerSummary {
        let sum = self.sum;
        let (from, to) = self.span;
        PowerSummary {
            samples: sum.samples,
            inside: sum.inside,
            seconds: to.duration_since(from).as_secs_f64(),
            mean_w: (sum.inside > 0).then(|| sum.watts / f64::from(sum.inside)),
        }
    }
}

impl SampleSum {
    /// Adds a line of the log: `Time,07-15-2024 23:37:18.249,Watts,2358.000000,Volts,…`.
    fn add_line(&mut self, line: &str, (from, to): (DateTime, DateTime)) {
        let mut fields = line.split(',');
        if fields.next() != Some("Time") {
            return;
        }
        let (time, watts) = (fields.next().and_then(parse_moment), fields.nth(1));
        let measured_watts: Option<f64> = watts.and_then(|watts| watts.trim().parse().ok());
        let (Some(time), Some(watts)) = (time, measured_watts) else {
            return;
        };
        self.samples += 1;
        // A meter that changes its range writes -1.
        if from < time && time < to && watts > 0.0 && watts.is_finite() {
            self.inside += 1;
            self.watts += watts;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> PowerSummary {
        let at = |text| parse_moment(text).unwrap();
        let mut meter =
            PowerMeter::for_interval(at("07-15-2024 23:40:08.786"), at("07-15-2024 23:40:11.000"));
        for byte in text.as_bytes().chunks(7) {
            meter.push(byte);
        }
        meter.finish()
    }

    #[test]
    fn only_samples_within_the_interval_are_used() {
        let power = read(
            "Time,07-15-2024 23:40:08.249,Watts,9000.0,Volts,239.19,Ch1,Watts,795.3\n\
             Time,07-15-2024 23:40:09.249,Watts,2358.000000,Volts,239.19,Ch1,Watts,795.3\n\
             Time,07-15-2024 23:40:10.249,Watts,2361.0,Volts,239.19\n\
             Time,07-15-2024 23:40:10.749,Watts,-1.0,Volts,239.19\n\
             Time,07-15-2024 23:40:11.249,Watts,9000.0,Volts,239.19\n",
        );
        assert_eq!(power.samples, 5);
        assert_eq!(power.mean_w, Some(2359.5));
        assert_eq!((power.inside, power.check_coverage()), (2, None));
        assert!(
            read("Time,07-15-2024 23:40:09.249,Watts,2358.0,Volts,1\n").check_coverage().is_some()
        );
    }

    #[test]
    fn lines_that_are_not_samples_are_skipped() {
        let power = read(
            "nothing\nTime,soon,Watts,1.0\nTime,07-15-2024 23:40:09.249,Watts,nan\n\
             Time,07-15-2024 23:40:09.249\nTime,07-15-2024 23:40:10.0,Watts,23",
        );
        assert_eq!((power.samples, power.mean_w), (1, None));
    }
}
