//! OpenSSH's times: `20260401`, `202604010600`, `20260401060000`, each also with `Z` or `UTC`.

use jiff::civil::date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// The step in which C's `mktime` searches for standard time near a summer time, seconds.
const MKTIME_STEP_SECONDS: i64 = 601_200;
/// The largest distance of that search, seconds.
const MAX_MKTIME_DISTANCE_SECONDS: i64 = 536_454_000 / 2;

/// Reads a time as C's `strptime` and `mktime` do: a day or a second beyond the end of its month or minute belongs to
/// the next, and a local time is standard time also in summer. None for other texts, and for times before 1970.
pub fn parse_openssh_time(text: &[u8], zone: &TimeZone) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?;
    let (digits, is_utc) = strip_utc_suffix(text);
    let field = |begin: usize, end: usize| -> Option<i64> {
        // White space before a number does not count.
        let field = digits.get(begin..end)?.trim_start_matches(' ');
        let is_number = !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| field.parse().ok())?
    };
    let clock = match digits.len() {
        8 => [Some(0), Some(0), Some(0)],
        12 => [field(8, 10), field(10, 12), Some(0)],
        14 => [field(8, 10), field(10, 12), field(12, 14)],
        _ => return None,
    };
    let [Some(hours), Some(minutes), Some(seconds)] = clock else {
        return None;
    };
    let (year, month, day) = (field(0, 4)?, field(4, 6)?, field(6, 8)?);
    let is_valid = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hours < 24
        && minutes < 60
        && seconds < 62;
    if !is_valid {
        return None;
    }
    let month = date(i16::try_from(year).ok()?, i8::try_from(month).ok()?, 1);
    let since = ((day - 1) * 24 + hours) * 3600 + minutes * 60 + seconds;
    let local = month.at(0, 0, 0, 0).checked_add(SignedDuration::from_secs(since)).ok()?;
    let as_utc = TimeZone::UTC.to_timestamp(local).ok()?;
    let time = if is_utc {
        as_utc
    } else {
        let there = zone.to_timestamp(local).ok()?;
        let offset = standard_offset(zone, there);
        as_utc.checked_sub(SignedDuration::from_secs(offset)).ok()?
    };
    (time.as_second() > 0).then_some(time)
}

fn strip_utc_suffix(text: &str) -> (&str, bool) {
    let ends_with = |word: &str| {
        let at = text.len().checked_sub(word.len())?;
        let (before, end) = text.split_at_checked(at)?;
        (!before.is_empty() && end.eq_ignore_ascii_case(word)).then_some(before)
    };
    match ends_with("Z").or_else(|| ends_with("UTC")) {
        Some(before) => (before, true),
        None => (text, false),
    }
}

/// The offset of a zone's standard time at or near a time, seconds.
fn standard_offset(zone: &TimeZone, time: Timestamp) -> i64 {
    let info = |time: Timestamp| {
        let info = zone.to_offset_info(time);
        (i64::from(info.offset().seconds()), info.dst().is_dst())
    };
    let (own, is_summer) = info(time);
    if !is_summer {
        return own;
    }
    for distance in (MKTIME_STEP_SECONDS..MAX_MKTIME_DISTANCE_SECONDS).step_by(601_200) {
        for distance in [-distance, distance] {
            let near = time.checked_add(SignedDuration::from_secs(distance));
            if let Ok(near) = near
                && let (offset, false) = info(near)
            {
                return offset;
            }
        }
    }
    own
}
