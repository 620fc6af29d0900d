//! The wait that a server requests.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// Reads the wait from an answer's headers: `RateLimit: "api";r=0;t=55` (draft-ietf-httpapi-ratelimit-headers)
/// before `Retry-After`, in seconds or as a date.
pub fn requested_wait(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    // Whole seconds, rounded down.
    let limit_s = text("ratelimit").and_then(parse_rate_limit);
    let limit = limit_s.map(|seconds| Duration::from_secs(seconds.saturating_add(1)));
    // Both times of a server are of one clock; ours may be wrong.
    let sent = text(DATE.as_str()).and_then(parse_http_date).unwrap_or(now);
    limit.or_else(|| {
        text(RETRY_AFTER.as_str()).and_then(|text| parse_seconds_or_date(text.trim(), sent))
    })
}

/// Seconds until the next window, if nothing remains of this one.
fn parse_rate_limit(text: &str) -> Option<u64> {
    let number = |key: &str| {
        text.split(';')
            .filter_map(|part| part.trim().split_once('='))
            .find(|(name, _)| name.trim() == key)
            .and_then(|(_, value)| value.trim().parse::<u64>().ok())
    };
    number("r").filter(|remaining| *remaining == 0)?;
    number("t")
}

fn parse_seconds_or_date(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let apart = parse_http_date(text)?.duration_since(now);
    Some(Duration::try_from(apart).unwrap_or_default())
}

fn parse_http_date(text: &str) -> Option<Timestamp> {
    let date = jiff::fmt::rfc2822::parse(text).ok()?;
    Some(date.timestamp())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&[("retry-after", "7")], Some(7))]
    #[case(&[("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT")], Some(30))]
    #[case(&[("retry-after", "Wed, 21 Oct 2015 07:00:00 GMT")], Some(0))]
    #[case(&[("retry-after", "Wed, 21 Oct 2015 10:28:30 GMT"), ("date", "Wed, 21 Oct 2015 10:28:00 GMT")], Some(30))]
    #[case(&[("retry-after", "soon")], None)]
    #[case(&[("ratelimit", "\"api\";r=0;t=55")], Some(56))]
    #[case(&[("ratelimit", "\"api\";r=3;t=55")], None)]
    #[case(&[("ratelimit", "\"api\";r=0;t=55"), ("retry-after", "1")], Some(56))]
    #[case(&[], None)]
    fn the_requested_wait_is_read_from_the_headers(
        #[case] headers: &[(&'static str, &'static str)],
        #[case] seconds: Option<u64>,
    ) {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        let now = "2015-10-21T07:28:00Z".parse().unwrap();
        assert_eq!(requested_wait(&headers, now), seconds.map(Duration::from_secs));
    }
}
