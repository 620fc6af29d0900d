//! An entry in the very spelling that LoadGen writes, read without a JSON reader.
//!
//! A log of settings and results only, many runs in one, is otherwise bound by reading the JSON of
//! lines whose every byte but three values is known. Whatever differs is left to the JSON reader.

use std::borrow::Cow;

use serde_json::Value;

use super::entry::{DetailEntry, KEY_BEGIN};

const VALUE: &[u8] = br#", "value": "#;
const TIME: &[u8] = br#", "time_ms": "#;
/// The flags are part of it: an entry that is an error or a warning is not read here.
const METADATA: &[u8] = br#", "namespace": "mlperf::logging", "event_type": "POINT_IN_TIME", "metadata": {"is_error": false, "is_warning": false, "file": ""#;

/// Returns the entry, which is neither an error nor a warning; `None` where it is spelt in another way.
pub(super) fn parse_usual_entry(entry: &[u8]) -> Option<DetailEntry<'_>> {
    let (key, rest) = split_plain_string(entry.strip_prefix(KEY_BEGIN)?)?;
    let (value, rest) = split_value(rest.strip_prefix(VALUE)?)?;
    let (time, rest) = split_at_comma(rest.strip_prefix(TIME)?)?;
    let time_ms = serde_json::from_slice::<f64>(time).ok()?;
    let (_, rest) = split_plain_string(rest.strip_prefix(METADATA)?)?;
    let line_and_rest = rest.strip_prefix(br#", "line_no": "#)?;
    let pid = skip_whole_number(line_and_rest)?.strip_prefix(br#", "pid": "#)?;
    let rest = skip_whole_number(pid)?;
    let pid = str::from_utf8(&pid[..pid.len() - rest.len()]).ok()?;
    let thread_and_rest = rest.strip_prefix(br#", "tid": "#)?;
    (skip_whole_number(thread_and_rest)?.trim_ascii_end() == b"}}").then_some(())?;
    Some(DetailEntry {
        key: Cow::Borrowed(key),
        value,
        time_ms: Some(time_ms),
        pid: Some(pid.parse().ok()?),
    })
}

/// Returns a string without escapes from behind its first quote, and the rest.
fn split_plain_string(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = memchr::memchr2(b'"', b'\\', bytes)?;
    let (text, rest) = bytes.split_at(end);
    let allowed = rest[0] == b'"' && text.iter().all(|&byte| byte >= b' ');
    Some((str::from_utf8(text).ok().filter(|_| allowed)?, &rest[1..]))
}

/// Reads a string, number or word. An array or object could hold what looks like the metadata's flags.
fn split_value(bytes: &[u8]) -> Option<(Value, &[u8])> {
    match bytes.first()? {
        b'"' => split_plain_string(&bytes[1..])
            .map(|(text, rest)| (Value::String(text.to_owned()), rest)),
        b'[' | b'{' => None,
        _ => {
            let (text, rest) = split_at_comma(bytes)?;
            Some((serde_json::from_slice(text).ok()?, rest))
        }
    }
}

fn split_at_comma(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    Some(bytes.split_at(memchr::memchr(b',', bytes)?))
}

/// Returns the bytes after a whole number in JSON's spelling.
fn skip_whole_number(bytes: &[u8]) -> Option<&[u8]> {
    let count = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let right = count == 1 || (count > 1 && bytes[0] != b'0');
    right.then(|| &bytes[count..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::entry::parse_entry;
    use super::*;

    fn entry(key: &str, value: &str, time: &str) -> String {
        format!(
            r#"{{"key": "{key}", "value": {value}, "time_ms": {time}, "namespace": "mlperf::logging", "event_type": "POINT_IN_TIME", "metadata": {{"is_error": false, "is_warning": false, "file": "results.cc", "line_no": 1, "pid": 7, "tid": 7}}}}"#
        )
    }

    /// The result is the same as the JSON reader's.
    fn agrees(entry: &[u8]) -> bool {
        let read = parse_usual_entry(entry);
        read.is_none() || read == parse_entry(entry)
    }

    #[test]
    fn the_common_format_is_parsed() {
        for value in ["\"Server\"", "18209322760996052031", "1.04211e+06", "true"] {
            let line = entry("effective_x", value, "12.5") + "\r";
            let read = parse_usual_entry(line.as_bytes());
            assert!(read.is_some(), "{line}");
            assert_eq!(read, parse_entry(line.as_bytes()));
        }
    }

    #[test]
    fn other_formats_are_not_parsed_by_the_fast_path() {
        let usual = entry("effective_x", "1", "12.5");
        for (from, to) in [
            ("\"is_error\": false", "\"is_error\": true"),
            ("\"is_warning\": false", "\"is_warning\": true"),
            ("\"value\": 1,", "\"value\": {\"is_error\": true},"),
            ("\"value\": 1,", "\"value\": 01,"),
            ("\"value\": 1,", "\"value\": \"a\\\"b\","),
            ("\"value\": 1,", "\"value\": \"a\tb\","),
            ("\"pid\": 7", "\"pid\": 07"),
            ("}}", "}} }"),
            ("}}", "}"),
            ("key\": ", "key\":"),
        ] {
            let other = usual.replacen(from, to, 1);
            assert_ne!(other, usual);
            assert_eq!(parse_usual_entry(other.as_bytes()), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn the_fast_path_agrees_with_the_json_parser(
            value in "(-?[0-9]{1,21}(\\.[0-9]{1,9})?(e[+-]?[0-9]{1,3})?|null|true|[a-z0-9.+-]{0,5}|\"\\PC{0,20}\")",
            time in "(-?[0-9]{1,9}(\\.[0-9]{1,9})?|\"1\"|null)",
        ) {
            prop_assert!(agrees(entry("result_x", &value, &time).as_bytes()));
        }

        #[test]
        fn the_fast_path_agrees_on_damaged_entries(at in 0_usize..300, byte in any::<u8>(), cut in 0_usize..300) {
            let mut bytes = entry("result_x", "\"1 é\"", "1.5").into_bytes();
            let at = at % bytes.len();
            bytes[at] = byte;
            prop_assert!(agrees(&bytes));
            bytes.remove(cut % bytes.len());
            prop_assert!(agrees(&bytes));
        }
    }
}
