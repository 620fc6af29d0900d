//! Figures of JSON documents: the values that a `JSONPath` (RFC 9535) selects.
//!
//! Benchmarks write JSON that is none: Python's `json.dump` prints `NaN` and `Infinity`, Windows
//! tools put a byte order mark before it. Both are read; neither is a figure.

use std::borrow::Cow;

use serde_json::Value;
use serde_json_path::JsonPath;

use super::accumulator::{Entries, MOST_ENTRIES, entry};
use super::figure::{Printed, parse_number};
use super::json_path;
use super::nearest;
use crate::request::Take;
use crate::sanitize::strip_escapes;

/// Why a document gives no figure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum JsonError {
    /// The path is none.
    #[error("`{path}` is not a JSONPath: {reason}; write it as RFC 9535 does: `$.metrics.rouge1`")]
    Path {
        /// The path.
        path: String,
        /// Its parser's message.
        reason: String,
    },
    /// The document is none.
    #[error("it is not JSON: {reason}")]
    Syntax {
        /// Its parser's message, with line and column.
        reason: String,
    },
    /// There is no document to look in.
    #[error("there is no JSON in it")]
    Empty,
    /// The path leads nowhere.
    #[error("there is nothing at `{path}`{near}")]
    NoMatch {
        /// The path.
        path: String,
        /// What is near it, or nothing.
        near: String,
    },
    /// It leads to something that is not a number.
    #[error("the value at `{path}` is `{text}`, not a number")]
    NotANumber {
        /// The path.
        path: String,
        /// What is there.
        text: String,
    },
    /// A match of a table lacks a member that names it.
    #[error("a match of `{path}` has no `{member}`; it has {has}")]
    NoMember {
        /// The path.
        path: String,
        /// The member.
        member: String,
        /// The members that it has.
        has: String,
    },
    /// A table without end.
    #[error("`{path}` names more than {MOST_ENTRIES} figures; make `by` narrower")]
    TooManyEntries {
        /// The path.
        path: String,
    },
}

/// Reads documents, one at a time, and stores the values that the path selects.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    path: JsonPath,
    written: &'a str,
    by: &'a [String],
    value: Option<&'a str>,
    take: Take,
    entries: Entries,
    documents: u64,
    /// The nearest members in the last document in which the path selects nothing.
    near: String,
    failed: Option<JsonError>,
}

impl<'a> Reader<'a> {
    /// A reader for one path; with `by`, the members `by` of each match name an entry each, and
    /// its member `value` is the figure.
    ///
    /// # Errors
    /// [`JsonError::Path`] where it is no `JSONPath`.
    pub fn new(
        path: &'a str,
        by: &'a [String],
        value: Option<&'a str>,
        take: Take,
    ) -> Result<Self, JsonError> {
        Ok(Self {
            path: json_path::parse(path).map_err(|reason| JsonError::Path {
                path: path.to_owned(),
                reason,
            })?,
            written: path,
            by,
            value,
            take,
            entries: Entries::new(),
            documents: 0,
            near: String::new(),
            failed: None,
        })
    }

    /// Reads a file: one document, or one after the other (JSON lines).
    pub fn read(&mut self, bytes: &[u8]) {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let bytes = strip_escapes(bytes);
        let bytes = tolerated(&bytes);
        for document in serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>() {
            match document {
                Ok(document) => self.feed(&document),
                Err(error) => {
                    self.failed.get_or_insert(JsonError::Syntax {
                        reason: error.to_string(),
                    });
                }
            }
        }
    }

    /// Reads a line of an output; one that is not a JSON object or list is skipped.
    pub fn feed_line(&mut self, line: &str) {
        let line = line.trim();
        if !line.starts_with(['{', '[']) {
            return;
        }
        if let Ok(document) = serde_json::from_slice(&tolerated(line.as_bytes())) {
            self.feed(&document);
        }
    }

    /// Reads a document.
    pub fn feed(&mut self, document: &Value) {
        self.documents += 1;
        let matches = self.path.query(document).all();
        if matches.is_empty() && self.entries.is_empty() {
            self.near = nearest::path(self.written, document);
        }
        for value in matches {
            if let Err(error) = self.take(value) {
                self.failed.get_or_insert(error);
            }
        }
    }

    fn take(&mut self, value: &Value) -> Result<(), JsonError> {
        let member = |name: &str| {
            value.get(name).ok_or_else(|| JsonError::NoMember {
                path: self.written.to_owned(),
                member: name.to_owned(),
                has: members(value),
            })
        };
        let names = self
            .by
            .iter()
            .map(|name| member(name).map(text))
            .collect::<Result<Vec<_>, _>>()?;
        let figure = self.value.map_or(Ok(value), member)?;
        let printed = number(figure).ok_or_else(|| JsonError::NotANumber {
            path: self.written.to_owned(),
            text: text(figure),
        })?;
        let names = names.iter().map(String::as_str);
        let entry = entry(&mut self.entries, names, self.take);
        let entry = entry.ok_or_else(|| JsonError::TooManyEntries {
            path: self.written.to_owned(),
        })?;
        entry.add(printed);
        Ok(())
    }

    /// Returns the figures by name; one that is not a table has the empty name.
    ///
    /// # Errors
    /// Where the path selects nothing, or a value that is not a number.
    pub fn entries(self) -> Result<Entries, JsonError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.documents == 0 {
            return Err(JsonError::Empty);
        }
        if self.entries.is_empty() {
            return Err(JsonError::NoMatch {
                path: self.written.to_owned(),
                near: self.near,
            });
        }
        Ok(self.entries)
    }
}

/// A number, or a text that is one (`"1,053.2"`).
pub fn number(value: &Value) -> Option<Printed> {
    match value {
        Value::Number(number) => {
            let value = number.as_f64().filter(|value| value.is_finite())?;
            let half_digit = 0.0;
            Some(Printed { value, half_digit })
        }
        Value::String(text) => parse_number(&stripped(text)),
        _ => None,
    }
}

/// A value as a name or for a message.
fn text(value: &Value) -> String {
    let text = match value {
        Value::String(text) => stripped(text),
        other => Cow::Owned(other.to_string()),
    };
    nearest::shortened(&text)
}

/// A text whose JSON escapes (`\u001b[1m`) are escape sequences.
fn stripped(text: &str) -> Cow<'_, str> {
    match strip_escapes(text.as_bytes()) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

fn members(value: &Value) -> String {
    match value {
        Value::Object(map) => nearest::listed(map.keys().map(String::as_str)),
        _ => "no members".to_owned(),
    }
}

/// The same with `NaN`, `Infinity` and `-Infinity` as texts.
fn tolerated(bytes: &[u8]) -> Cow<'_, [u8]> {
    let has = |word: &[u8]| memchr::memmem::find(bytes, word).is_some();
    if !has(b"NaN") && !has(b"Infinity") {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len() + 64);
    let (mut within, mut at) = (false, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let word = [&b"-Infinity"[..], b"Infinity", b"NaN"]
            .into_iter()
            .find(|word| !within && rest.starts_with(word));
        if let Some(word) = word {
            out.push(b'"');
            out.extend_from_slice(word);
            out.push(b'"');
            at += word.len();
            continue;
        }
        if within && rest[0] == b'\\' && rest.len() > 1 {
            out.extend_from_slice(&rest[..2]);
            at += 2;
            continue;
        }
        within ^= rest[0] == b'"';
        out.push(rest[0]);
        at += 1;
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn find(path: &str, take: Take, text: &str) -> Result<f64, String> {
        let mut reader = Reader::new(path, &[], None, take).map_err(|error| error.to_string())?;
        reader.read(text.as_bytes());
        let mut entries = reader.entries().map_err(|error| error.to_string())?;
        let printed = entries.remove("").unwrap().one()?;
        Ok(printed.value)
    }

    const SCORES: &str = r#"{"metrics": {"rouge1": 44.5, "rouge2": "22.1", "note": "NaN is \" no score",
        "lost": NaN, "all": [1, 2, 3, -Infinity]}, "time to train": "1,053.25"}"#;

    #[rstest]
    #[case("$.metrics.rouge1", 44.5)]
    #[case("$.metrics.rouge2", 22.1)]
    #[case("$['time to train']", 1053.25)]
    #[case("$.metrics.all[1]", 2.0)]
    #[case("$..rouge1", 44.5)]
    fn paths(#[case] path: &str, #[case] expected: f64) {
        let figure = find(path, Take::Last, SCORES).unwrap();
        assert!((figure - expected).abs() < 1e-12);
        let marked = format!("\u{feff}{SCORES}");
        assert_eq!(find(path, Take::Last, &marked), Ok(figure));
    }

    #[rstest]
    #[case(
        "$.metrics.rougeL",
        "there is nothing at `$.metrics.rougeL`; the nearest is `$.metrics.rouge1`: 44.5"
    )]
    #[case(
        "$.metrics.lost",
        "the value at `$.metrics.lost` is `NaN`, not a number"
    )]
    #[case("$.metrics.all[3]", "is `-Infinity`, not a number")]
    #[case("$.metrics", ", not a number")]
    #[case("$.[", "is not a JSONPath")]
    fn missing_values_are_reported(#[case] path: &str, #[case] expected: &str) {
        let error = find(path, Take::Last, SCORES).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }

    #[rstest]
    #[case(Take::First, 1.0)]
    #[case(Take::Last, 3.0)]
    #[case(Take::Max, 3.0)]
    #[case(Take::Sum, 6.0)]
    #[case(Take::Mean, 2.0)]
    fn json_lines(#[case] take: Take, #[case] expected: f64) {
        let lines = "{\"v\": 1}\n{\"v\": 2, \"w\": 9}\n{\"v\": 3}\n";
        assert_eq!(find("$.v", take, lines), Ok(expected));
        let mut reader = Reader::new("$.v", &[], None, take).unwrap();
        for line in format!("starting\n{{ no json\n{lines}[cut").lines() {
            reader.feed_line(line);
        }
        let printed = reader.entries().unwrap().remove("").unwrap().one().unwrap();
        assert!((printed.value - expected).abs() < 1e-12);
    }

    #[test]
    fn color_escapes_are_ignored() {
        let colored = "\x1b[1m{\"v\"\x1b[0m: \"\\u001b[32m2.5\\u001b[0m\"}";
        assert_eq!(find("$.v", Take::Last, colored), Ok(2.5));
    }

    #[test]
    fn a_table() {
        let text = r#"{"results": [{"dtype": "bf16", "n": 8192, "tflops": 1010.5},
            {"dtype": "fp16", "n": 8192, "tflops": 990}]}"#;
        let by = ["dtype".to_owned(), "n".to_owned()];
        let mut reader = Reader::new("$.results[*]", &by, Some("tflops"), Take::Last).unwrap();
        reader.read(text.as_bytes());
        let entries = reader.entries().unwrap();
        let names: Vec<&str> = entries.keys().map(String::as_str).collect();
        assert_eq!(names, ["bf16 8192", "fp16 8192"]);
        let mut reader = Reader::new("$.results[*]", &by, Some("tflop"), Take::Last).unwrap();
        reader.read(text.as_bytes());
        let error = reader.entries().unwrap_err().to_string();
        assert!(
            error.contains("has no `tflop`; it has dtype, n, tflops"),
            "{error}"
        );
    }

    #[test]
    fn hostile_documents_are_refused() {
        let deep = "[".repeat(100_000);
        assert!(
            find("$..v", Take::Last, &deep)
                .unwrap_err()
                .contains("not JSON")
        );
        assert!(find("$.v", Take::Last, "{\"v\": 1e999}").is_err());
        assert!(
            find("$.v", Take::Last, "")
                .unwrap_err()
                .contains("no JSON in it")
        );
        assert!(find("$.v", Take::Last, "{\"v\": 1} }").is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut reader = Reader::new("$..v", &[], None, Take::All).unwrap();
            reader.read(&bytes);
            let _ = reader.entries();
        }

        #[test]
        fn strings_are_unchanged(text in "\\PC{0,20}(NaN|Infinity|\\\\|\"){0,3}\\PC{0,9}") {
            let document = serde_json::json!({ "t": text, "v": 1.5 }).to_string();
            let read: Value = serde_json::from_slice(&tolerated(document.as_bytes())).unwrap();
            prop_assert_eq!(read["t"].as_str(), Some(text.as_str()));
        }
    }
}
