//! When `LoadGen` measured, on the clock of this machine.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use retrial_mlperf::loadgen::LoadgenRun;

/// Time zones differ by whole quarters of an hour.
const ZONE_STEP_S: i64 = 900;

/// Returns the time in which `LoadGen` measured, without loading and warming up before and accuracy's logging after it.
/// Its `power_begin` is in the container's local time; which zone that is shows in the log's own
/// beginning, which is in UTC and at most a few minutes earlier.
pub fn measured_window(run: &LoadgenRun) -> Option<(Timestamp, Timestamp)> {
    let detail = run.detail.as_ref().filter(|detail| detail.tests <= 1)?;
    let local = DateTime::strptime("%m-%d-%Y %H:%M:%S%.f", detail.power_begin.as_ref()?).ok()?;
    let as_if_utc = local.to_zoned(TimeZone::UTC).ok()?.timestamp();
    let log_began = detail.started_at?;
    let apart = as_if_utc.duration_since(log_began);
    // Its own start is logged in whole seconds.
    let after = (apart.as_millis() + 1000).rem_euclid(i128::from(ZONE_STEP_S) * 1000) - 1000;
    let after = SignedDuration::from_millis(i64::try_from(after).ok()?);
    let begin = log_began.checked_add(after).ok()?;
    let measured = SignedDuration::from_millis(detail.measured_ms.filter(|ms| *ms > 0)?);
    Some((begin, begin.checked_add(measured).ok()?))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use retrial_mlperf::loadgen::LoadgenDetail;

    #[rstest]
    #[case("06-15-2025 10:00:01.250", "2025-06-15T10:00:01.25Z")]
    #[case("06-15-2025 18:00:01.250", "2025-06-15T10:00:01.25Z")]
    #[case("06-15-2025 15:45:00.900", "2025-06-15T10:00:00.9Z")]
    #[case("06-15-2025 09:59:59.500", "2025-06-15T09:59:59.5Z")]
    #[case("06-14-2025 22:04:00.000", "2025-06-15T10:04:00Z")]
    fn the_time_zone_is_derived_from_the_log_start(#[case] power_begin: &str, #[case] begin: &str) {
        let run = LoadgenRun {
            detail: Some(LoadgenDetail {
                started_at: "2025-06-15T10:00:00Z".parse().ok(),
                power_begin: Some(power_begin.to_owned()),
                measured_ms: Some(600_000),
                ..LoadgenDetail::default()
            }),
            ..LoadgenRun::default()
        };
        let (from, to) = measured_window(&run).unwrap();
        assert_eq!(from, begin.parse().unwrap());
        assert_eq!(to.duration_since(from).as_secs(), 600);
    }

    #[test]
    fn without_a_start_there_is_no_window() {
        assert_eq!(measured_window(&LoadgenRun::default()), None);
    }
}
