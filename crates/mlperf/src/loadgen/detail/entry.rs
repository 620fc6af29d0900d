//! One line of the detail log: which key it has, and its fields where the key matters.

use std::borrow::Cow;

use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;

pub(super) const ENTRY_PREFIX: &[u8] = b":::MLLOG ";

/// The samples that were loaded, a number each.
pub(super) const LOADED_SET: &[u8] = b"loaded_qsl_set";

/// LoadGen's clock counts nanoseconds without a sign, so that entries from before its start wrap around; ms.
const CLOCK_RANGE_MS: f64 = 18_446_744_073_709_551_616.0 / 1e6;

/// The text after it, as LoadGen writes it.
pub(super) const KEY_BEGIN: &[u8] = br#"{"key": ""#;

/// The fields of an entry that are used.
#[derive(Debug, PartialEq)]
pub(super) struct DetailEntry<'a> {
    pub key: Cow<'a, str>,
    pub value: Value,
    /// The time at which it was logged, by the test's own clock; ms.
    pub time_ms: Option<f64>,
    /// The process that logged it.
    pub pid: Option<u64>,
}

impl DetailEntry<'_> {
    /// Returns its time since the start of the clock, which may be negative.
    pub fn clock_ms(&self) -> Option<f64> {
        let time = self.time_ms?;
        Some(if time > CLOCK_RANGE_MS / 2.0 { time - CLOCK_RANGE_MS } else { time })
    }
}

/// Returns the number of samples of a loaded set, by the commas of its list.
pub(super) fn count_loaded_samples(entry: &[u8]) -> Option<u64> {
    let begin = memchr::memchr(b'[', entry)?;
    let list = &entry[begin + 1..begin + memchr::memchr(b']', &entry[begin..])?];
    let commas = memchr::memchr_iter(b',', list).count() as u64;
    Some(if list.trim_ascii().is_empty() { 0 } else { commas + 1 })
}

/// An entry as JSON has it. Fields that another program spells in another way are as good as absent.
#[derive(Deserialize)]
struct RawDetailEntry<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(default)]
    value: Value,
    #[serde(default)]
    time_ms: Value,
    #[serde(default)]
    metadata: Value,
}

/// Reads an entry whose spelling may be any that JSON allows; none where it is not one.
pub(super) fn parse_entry(entry: &[u8]) -> Option<DetailEntry<'_>> {
    let RawDetailEntry { key, value, time_ms, metadata } = serde_json::from_slice(entry).ok()?;
    Some(DetailEntry {
        key,
        value,
        time_ms: time_ms.as_f64(),
        pid: metadata.get("pid").and_then(Value::as_u64),
    })
}

/// Returns the key of an entry in the spelling that LoadGen uses, without reading the JSON.
pub(super) fn read_key(entry: &[u8]) -> Option<&[u8]> {
    let rest = entry.strip_prefix(KEY_BEGIN)?;
    let end = memchr::memchr2(b'"', b'\\', rest)?;
    (rest[end] == b'"').then_some(&rest[..end])
}

/// Returns the key of an entry in a line of the log; none of a line that is no entry.
pub(crate) fn entry_key(line: &str) -> Option<Cow<'_, str>> {
    let (_, entry) = line.split_once(":::MLLOG ")?;
    match read_key(entry.as_bytes()) {
        Some(key) => std::str::from_utf8(key).ok().map(Cow::Borrowed),
        None => parse_entry(entry.as_bytes()).map(|entry| entry.key),
    }
}

/// Returns whether a line of the log is an entry that reports an error.
pub(crate) fn is_error_entry(line: &str) -> bool {
    line.contains(":::MLLOG ") && FlagFinder::default().read_flags(line.as_bytes()).0
}

/// Returns whether entries of this key are stored.
pub(super) fn is_stored_key(key: &[u8]) -> bool {
    const PREFIXES: [&[u8]; 7] = [
        b"result_",
        b"effective_",
        b"requested_",
        b"early_stopping_",
        b"generated_",
        b"power_",
        b"num_errors",
    ];
    const KEYS: [&[u8]; 5] = [
        b"loadgen_version",
        b"loadgen_git_status_message",
        b"sut_name",
        b"test_datetime",
        b"qsl_reported_total_count",
    ];
    PREFIXES.iter().any(|prefix| key.starts_with(prefix)) || KEYS.contains(&key)
}

/// Finds flags in the metadata, at the end of a line, without reading the JSON. Inside a string the
/// quotes would be escaped, so a text that speaks of `"is_error": true` is none.
#[derive(Debug, Clone)]
pub(super) struct FlagFinder {
    error: memmem::Finder<'static>,
    warning: memmem::Finder<'static>,
}

impl Default for FlagFinder {
    fn default() -> Self {
        Self {
            error: memmem::Finder::new(br#""is_error":"#),
            warning: memmem::Finder::new(br#""is_warning":"#),
        }
    }
}

impl FlagFinder {
    /// Returns whether an entry has the flags `is_error` and `is_warning`.
    pub(super) fn read_flags(&self, entry: &[u8]) -> (bool, bool) {
        (is_flag_set(entry, &self.error), is_flag_set(entry, &self.warning))
    }
}

fn is_flag_set(entry: &[u8], flag: &memmem::Finder<'static>) -> bool {
    let length = flag.needle().len();
    flag.find_iter(entry).any(|at| entry[at + length..].trim_ascii_start().starts_with(b"true"))
}
