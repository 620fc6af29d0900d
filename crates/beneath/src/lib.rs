//! Paths beneath a directory, opened by its handle and without following links: whoever can write there may replace
//! a directory by a link at any time; and what mounts give second paths. Knows nothing of runs or containers, and reads no content.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod held_directory;
mod mounts;
mod open;
mod real_path;

pub use held_directory::HeldDirectory;
pub use mounts::MountTable;
pub use open::open_beneath;
pub use real_path::{RealPath, resolve_existing};
