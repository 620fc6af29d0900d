//! The transfers of a step, layers of an image or files of a model: bytes done and in all, rate,
//! time left.

use std::collections::VecDeque;

use indexmap::IndexMap;
use jiff::Timestamp;

use super::sentence;
use retrial_document::measures::format::{
    format_byte_rate, format_bytes, format_count, format_elapsed,
};
use retrial_store::journal::{Transfer, TransferState, TransferUnit};

/// The time over which the rate is averaged, seconds.
const RATE_WINDOW_S: f64 = 10.0;
/// The least time between two samples of the rate, seconds.
const MIN_SAMPLE_INTERVAL_S: f64 = 0.2;

/// The layers of a pull, or the files of a model.
#[derive(Debug, Clone, Default)]
pub struct Transfers {
    /// The parts by name, in the order in which they first appeared.
    parts: IndexMap<String, Transfer>,
    is_extracting: bool,
    samples: VecDeque<(Timestamp, u64)>,
}

/// All transfers of a step at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransferTotals {
    /// All bytes have arrived, and layers are being unpacked.
    pub is_extracting: bool,
    /// The unit of the parts: layers or files.
    pub unit: TransferUnit,
    /// Layers or files that are complete.
    pub done_parts: usize,
    /// Layers or files in all.
    pub parts: usize,
    /// Bytes downloaded, or unpacked if `extracting`.
    pub done: u64,
    /// Bytes in all, as far as they are known; compressed, also while `extracting`.
    pub total: u64,
    /// Whether every size is known.
    pub total_known: bool,
    /// Bytes per second over the last seconds.
    pub rate: Option<f64>,
    /// Seconds left at that rate.
    pub remaining_s: Option<f64>,
}

impl Transfers {
    /// Records the progress of a layer or file.
    pub fn record_transfer(&mut self, time: Timestamp, transfer: &Transfer) {
        let mut part = Transfer {
            part: sentence::to_message_line(&transfer.part),
            // The containerd store counts an extraction in seconds and gives no total.
            current: transfer.total.and(transfer.current),
            ..transfer.clone()
        };
        let existing = self.parts.get(&part.part);
        part.total = part.total.or(existing.and_then(|existing| existing.total));
        self.parts.insert(part.part.clone(), part);
        self.record_sample(time);
    }

    /// Returns whether there has been no transfer.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns those in progress, in the order in which they first appeared.
    pub fn active_parts(&self) -> impl Iterator<Item = &Transfer> {
        use TransferState::{Downloading, Extracting, Verifying};
        let parts = self.parts.values();
        parts.filter(|part| matches!(part.state, Downloading | Verifying | Extracting))
    }

    /// Returns the sum of all transfers at a moment.
    pub fn sum(&self, now: Timestamp) -> TransferTotals {
        let parts = self.parts.values();
        let fetched = parts.filter(|part| part.state != TransferState::Cached);
        let totals = fetched.clone().filter_map(|part| part.total);
        let total = totals.fold(0, u64::saturating_add);
        let total_known =
            fetched.clone().all(|part| part.total.is_some() || part.state == TransferState::Done);
        let open = fetched.filter(|part| part.state != TransferState::Done);
        let done = self.done_bytes();
        let rate = self.bytes_per_second(now);
        TransferTotals {
            is_extracting: self.is_extracting,
            unit: self.unit(),
            done_parts: self.parts.len() - open.count(),
            parts: self.parts.len(),
            done,
            total,
            total_known,
            rate,
            remaining_s: rate
                .filter(|rate| total_known && *rate > 0.0)
                .map(|rate| to_f64(total.saturating_sub(done)) / rate),
        }
    }

    fn unit(&self) -> TransferUnit {
        let first = self.parts.values().next();
        first.map(|part| part.unit).unwrap_or_default()
    }

    fn done_bytes(&self) -> u64 {
        let done = self.parts.values().map(|part| {
            let total = part.total.unwrap_or(0);
            let current = part.current.unwrap_or(0).min(total);
            match part.state {
                TransferState::Waiting | TransferState::Cached => 0,
                TransferState::Done => total,
                TransferState::Extracting if self.is_extracting => current,
                _ if self.is_extracting => 0,
                TransferState::Downloading | TransferState::Verifying => current,
                TransferState::Downloaded | TransferState::Extracting => total,
            }
        });
        done.fold(0, u64::saturating_add)
    }

    fn record_sample(&mut self, time: Timestamp) {
        // Files are not unpacked.
        let mut states = self.parts.values().map(|part| part.state);
        let extracting = self.unit() == TransferUnit::Layer
            && !states
                .any(|state| matches!(state, TransferState::Waiting | TransferState::Downloading));
        if extracting != self.is_extracting {
            self.is_extracting = extracting;
            self.samples.clear();
        }
        let last = self.samples.back();
        if last.is_some_and(|(last, _)| seconds_between(*last, time) < MIN_SAMPLE_INTERVAL_S) {
            return;
        }
        self.samples.push_back((time, self.done_bytes()));
        // The window starts at a sample that is older than the window.
        let is_older =
            |(second, _): &(Timestamp, u64)| seconds_between(*second, time) > RATE_WINDOW_S;
        while self.samples.get(1).is_some_and(is_older) {
            self.samples.pop_front();
        }
    }

    fn bytes_per_second(&self, now: Timestamp) -> Option<f64> {
        let mut latest_first = self.samples.iter().rev();
        let (first, before) = latest_first
            .find(|(time, _)| seconds_between(*time, now) > RATE_WINDOW_S)
            .or_else(|| self.samples.front())?;
        let over = seconds_between(*first, now);
        (over >= 1.0).then(|| to_f64(self.done_bytes().saturating_sub(*before)) / over)
    }
}

impl TransferTotals {
    /// Bytes, rate and time left, as far as they are known.
    pub fn format_facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        if self.total > 0 {
            let doing = if self.is_extracting { "extracting, " } else { "" };
            let at_least = if self.total_known { "" } else { "at least " };
            let (done, total) = (format_bytes(self.done), format_bytes(self.total));
            facts.push(format!("{doing}{done} of {at_least}{total}"));
        }
        facts.extend(self.rate.map(format_byte_rate));
        facts.extend(self.remaining_s.map(|seconds| format!("{} left", format_elapsed(seconds))));
        facts
    }

    /// `3 of 12 layers`
    pub fn format_parts(&self) -> String {
        let unit = match self.unit {
            TransferUnit::Layer => "layer",
            TransferUnit::File => "file",
        };
        format!("{} of {}", self.done_parts, format_count(self.parts, unit))
    }
}

/// Seconds from one time to another, none below 0.
pub fn seconds_between(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64().max(0.0)
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
fn to_f64(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
