//! Models from the Hugging Face hub, never a wrong byte.
//!
//! A revision is resolved to its commit first, then the commit's files are listed with their
//! sizes and hashes, and each file is streamed into the Python client's cache while it is hashed.
//! What does not match is thrown out and fetched again; what was cut is gone on with. Blobs that
//! another program put there are taken after they have been hashed once.
//!
//! - `settings`: what the environment says (the Python client's variables).
//! - `transport`, `refusal`, `wait`: requests, what their failures mean, and when to ask again.
//! - `listing`, `pattern`: commit and files; `tree`: the same from the cache.
//! - `cache`, `lock`, `verified`, `space`: the cache's layout and what is known of its blobs.
//! - `digest`, `sink`, `download`: bytes on their way to the disk.
//! - `getter`: all blobs of a snapshot; `hub`: all of it together.
//!
//! No crate of the hub's is used: hf-hub 1.0 loses a file's SHA-256 when it lists (the field is
//! `oid`, it reads `sha256`), does not resume inside a file, retries without the wait that the hub
//! asks for, and writes error bodies into the cache under the real file's name.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod cache;
mod digest;
mod download;
mod error;
mod getter;
mod hub;
mod listing;
mod lock;
mod pattern;
mod progress;
mod refusal;
mod settings;
mod sink;
mod space;
mod transport;
mod tree;
mod verified;
mod wait;

pub use digest::Digest;
pub use error::FetchError;
pub use hub::{Fetched, FetchedFile, Hub, Wanted};
pub use listing::{RemoteFile, Snapshot};
pub use progress::{Progress, TransferState};
pub use settings::{Patience, Settings, Token};
