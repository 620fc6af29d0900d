//! What the two logs of a run say together.

use super::{LoadgenDetail, LoadgenRun, Validity, detail, summary};

macro_rules! printed {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/summaries/",
            $name,
            ".txt"
        ))
    };
}

mod agreement;
mod figures;
mod validity;

const SERVER: &str = printed!("own-server_tokens-perf_valid");

fn summary_of(text: &str) -> LoadgenRun {
    LoadgenRun { summary: Some(summary::parse_summary(text).unwrap()), detail: None }
}

/// Returns the detail log of the Server summary above, with further entries: the last of a key counts.
fn detail_of(entries: &[(&str, &str)]) -> LoadgenDetail {
    let log = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/details/own-server_tokens-perf_valid.txt"
    ));
    let further: Vec<String> = entries
        .iter()
        .map(|(key, value)| {
            let error = *key == "error_runtime";
            format!(r#":::MLLOG {{"key": "{key}", "value": {value}, "time_ms": 1.0, "metadata": {{"is_error": {error}, "is_warning": false}}}}"#)
        })
        .collect();
    let mut parser = detail::DetailParser::new();
    let lines = log.lines().chain(further.iter().map(String::as_str));
    lines.for_each(|line| parser.feed_line(line.as_bytes()));
    parser.finish()
}

fn both(entries: &[(&str, &str)]) -> LoadgenRun {
    LoadgenRun { detail: Some(detail_of(entries)), ..summary_of(SERVER) }
}

#[track_caller]
fn assert_validity(run: &LoadgenRun, expected: Validity, reason: &str) {
    let validity = run.validity();
    assert_eq!(validity.verdict, expected, "{validity:?}");
    let reasons = validity.reasons.join("\n");
    assert!(reasons.contains(reason), "{reasons}");
}
