//! The time limit of a job. Pure.

use std::time::Duration;

use super::Site;

/// The time for downloads, and for a node that is slower than the published one.
const RESERVE_TIME: Duration = Duration::from_hours(1);
/// How long before its limit a job is warned: enough to end a benchmark, save its evidence and remove its
/// container.
const WARNING_TIME: Duration = Duration::from_mins(2);

/// The time limit: the site's, else one and a half times the expected duration plus an hour. None if neither is
/// known. `trials` is the maximum number of trials of each performance measurement.
pub fn job_time_limit(site: &Site, expected: Option<Duration>, trials: u32) -> Option<Duration> {
    site.time_limit.or_else(|| {
        Some(expected?.saturating_mul(trials.max(1)).saturating_mul(3) / 2 + RESERVE_TIME)
    })
}

/// Formats it for `--time`: `4:00:00`; rounded up to a whole minute, which is Slurm's unit.
pub fn format_slurm_time(limit: Duration) -> String {
    let minutes = limit.as_secs().div_ceil(60);
    format!("{}:{:02}:00", minutes / 60, minutes % 60)
}

/// Returns how long before the limit a job gets TERM, seconds; at most half of its time.
pub fn warning_time_s(limit: Duration) -> u64 {
    WARNING_TIME.min(limit / 2).as_secs()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(60, "0:01:00", 30)]
    #[case(61, "0:02:00", 30)]
    #[case(14_400, "4:00:00", 120)]
    #[case(129_600, "36:00:00", 120)]
    fn limits_in_slurms_words(#[case] seconds: u64, #[case] time: &str, #[case] warning: u64) {
        let limit = Duration::from_secs(seconds);
        assert_eq!(format_slurm_time(limit), time);
        assert_eq!(warning_time_s(limit), warning);
    }
}
