//! Progress of a pull or a fetch, part by part, as events record it.

use serde::{Deserialize, Serialize};

/// Progress of a layer of an image, or of a file of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Whether the part is a layer of an image or a file of a model.
    pub unit: TransferUnit,
    /// The layer's short id, or the file's path in the repository.
    pub part: String,
    pub state: TransferState,
    /// Bytes done, if they are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<u64>,
    /// Total bytes, once known; of a layer, compressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransferUnit {
    /// A layer of an image.
    #[default]
    Layer,
    /// A file of a model.
    File,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransferState {
    /// No byte of it was requested yet.
    Waiting,
    /// A transfer is under way.
    Downloading,
    /// All bytes arrived; a layer has still to be extracted.
    Downloaded,
    /// Its bytes are hashed.
    Verifying,
    /// A layer is unpacked.
    Extracting,
    /// It is complete, unpacked and matches its hash.
    Done,
    /// It was present already.
    Cached,
}
