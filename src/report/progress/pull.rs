//! A pull's layers or a model's files: bytes done and in all, speed, time left.

use std::collections::VecDeque;

use jiff::Timestamp;

use crate::store::journal::TransferState;

/// The time over which the speed is taken, seconds.
const WINDOW: f64 = 10.0;
/// The least time between two samples of the speed, seconds.
const APART: f64 = 0.2;

/// All layers of a pull.
#[derive(Debug, Clone, Default)]
pub struct Pull {
    unit: Unit,
    layers: Vec<Layer>,
    phase: Phase,
    samples: VecDeque<(Timestamp, u64)>,
}

/// What comes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unit {
    /// Layers of an image.
    #[default]
    Layer,
    /// Files of a model.
    File,
}

impl Unit {
    /// One of them.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Layer => "layer",
            Self::File => "file",
        }
    }
}

/// One layer, or one file.
#[derive(Debug, Clone)]
pub struct Layer {
    /// Short id, or path.
    pub id: String,
    /// Where it stands.
    pub stand: Stand,
    /// Bytes done of what is done now.
    pub current: u64,
    /// Bytes in all, once known. The compressed size, which extraction counts as well.
    pub total: Option<u64>,
}

/// Where a layer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    /// Nothing is done for it now.
    Waiting,
    /// Its bytes come.
    Downloading,
    /// They are hashed.
    Checking,
    /// They are all here.
    Downloaded,
    /// They are unpacked.
    Extracting,
    /// The engine has it.
    Done,
    /// The engine had it before.
    There,
}

/// What a pull is about as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Phase {
    /// Bytes are still coming.
    #[default]
    Downloading,
    /// All bytes are here.
    Extracting,
}

/// A pull at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sum {
    /// What it is about.
    pub phase: Phase,
    /// What comes.
    pub unit: Unit,
    /// Layers or files that are here.
    pub done_parts: usize,
    /// Layers or files in all.
    pub parts: usize,
    /// Bytes done in this phase.
    pub done: u64,
    /// Bytes in all, as far as they are known.
    pub total: u64,
    /// Whether every layer's size is known.
    pub total_known: bool,
    /// Bytes per second, lately.
    pub rate: Option<f64>,
    /// Seconds left, if it goes on like that.
    pub left: Option<f64>,
}

impl Pull {
    /// Takes a layer's message in.
    pub fn take(
        &mut self,
        time: Timestamp,
        id: &str,
        status: &str,
        current: Option<u64>,
        total: Option<u64>,
    ) {
        let layer = self.part(id);
        layer.stand = stand(status).unwrap_or(layer.stand);
        layer.total = total.filter(|total| *total > 0).or(layer.total);
        // The containerd store counts an extraction in seconds and gives no total.
        layer.current = if total.is_some() {
            current.unwrap_or(0)
        } else {
            0
        };
        self.sample(time);
    }

    /// Takes in how a file of a model stands.
    pub fn take_file(
        &mut self,
        time: Timestamp,
        path: &str,
        stand: TransferState,
        current: u64,
        total: u64,
    ) {
        self.unit = Unit::File;
        let file = self.part(path);
        file.stand = match stand {
            TransferState::Waiting => Stand::Waiting,
            TransferState::Downloading => Stand::Downloading,
            TransferState::Verifying => Stand::Checking,
            TransferState::Done => Stand::Done,
            TransferState::Cached => Stand::There,
        };
        file.total = Some(total);
        file.current = current;
        self.sample(time);
    }

    fn part(&mut self, id: &str) -> &mut Layer {
        let known = self.layers.iter().position(|layer| layer.id == id);
        let index = known.unwrap_or_else(|| {
            self.layers.push(Layer {
                id: id.to_owned(),
                stand: Stand::Waiting,
                current: 0,
                total: None,
            });
            self.layers.len() - 1
        });
        &mut self.layers[index]
    }

    /// Whether any layer has been heard of.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Layers for which something is done now, in the order they were heard of.
    pub fn active(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|layer| {
            matches!(
                layer.stand,
                Stand::Downloading | Stand::Checking | Stand::Extracting
            )
        })
    }

    /// Where it stands as a whole.
    #[must_use]
    pub fn sum(&self, now: Timestamp) -> Sum {
        let phase = self.phase();
        let wanted = self
            .layers
            .iter()
            .filter(|layer| layer.stand != Stand::There);
        let total: u64 = wanted
            .clone()
            .filter_map(|layer| layer.total)
            .fold(0, u64::saturating_add);
        let total_known = wanted
            .clone()
            .all(|layer| layer.total.is_some() || layer.stand == Stand::Done);
        let done = self.done(phase);
        let rate = self.rate(now);
        let left = rate
            .filter(|rate| total_known && *rate > 0.0)
            .map(|rate| real(total.saturating_sub(done)) / rate);
        Sum {
            phase,
            unit: self.unit,
            done_parts: self
                .layers
                .iter()
                .filter(|layer| matches!(layer.stand, Stand::Done | Stand::There))
                .count(),
            parts: self.layers.len(),
            done,
            total,
            total_known,
            rate,
            left,
        }
    }

    fn phase(&self) -> Phase {
        let coming = |layer: &Layer| matches!(layer.stand, Stand::Waiting | Stand::Downloading);
        // Files are not unpacked.
        if self.unit == Unit::File || self.layers.iter().any(coming) {
            Phase::Downloading
        } else {
            Phase::Extracting
        }
    }

    fn done(&self, phase: Phase) -> u64 {
        let of = |layer: &Layer| {
            let all = layer.total.unwrap_or(0);
            match (phase, layer.stand) {
                (_, Stand::There | Stand::Waiting)
                | (Phase::Extracting, Stand::Downloading | Stand::Checking | Stand::Downloaded) => {
                    0
                }
                (Phase::Downloading, Stand::Downloading | Stand::Checking)
                | (Phase::Extracting, Stand::Extracting) => layer.current.min(all),
                (Phase::Downloading, Stand::Downloaded | Stand::Extracting) | (_, Stand::Done) => {
                    all
                }
            }
        };
        self.layers.iter().map(of).fold(0, u64::saturating_add)
    }

    fn sample(&mut self, time: Timestamp) {
        let phase = self.phase();
        if phase != self.phase {
            self.phase = phase;
            self.samples.clear();
        }
        if self
            .samples
            .back()
            .is_some_and(|(last, _)| seconds(*last, time) < APART)
        {
            return;
        }
        self.samples.push_back((time, self.done(phase)));
        // One sample older than the window is kept: it begins the window.
        while self
            .samples
            .get(1)
            .is_some_and(|(second, _)| seconds(*second, time) > WINDOW)
        {
            self.samples.pop_front();
        }
    }

    fn rate(&self, now: Timestamp) -> Option<f64> {
        let (first, before) = self
            .samples
            .iter()
            .rev()
            .find(|(time, _)| seconds(*time, now) > WINDOW)
            .or_else(|| self.samples.front())?;
        let over = seconds(*first, now);
        (over >= 1.0).then(|| real(self.done(self.phase).saturating_sub(*before)) / over)
    }
}

/// Docker's words for where a layer stands.
fn stand(status: &str) -> Option<Stand> {
    match status {
        "Pulling fs layer" | "Waiting" => Some(Stand::Waiting),
        "Downloading" => Some(Stand::Downloading),
        "Verifying Checksum" | "Download complete" => Some(Stand::Downloaded),
        "Extracting" => Some(Stand::Extracting),
        "Pull complete" => Some(Stand::Done),
        "Already exists" => Some(Stand::There),
        _ if status.starts_with("Retrying") => Some(Stand::Waiting),
        _ => None,
    }
}

/// Seconds from one time to another, none below 0.
#[must_use]
pub fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.duration_since(from).as_secs_f64().max(0.0)
}

#[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
fn real(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
