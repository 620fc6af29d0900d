//! One `:::MLLOG` line.

use retrial_readings::json::quote_non_finite_numbers;
use serde::Deserialize;
use serde_json::Value;

const EVENT_PREFIX: &str = ":::MLLOG";

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct MllogEvent {
    /// The event: `run_start`, `eval_accuracy`, ….
    pub key: String,
    /// The value of the event: a number, a text, a map or nothing.
    #[serde(default)]
    pub value: Value,
    /// When, in milliseconds since 1970.
    #[serde(default)]
    pub time_ms: f64,
    /// Further values of the event: `status`, `samples_count`, `epoch_num`.
    #[serde(default)]
    pub metadata: Value,
}

impl MllogEvent {
    pub fn metadata_number(&self, name: &str) -> Option<f64> {
        self.metadata.get(name)?.as_f64()
    }

    pub fn metadata_text(&self, name: &str) -> Option<&str> {
        self.metadata.get(name)?.as_str()
    }
}

/// Returns the events of a line: two ranks may have written theirs on one. Truncated ones are skipped.
pub fn parse_events(line: &str) -> impl Iterator<Item = MllogEvent> {
    parse_entries(line).flatten()
}

/// As [`parse_events`], with `None` for each that cannot be read.
pub fn parse_entries(line: &str) -> impl Iterator<Item = Option<MllogEvent>> {
    event_texts(line).map(parse_event)
}

/// Returns the texts of a line's events; another rank may have written something behind each.
pub fn event_texts(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices(EVENT_PREFIX).map(|(at, _)| &line[at + EVENT_PREFIX.len()..])
}

/// Reads the event that a text begins with. `NaN`, which Python prints, becomes a text.
pub fn parse_event(text: &str) -> Option<MllogEvent> {
    let text = quote_non_finite_numbers(text.as_bytes());
    let mut values = serde_json::Deserializer::from_slice(&text).into_iter::<MllogEvent>();
    values.next()?.ok()
}

/// Returns whether an event that cannot be read has a key, or was cut within it.
pub(super) fn may_have_key(text: &str, key: &str) -> bool {
    if text.contains(&format!("\"{key}\"")) {
        return true;
    }
    let Some((before, cut)) = text.trim_end().rsplit_once('"') else {
        return false;
    };
    let is_key = before
        .trim_end()
        .strip_suffix(':')
        .is_some_and(|name| name.trim_end().ends_with("\"key\""));
    is_key && !cut.is_empty() && key.starts_with(cut)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(line: &str) -> Vec<String> {
        parse_events(line).map(|event| event.key).collect()
    }

    #[test]
    fn lines_are_parsed_as_programs_print_them() {
        let start = r#":::MLLOG {"namespace": "", "time_ms": 1759734393481, "event_type": "INTERVAL_START", "key": "run_start", "value": null, "metadata": {"file": "a.py", "lineno": 220}}"#;
        assert_eq!(keys(start), ["run_start"]);
        assert_eq!(keys(&format!("3: 2025-10-06 07:06:33 | {start}")), ["run_start"]);
        assert_eq!(keys(&format!("{start}{start} INFO done")), ["run_start", "run_start"]);
        assert_eq!(keys(&format!("{start}:::MLLOG {{\"key\": \"run_st")), ["run_start"]);
        assert!(keys(":::MLLOG").is_empty());
        assert!(keys(":::MLLOG {\"time_ms\": 1}").is_empty());
        assert!(keys("no log").is_empty());
        let stats = r#":::MLLOG {"key": "tracked_stats", "value": {"rate": 2.0, "loss": NaN}}"#;
        let value = &parse_events(stats).next().unwrap().value;
        assert_eq!(value["rate"], 2.0);
        assert_eq!(value["loss"], "NaN");
        let event = parse_events(start).next().unwrap();
        assert!((event.time_ms - 1_759_734_393_481.0).abs() < 0.5);
        assert_eq!(event.metadata_number("lineno"), Some(220.0));
    }

    proptest! {
        #[test]
        fn any_line_can_be_parsed(line in "(\\PC{0,20}(:::MLLOG ?(\\{[\"a-z:0-9,{}]{0,20})?)?){0,4}") {
            let _ = parse_events(&line).count();
        }
    }
}
