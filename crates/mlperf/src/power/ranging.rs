//! The run that is published against the run before it, by which the meter's ranges were chosen.

use jiff::civil::DateTime;

use super::session::{PowerSession, phase_moments};
use crate::check::RuleCheck;
use retrial_readings::number::{format_figure, format_percent};

/// By how much less power the published run may take, a share.
const MAX_POWER_DEFICIT: f64 = 0.05;
/// A log's local time may lag an hour behind where summer time is on.
const SUMMER_TIME_S: f64 = 3600.0;

/// Checks that the run took no less power than the ranging run, less 5 %: watts on average.
pub fn check_power(ranging: f64, testing: f64) -> RuleCheck {
    let share = testing / ranging - 1.0;
    let measured = format!("{} in the run", format_figure(testing, "W"));
    let required = format!(
        "at most {} below the ranging run's {}",
        format_percent(MAX_POWER_DEFICIT),
        format_figure(ranging, "W")
    );
    let rule = "power of the run and of ranging";
    RuleCheck::new(rule, measured, required, share > -MAX_POWER_DEFICIT)
}

/// Checks that a run's log lies within its phase of the session; none where the phase is not recorded.
pub fn check_phase(
    client: &PowerSession,
    phase: &str,
    (from, to): (DateTime, DateTime),
) -> Option<RuleCheck> {
    let moments = phase_moments(client, phase)?;
    let (begin, end) = (*moments.get(1)?, *moments.get(2)?);
    let seconds = |moment: DateTime| {
        let utc = moment.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(utc.timestamp().as_duration().as_secs_f64())
    };
    let is_inside = |moment: f64| {
        let inside = |moment: f64| begin < moment && moment < end;
        inside(moment) || inside(moment - SUMMER_TIME_S)
    };
    let passed = is_inside(seconds(from)?) && is_inside(seconds(to)?);
    Some(RuleCheck::new(
        format!("log of the {phase} phase"),
        format!("{from} to {to}"),
        "within the phase by client.json",
        passed,
    ))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::power::parse_moment;

    #[rstest]
    #[case(1000.0, 1000.0, true)]
    #[case(1000.0, 951.0, true)]
    #[case(1000.0, 1200.0, true)]
    #[case(1000.0, 949.0, false)]
    fn a_run_of_less_power_than_ranging_is_reported(
        #[case] ranging: f64,
        #[case] testing: f64,
        #[case] passed: bool,
    ) {
        assert_eq!(check_power(ranging, testing).passed, passed);
    }

    #[rstest]
    #[case("01-01-2026 00:00:05.000", "01-01-2026 00:00:15.000", true)]
    // An hour ahead, in summer time.
    #[case("01-01-2026 01:00:05.000", "01-01-2026 01:00:15.000", true)]
    #[case("01-01-2026 00:00:05.000", "01-01-2026 00:00:25.000", false)]
    #[case("12-31-2025 23:59:00.000", "01-01-2026 00:00:15.000", false)]
    fn a_log_lies_within_its_phase(#[case] from: &str, #[case] to: &str, #[case] passed: bool) {
        let start = 1_767_225_600.0;
        let client = json!({"phases": {"testing": [[start - 9.0], [start], [start + 20.0]]}});
        let client = client.as_object().unwrap();
        let span = (parse_moment(from).unwrap(), parse_moment(to).unwrap());
        let check = check_phase(client, "testing", span).unwrap();
        assert_eq!(check.passed, passed, "{check}");
        assert_eq!(check_phase(client, "ranging", span), None);
    }
}
