//! Models from the Hugging Face hub, never a wrong byte.
//!
//! A revision is resolved to its commit, the commit's files are listed with sizes and hashes, and
//! each file is written into the Python client's cache while it is hashed. What does not match is
//! discarded and downloaded again; a cut download resumes inside the file. Blobs that another
//! program wrote are used after they have been hashed once.
//!
//! ```no_run
//! # async fn example() -> Result<(), retrial_hub::FetchError> {
//! use retrial_hub::{Hub, ModelSpec};
//!
//! let hub = Hub::from_environment()?;
//! let model = ModelSpec {
//!     repository: "openai-community/gpt2".to_owned(),
//!     revision: "main".to_owned(),
//!     ..ModelSpec::default()
//! };
//! let (progress, _reports) = tokio::sync::mpsc::unbounded_channel();
//! let stop = tokio_util::sync::CancellationToken::new();
//! let snapshot = hub.resolve_snapshot(&model, &progress, &stop).await?;
//! let fetched = hub.fetch_snapshot(&snapshot, &progress, &stop).await?;
//! println!("{} holds {} files", fetched.directory.display(), fetched.files.len());
//! # Ok(())
//! # }
//! ```
//!
//! - `settings`: the environment (the Python client's variables).
//! - `transport`, `classify`, `retry_after`: requests, classes of failures, and when to repeat
//!   them; `xet`: the hub's Xet store; `body`: bytes of either.
//! - `listing`, `pattern`: commit and files; `tree`: the listing in the cache.
//! - `cache`, `lock`, `records`, `space`: the cache's layout, and which blobs were verified.
//! - `digest`, `sink`, `download`: bytes on their way to the disk.
//! - `blobs`: all blobs of a snapshot; `hub`: all of it together.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod blobs;
mod body;
mod cache;
mod classify;
mod digest;
mod download;
mod error;
mod hub;
mod listing;
mod lock;
mod model;
mod pattern;
mod progress;
mod records;
mod retry_after;
mod settings;
mod sink;
mod space;
mod transport;
mod tree;
mod xet;

pub use digest::Digest;
pub use error::FetchError;
pub use hub::Hub;
pub use listing::ModelSnapshot;
pub use model::{FetchedFile, FetchedModel, ModelSpec};
pub use progress::{DownloadState, FetchProgress};
pub use settings::{HubSettings, Token};
pub use tree::RemoteFile;
