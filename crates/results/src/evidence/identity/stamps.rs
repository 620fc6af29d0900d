//! Points in time that a line states, in the spellings of logs: they tell when it was measured, and not what.

use std::ops::Range;
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use regex::bytes::{Captures, Regex};

/// `2026-03-02 10:17:07`, `2026/03/02T10:17:07`, `20260302-101707`, `10:17:07`; seconds or milliseconds since 1970
/// only after a name of a time, since a duration or a size may have as many digits.
static TIMESTAMP_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let date = r"(?P<year>20\d\d)(?:[-/](?P<month>\d\d)[-/](?P<day>\d\d)[T _](?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)";
    let compact =
        r"|(?P<month2>\d\d)(?P<day2>\d\d)[-_T](?P<hour2>\d\d)(?P<minute2>\d\d)(?P<second2>\d\d))";
    let clock = r"|(?P<clock>[01]\d|2[0-3]):[0-5]\d:[0-5]\d";
    let named = r"(?i-u:time_?stamp|(?:start|end|unix|date)_?time|(?:start|finish)ed(?:_at)?|date|time_ms|ts)";
    let since_1970 =
        r"[\x22']?\s*[:=]\s*[\x22']?(?P<seconds>1[4-9]\d{8}|2[01]\d{8})(?:\d{3}|\.\d+)?";
    let text = format!(
        r"(?:(?-u:\b)(?:{date}{compact}{clock})(?:[.,]\d{{3,9}}(?-u:\b))?|(?:(?-u:\b)|_){named}{since_1970})(?:Z|(?-u:\b))"
    );
    Regex::new(&text).ok()
});

/// Words before a time that is not the run's: of a build, a release.
static OTHER_TIME_PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i-u)(?:buil[dt]|compil|version|release|copyright|modified|creat)").ok()
});

/// Maximum number of bytes between such a word and a time.
const MAX_WORD_DISTANCE_BYTES: usize = 30;

/// A line without the points in time that it states.
#[derive(Default)]
pub(crate) struct StampedLine {
    pub rest: Vec<u8>,
    /// The latest date and time of the run; one without a zone counts as UTC.
    pub latest: Option<Timestamp>,
    /// It states a date or a time of day, and not only what may be a duration of less than an hour.
    pub has_moment: bool,
}

/// Separates the points in time of a line from the rest.
pub(crate) fn split_stamps(line: &[u8]) -> StampedLine {
    let mut split = StampedLine::default();
    let mut end = 0;
    let all = TIMESTAMP_PATTERN.as_ref().into_iter().flat_map(|stamp| stamp.captures_iter(line));
    for captures in all {
        let Some(stamp) = captures.get(0).filter(|stamp| !is_address(line, stamp.range())) else {
            continue;
        };
        split.rest.extend_from_slice(&line[end..stamp.start()]);
        end = stamp.end();
        if let Some(hour) = captures.name("clock") {
            split.has_moment |= hour.as_bytes() != b"00";
        } else if is_of_run(line, stamp.start()) {
            split.latest = split.latest.max(to_timestamp(&captures));
        }
    }
    split.rest.extend_from_slice(&line[end..]);
    split.has_moment |= split.latest.is_some();
    split
}

/// Returns whether a time of day goes on as the address of a network card does.
fn is_address(line: &[u8], range: Range<usize>) -> bool {
    line[..range.start].ends_with(b":") && !line[..range.start].ends_with(b"\":")
        || line[range.end..].starts_with(b":")
            && line.get(range.end + 1).is_some_and(u8::is_ascii_hexdigit)
}

/// Returns whether no word before a time says that it is of a build or a release: in the same line, and in JSON under
/// the same key.
fn is_of_run(line: &[u8], begin: usize) -> bool {
    let before = &line[begin.saturating_sub(MAX_WORD_DISTANCE_BYTES)..begin];
    let mut words = before.rsplit(|byte| b",{".contains(byte));
    let is_other = |words| OTHER_TIME_PATTERN.as_ref().is_some_and(|other| other.is_match(words));
    !words.next().is_some_and(is_other)
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
    #[case("2026-03-02 10:17:07 to 2026-03-02 10:18:00", Some("2026-03-02T10:18:00Z"))]
    #[case("parameters: 1772446627", None)]
    #[case("speed: 101 items/s, 2026-03-02", None)]
    #[case("elapsed 00:12:07", None)]
    #[case("built on 2026-03-02 10:17:07", None)]
    #[case(r#"{"version": "5", "date": "2026-03-02T10:17:07Z"}"#, Some("2026-03-02T10:17:07Z"))]
    #[case("2026-13-02 10:17:07", None)]
    fn times_of_a_run_are_found(#[case] text: &str, #[case] expected: Option<&str>) {
        let expected = expected.map(|time| time.parse().unwrap());
        assert_eq!(split_stamps(text.as_bytes()).latest, expected);
    }

    #[rstest]
    #[case("[2026-03-02 10:17:07,123] pace: 1500.5", "[] pace: 1500.5", true)]
    #[case("10:17:07 pace: 1500.5", " pace: 1500.5", true)]
    #[case("after 00:02:07: 1500.5", "after : 1500.5", false)]
    #[case("2026-03-02T10:17:07Z,1500.5", ",1500.5", true)]
    #[case("mac 10:17:07:5a:22:11", "mac 10:17:07:5a:22:11", false)]
    fn points_in_time_are_no_content(
        #[case] text: &str,
        #[case] rest: &str,
        #[case] has_moment: bool,
    ) {
        let split = split_stamps(text.as_bytes());
        assert_eq!((split.rest.as_slice(), split.has_moment), (rest.as_bytes(), has_moment));
    }
}
