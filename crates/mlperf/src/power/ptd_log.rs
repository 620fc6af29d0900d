//! `ptd_logs.txt`, the log of SPEC's `PTDaemon`: its errors, and whether it watched its uncertainty.

use jiff::civil::DateTime;
use jiff::fmt::strtime;

use crate::check::RuleCheck;

/// An error of the connection that the official tool lets pass.
const ACCEPTED_ERROR: &str = "USB.";

/// Checks the log of a session by its name.
pub fn check_meter_log(log: &str, session: &str) -> Vec<RuleCheck> {
    let lines: Vec<(Option<DateTime>, &str)> = log.lines().map(split_time).collect();
    let begin = format!(": Go with mark '{session}_ranging'");
    let other = format!(": Go with mark \"{session}_ranging\"");
    let start = lines.iter().position(|(_, text)| *text == begin || *text == other);
    let end = start.and_then(|start| {
        let after = lines[start..].iter();
        let completed = after.clone().position(|(_, text)| *text == ": Completed test");
        completed.map(|end| start + end)
    });
    let time = |at: Option<usize>| lines.get(at?)?.0;
    let rule = "ranging in ptd_logs.txt";
    let Some((start, end)) = time(start).zip(time(end)) else {
        let required = "from `Go with mark` to `Completed test`";
        return vec![RuleCheck::violation(rule, "not found", required)];
    };
    let activated = lines.iter().find(|(_, text)| {
        text.contains("Uncertainty checking for Yokogawa") && text.contains("is activated")
    });
    let is_early = activated.is_some_and(|(time, _)| time.is_some_and(|time| time < start));
    let measured = match activated {
        Some(_) if is_early => "activated before ranging",
        Some(_) => "activated after ranging began",
        None => "not activated",
    };
    let is_outside = |time: Option<DateTime>| time.is_none_or(|time| time <= start || time >= end);
    let error_lines = lines.iter().filter_map(|(time, text)| {
        let (_, error) = text.split_once("ERROR:")?;
        let error_text = error.trim();
        (error_text != ACCEPTED_ERROR && is_outside(*time)).then_some(error_text)
    });
    let errors: Vec<&str> = error_lines.collect();
    let first = errors.first().copied().unwrap_or("none");
    let (rule, required) = ("errors of the power meter", "none after ranging");
    vec![
        RuleCheck::new(
            "uncertainty of the power meter",
            measured,
            "activated before ranging",
            is_early,
        ),
        if errors.is_empty() {
            RuleCheck::new(rule, first, required, true)
        } else {
            // The official tool stops at the first warning, and nine published logs of v5.1 have
            // such errors behind one.
            RuleCheck::warning(rule, first, required)
        },
    ]
}

/// `07-15-2024 23:37:18.249: Completed test`: when a line was written, and the rest.
fn split_time(line: &str) -> (Option<DateTime>, &str) {
    const LENGTH: usize = "07-15-2024 23:37:18.249".len();
    let split = line.split_at_checked(LENGTH);
    let read = split.and_then(|(time, rest)| {
        let read = strtime::parse("%m-%d-%Y %H:%M:%S%.f", time).ok()?;
        Some((Some(read.to_datetime().ok()?), rest.trim()))
    });
    read.unwrap_or((None, line.trim()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const LOG: &str = "SPEC PTDaemon Tool\n\
        01-01-2026 12:00:00.000: Uncertainty checking for YokogawaWT310E is activated\n\
        01-01-2026 12:00:05.000: Go with mark 's_ranging'\n\
        01-01-2026 12:00:06.000: ERROR: Bad watts reading nan from YokogawaWT310E\n\
        01-01-2026 12:10:05.000: Completed test\n\
        01-01-2026 12:10:09.000: Go with mark 's_testing'\n\
        01-01-2026 12:10:10.000: ERROR: USB.\n\
        01-01-2026 12:20:09.000: Completed test\n";

    #[rstest]
    #[case("", "", &[])]
    #[case("ERROR: USB.", "ERROR: Timeout", &["errors of the power meter"])]
    #[case("is activated", "is off", &["uncertainty of the power meter"])]
    #[case("12:00:00.000", "12:00:07.000", &["uncertainty of the power meter"])]
    #[case("s_ranging", "t_ranging", &["ranging in ptd_logs.txt"])]
    #[case("Completed test", "Completed", &["ranging in ptd_logs.txt"])]
    fn the_log_of_a_session_is_checked(
        #[case] from: &str,
        #[case] to: &str,
        #[case] violated: &[&str],
    ) {
        let log = LOG.replace(from, if from.is_empty() { from } else { to });
        let checks = check_meter_log(&log, "s");
        let failed = checks.iter().filter(|check| check.is_notable());
        let failed: Vec<&str> = failed.map(|check| check.rule.as_str()).collect();
        assert_eq!(failed, violated);
    }
}
