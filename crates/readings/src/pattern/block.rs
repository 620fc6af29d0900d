//! The blocks below a heading, and which of them have the figure.

use std::collections::BTreeMap;

use crate::nearest::truncate_for_message;
use crate::place::RecordLocation;

/// More different blocks without a figure than this are not stored.
const MAX_EMPTY_BLOCKS: usize = 1000;

/// A block of lines below a heading.
#[derive(Debug, Clone)]
pub struct HeadedBlock {
    /// The same for each repetition of the block.
    identity: String,
    /// The heading's line, shortened.
    pub heading: String,
    /// The file and the offset of the heading's line.
    pub place: RecordLocation,
}

/// The block that is read, and those before it.
#[derive(Debug, Clone, Default)]
pub struct HeadedBlocks {
    open: Option<HeadedBlock>,
    /// The latest block that has the figure.
    with_figure: Option<String>,
    /// The first of each that ended without the figure.
    empty: BTreeMap<String, HeadedBlock>,
}

impl HeadedBlocks {
    /// Begins a block; its heading may be repeated within it.
    pub fn open(&mut self, identity: String, heading: &str, place: RecordLocation) {
        if self.open.is_none() {
            let heading = truncate_for_message(heading.trim());
            self.open = Some(HeadedBlock { identity, heading, place });
        }
    }

    /// Returns whether the next line that matches counts.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Ends the block with its figure. Returns an earlier repetition of it that had none.
    pub fn close_with_figure(&mut self) -> Option<HeadedBlock> {
        let block = self.open.take()?;
        let empty = self.empty.remove(&block.identity);
        self.with_figure = Some(block.identity);
        empty
    }

    /// Ends the block without a figure. Returns it if it is a repetition of the latest that had one.
    pub fn close_empty(&mut self) -> Option<HeadedBlock> {
        let block = self.open.take()?;
        if self.with_figure.as_ref() == Some(&block.identity) {
            return Some(block);
        }
        if self.empty.len() < MAX_EMPTY_BLOCKS {
            self.empty.entry(block.identity.clone()).or_insert(block);
        }
        None
    }
}
