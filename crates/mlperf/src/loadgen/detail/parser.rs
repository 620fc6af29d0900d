//! The streaming parser of the detail log.

use serde_json::Value;

use super::entry::{self, DetailEntry, FlagFinder};
use super::values::{
    error_message, is_moment, measured_ms, parse_logged_figure, parse_word, prefer_query_latencies,
    store, store_figure, truncate_text,
};
use super::{ClockReversal, LoadgenDetail, MAX_ERROR_MESSAGES, UnreadableEntry, usual};
use crate::loadgen::early_stopping::EarlyStoppingBlock;
use crate::loadgen::names::{self, EARLY_STOPPING_LATENCY};
use crate::loadgen::{ResultStatus, TestScenario};
use retrial_readings::figure::{Figure, NANOSECONDS};
use retrial_readings::nearest::truncate_for_message;

/// A line longer than this loses its middle; `loaded_qsl_set` of a large sample set is such a line.
const MAX_LINE_BYTES: usize = 1 << 20;
/// The bytes stored of either end: the key is at the beginning, the flags are at the end.
const STORED_END_BYTES: usize = 4096;
/// The resolution of LoadGen's clock where it has wrapped around, ms.
const CLOCK_RESOLUTION_MS: f64 = 1e-3;

/// Reads a detail log in chunks of bytes ([`push`](Self::push)) or in lines ([`feed_line`](Self::feed_line)).
#[derive(Debug, Clone, Default)]
pub struct DetailParser {
    detail: LoadgenDetail,
    flags: FlagFinder,
    /// The bytes of the unfinished line.
    pending: Vec<u8>,
    /// Whether the unfinished line has lost its middle.
    shortened: bool,
    /// The number of the line that is read, from 1.
    line: u64,
    /// The time of the last entry that is stored.
    last_ms: Option<f64>,
    /// A loaded set is too long to be counted.
    loaded_cut: bool,
    /// `early_stopping_latency_ss` and `_ms`.
    early_stopping_single: Option<Figure>,
    early_stopping_multi: Option<Figure>,
}

impl DetailParser {
    /// Returns a parser at the beginning of a log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next bytes of the log.
    pub fn push(&mut self, chunk: &[u8]) {
        let mut rest = chunk;
        if !self.pending.is_empty() {
            let Some(end) = memchr::memchr(b'\n', rest) else {
                self.store_pending(rest);
                return;
            };
            self.store_pending(&rest[..end]);
            rest = &rest[end + 1..];
            self.finish_pending();
        }
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.feed_line(&rest[..end]);
            rest = &rest[end + 1..];
        }
        self.store_pending(rest);
    }

    fn store_pending(&mut self, bytes: &[u8]) {
        if self.pending.len() + bytes.len() <= MAX_LINE_BYTES {
            self.pending.extend_from_slice(bytes);
            return;
        }
        self.shortened = true;
        let room = STORED_END_BYTES.saturating_sub(self.pending.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.pending.extend_from_slice(head);
        let tail = &rest[rest.len().saturating_sub(STORED_END_BYTES)..];
        let before = (STORED_END_BYTES - tail.len()).min(self.pending.len() - STORED_END_BYTES);
        let last = self.pending.len() - before;
        self.pending.copy_within(last.., STORED_END_BYTES);
        self.pending.truncate(STORED_END_BYTES + before);
        self.pending.extend_from_slice(tail);
    }

    fn finish_pending(&mut self) {
        let mut line = std::mem::take(&mut self.pending);
        if std::mem::take(&mut self.shortened) {
            self.read_long_line(&line);
        } else {
            self.feed_line(&line);
        }
        line.clear();
        self.pending = line;
    }

    /// Reads one line, without its newline.
    pub fn feed_line(&mut self, line: &[u8]) {
        if line.len() > MAX_LINE_BYTES {
            self.read_long_line(line);
        } else {
            self.line += 1;
            self.read_entry_line(line, line.trim_ascii_end().ends_with(b"}"));
        }
    }

    /// A line longer than [`MAX_LINE_BYTES`]: its ends count, however it came in.
    fn read_long_line(&mut self, line: &[u8]) {
        self.line += 1;
        let tail = line.len() - STORED_END_BYTES;
        self.read_entry_line(&[&line[..STORED_END_BYTES], &line[tail..]].concat(), false);
    }

    fn read_entry_line(&mut self, line: &[u8], whole: bool) {
        let Some(entry) = line.strip_prefix(entry::ENTRY_PREFIX) else {
            self.read_foreign_line(line, whole);
            return;
        };
        self.detail.entries += 1;
        let key = entry::read_key(entry);
        if key == Some(entry::LOADED_SET) {
            self.add_loaded_set(entry, whole);
        }
        // A key in another spelling of JSON than LoadGen's is looked at, in case it matters.
        let matters = key.is_none_or(entry::is_stored_key);
        if let Some(entry) = (whole && matters).then(|| usual::parse_usual_entry(entry)).flatten() {
            self.store_entry(&entry);
            return;
        }
        let (is_error, is_warning) = self.flags.read_flags(entry);
        self.detail.errors += u64::from(is_error);
        self.detail.warnings += u64::from(is_warning);
        let is_shown = is_error && self.detail.error_messages.len() < MAX_ERROR_MESSAGES;
        if !whole {
            // The middle of a long line is dropped, which matters only for a value that is stored.
            if matters || !line.trim_ascii_end().ends_with(b"}") {
                self.add_malformed_line();
            }
        } else if is_shown || matters {
            match entry::parse_entry(entry) {
                Some(entry) => {
                    if is_shown {
                        self.detail.error_messages.push(error_message(&entry.value));
                    }
                    self.store_entry(&entry);
                }
                None => self.add_malformed_line(),
            }
        }
    }

    fn add_malformed_line(&mut self) {
        self.detail.malformed += 1;
        self.detail.first_malformed_line.get_or_insert(self.line);
    }

    fn add_loaded_set(&mut self, entry: &[u8], whole: bool) {
        match entry::count_loaded_samples(entry).filter(|_| whole) {
            Some(count) => *self.detail.loaded_samples.get_or_insert(0) += count,
            None => self.loaded_cut = true,
        }
    }

    /// Compares the time of an entry with that of the one above it.
    fn check_clock(&mut self, entry: &DetailEntry<'_>) {
        let Some(now) = entry.clock_ms() else {
            return;
        };
        let before = self.last_ms.replace(now);
        if let Some(by_ms) =
            before.map(|before| before - now).filter(|by| *by > CLOCK_RESOLUTION_MS)
        {
            let (key, line) = (entry.key.to_string(), self.line);
            self.detail.clock_reversal.get_or_insert(ClockReversal { key, line, by_ms });
        }
    }

    /// A line that does not begin with `:::MLLOG`; a harness may print its own before it.
    fn read_foreign_line(&mut self, line: &[u8], whole: bool) {
        match memchr::memmem::find(line, entry::ENTRY_PREFIX) {
            Some(at) if at > 0 => self.read_entry_line(&line[at..], whole),
            _ => self.detail.foreign += u64::from(!line.trim_ascii().is_empty()),
        }
    }

    fn store_entry(&mut self, entry: &DetailEntry<'_>) {
        let (key, value) = (entry.key.as_ref(), &entry.value);
        if !entry::is_stored_key(key.as_bytes()) {
            return;
        }
        self.check_clock(entry);
        let detail = &mut self.detail;
        detail.pids.add(entry.pid);
        let text = || value.as_str().map(truncate_text);
        let is_readable = match key {
            "loadgen_version" => store(&mut detail.loadgen_version, text()),
            "loadgen_git_status_message" => {
                let changes = detail.git_status.take().filter(|status| !status.is_empty());
                store(&mut detail.git_status, changes.or_else(text))
            }
            "sut_name" => store(&mut detail.sut_name, text()),
            "test_datetime" => {
                detail.tests += 1;
                detail.own_clock.begun_ms = entry.time_ms;
                // A log that was appended to began with its first test.
                let started = parse_word(value);
                detail.started_at = detail.started_at.or(started);
                started.is_some()
            }
            "effective_scenario" => {
                detail.scenario = parse_word(value);
                detail.other_scenario = text().filter(|_| detail.scenario.is_none());
                detail.scenario.is_some()
            }
            "effective_test_mode" => store(&mut detail.mode, parse_word(value)),
            "qsl_reported_total_count" => store(&mut detail.library_samples, value.as_u64()),
            "num_errors" => store(&mut detail.num_errors, value.as_u64()),
            "power_begin" => {
                detail.power_begin = text();
                is_moment(value)
            }
            "power_end" => {
                detail.own_clock.ended_ms = entry.time_ms;
                detail.power_end = text();
                is_moment(value)
            }
            "generated_query_count" => {
                let count = value.as_u64();
                let issued = detail.issued_queries.unwrap_or(0);
                detail.issued_queries = count.map(|count| issued.saturating_add(count));
                detail.own_clock.generated_ms = entry.time_ms;
                store(&mut detail.generated_query_count, count)
            }
            "generated_query_duration" => store(&mut detail.generated_duration_ns, value.as_u64()),
            "generated_samples_per_query" => {
                store(&mut detail.generated_samples_per_query, value.as_u64())
            }
            _ => self.store_result(key, value),
        };
        if !is_readable {
            let value = truncate_for_message(&value.to_string());
            let unreadable = UnreadableEntry { key: key.to_owned(), line: self.line, value };
            self.detail.unreadable_entry.get_or_insert(unreadable);
        }
    }

    /// Stores a result, or another setting or figure; returns whether its value could be read.
    fn store_result(&mut self, key: &str, value: &Value) -> bool {
        let detail = &mut self.detail;
        let stop = || value.as_str().map(EarlyStoppingBlock::parse);
        match key {
            "result_validity" => {
                let result = parse_word(value);
                if detail.result != Some(ResultStatus::Invalid) {
                    detail.result = result;
                }
                result.is_some()
            }
            "result_perf_constraints_met" => {
                store(&mut detail.constraints.performance, value.as_bool())
            }
            "result_min_duration_met" => {
                store(&mut detail.constraints.min_duration, value.as_bool())
            }
            "result_min_queries_met" => store(&mut detail.constraints.min_queries, value.as_bool()),
            "early_stopping_met" => store(&mut detail.constraints.early_stopping, value.as_bool()),
            "result_invalid_reason" => {
                store(&mut detail.invalid_reason, value.as_str().map(truncate_text))
            }
            "early_stopping_result" => store(&mut detail.early_stopping.query, stop()),
            "early_stopping_ttft_result" => store(&mut detail.early_stopping.ttft, stop()),
            "early_stopping_tpot_result" => store(&mut detail.early_stopping.tpot, stop()),
            "early_stopping_latency_ss" => {
                store(&mut self.early_stopping_single, parse_logged_figure(value, NANOSECONDS))
            }
            "early_stopping_latency_ms" => {
                store(&mut self.early_stopping_multi, parse_logged_figure(value, NANOSECONDS))
            }
            "result_query_count" => store(&mut detail.query_count, value.as_u64()),
            "result_overlatency_query_count" => {
                store(&mut detail.overlatency_query_count, value.as_u64())
            }
            _ => {
                if let Some(name) = key.strip_prefix("requested_") {
                    detail.requested.store_logged(&format!("effective_{name}"), value);
                }
                detail.parameters.store_logged(key, value) && store_figure(detail, key, value)
            }
        }
    }

    /// Returns the log's contents, after its last byte or line.
    pub fn finish(mut self) -> LoadgenDetail {
        if !self.pending.is_empty() {
            self.finish_pending();
        }
        let published = match self.detail.scenario {
            Some(TestScenario::SingleStream) => self.early_stopping_single,
            Some(TestScenario::MultiStream) => self.early_stopping_multi.clone(),
            _ => None,
        };
        let mut detail = self.detail;
        detail.loaded_samples = detail.loaded_samples.filter(|_| !self.loaded_cut);
        // LoadGen logs 0 where too few queries were processed for an estimate.
        if let Some(figure) = published.filter(|figure| figure.value > 0.0) {
            detail.figures.insert(EARLY_STOPPING_LATENCY.into(), figure);
        }
        let inferred = self.early_stopping_multi;
        if let Some(figure) = inferred.filter(|figure| figure.value > 0.0)
            && detail.scenario == Some(TestScenario::SingleStream)
        {
            let name = names::multi_stream_estimate_name(&detail.parameters);
            detail.figures.insert(name.into(), figure);
        }
        prefer_query_latencies(&mut detail);
        // The settings record limits that a test without token latencies does not use.
        if detail.parameters.use_token_latencies == Some(true) {
            detail.parameters.target_latency_ns = None;
        } else {
            detail.parameters.ttft_latency_ns = None;
            detail.parameters.tpot_latency_ns = None;
        }
        detail.measured_ms = measured_ms(&detail);
        detail
    }
}

#[cfg(test)]
impl DetailParser {
    pub(super) fn pending_capacity(&self) -> usize {
        self.pending.capacity()
    }
}
