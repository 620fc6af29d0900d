//! Points in time that a text states, in the spellings of logs.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use regex::bytes::{Captures, Regex};

/// `2026-03-02 10:17:07`, `2026/03/02T10:17:07`, `20260302-101707`; seconds or milliseconds since 1970 only
/// after a name of a time, since a duration or a size may have as many digits.
static TIMESTAMP_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let date = r"(?P<year>20\d\d)(?:[-/](?P<month>\d\d)[-/](?P<day>\d\d)[T _](?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)";
    let compact =
        r"|(?P<month2>\d\d)(?P<day2>\d\d)[-_T](?P<hour2>\d\d)(?P<minute2>\d\d)(?P<second2>\d\d))";
    let named = r"(?i-u:time_?stamp|(?:start|end|unix|date)_?time|(?:start|finish)ed(?:_at)?|date|time_ms|ts)";
    let since_1970 =
        r"[\x22']?\s*[:=]\s*[\x22']?(?P<seconds>1[4-9]\d{8}|2[01]\d{8})(?:\d{3}|\.\d+)?";
    let text =
        format!(r"(?:(?-u:\b){date}{compact}|(?:(?-u:\b)|_){named}{since_1970})(?:Z|(?-u:\b))");
    Regex::new(&text).ok()
});

/// Words before a time that is not the run's: of a build, a release.
static OTHER_TIME_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i-u)(?:buil[dt]|compil|version|release|copyright|modified|creat)").ok()
});

/// Maximum number of bytes between such a word and a time.
const MAX_WORD_DISTANCE_BYTES: usize = 30;

/// Returns the latest point in time that a text states; one without a zone counts as UTC.
pub(super) fn latest_time(text: &[u8]) -> Option<Timestamp> {
    let (stamp, other) = (TIMESTAMP_PATTERN.as_ref()?, OTHER_TIME_PATTERN.as_ref()?);
    let of_run = stamp.captures_iter(text).filter(|captures| {
        let begin = captures.get(0).map_or(0, |whole| whole.start());
        let before = &text[begin.saturating_sub(MAX_WORD_DISTANCE_BYTES)..begin];
        // In the same line, and in JSON under the same key.
        let words = before.rsplit(|byte| b"\n,{".contains(byte)).next();
        !words.is_some_and(|words| other.is_match(words))
    });
    of_run.filter_map(|captures| to_timestamp(&captures)).max()
}

fn to_timestamp(captures: &Captures<'_>) -> Option<Timestamp> {
    let number = |name: &str| -> Option<i64> {
        let digits = captures.name(name)?.as_bytes();
        str::from_utf8(digits).ok()?.parse().ok()
    };
    if let Some(seconds) = number("seconds") {
        return Timestamp::from_second(seconds).ok();
    }
    let part = |name: &str| {
        let value = number(name).or_else(|| number(&format!("{name}2")))?;
        i8::try_from(value).ok()
    };
    let time = DateTime::new(
        i16::try_from(number("year")?).ok()?,
        part("month")?,
        part("day")?,
        part("hour")?,
        part("minute")?,
        part("second")?,
        0,
    );
    Some(time.ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("2026-03-02 10:17:07 start, pid 401", Some("2026-03-02T10:17:07Z"))]
    #[case("[2026/03/02 10:17:07.123] INFO", Some("2026-03-02T10:17:07Z"))]
    #[case(r#"{"date": "20260302-101707"}"#, Some("2026-03-02T10:17:07Z"))]
    #[case(r#""time_ms": 1772446627000, "#, Some("2026-03-02T10:17:07Z"))]
    #[case("started: 1772446627.25", Some("2026-03-02T10:17:07Z"))]
    #[case(r#"{"job_start_time": 1772446627}"#, Some("2026-03-02T10:17:07Z"))]
    #[case("requests: 1612345678", None)]
    #[case(r#"{"total_time_ns": 1612345678901, "end_to_end": 1612345678}"#, None)]
    #[case("throughput: 1612345678.25 B/s", None)]
    #[case(r#"{"start_time": 1772446627, "speed": 5}"#, Some("2026-03-02T10:17:07Z"))]
    #[case("2026-03-02 10:17:07\n2026-03-02 10:18:00\n", Some("2026-03-02T10:18:00Z"))]
    #[case("parameters: 1772446627", None)]
    #[case("speed: 101 items/s, 2026-03-02", None)]
    #[case("elapsed 00:12:07", None)]
    #[case("built on 2026-03-02 10:17:07", None)]
    #[case(r#"{"version": "5", "date": "2026-03-02T10:17:07Z"}"#, Some("2026-03-02T10:17:07Z"))]
    #[case("2026-13-02 10:17:07", None)]
    #[case("Version 3\n2026-03-02 10:17:07", Some("2026-03-02T10:17:07Z"))]
    fn times_of_a_run_are_found(#[case] text: &str, #[case] expected: Option<&str>) {
        let expected = expected.map(|time| time.parse().unwrap());
        assert_eq!(latest_time(text.as_bytes()), expected);
    }
}
