//! Run directories: the location of evidence, writing it so that a kill loses nothing, and opening it although
//! the container that wrote it may be hostile.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod blocks;
pub mod cache;
pub mod clock;
pub mod companions;
pub mod dir_handle;
pub mod error;
pub mod files;
pub mod home;
pub mod import;
pub mod import_refusal;
pub mod journal;
pub mod lock;
mod lock_holder;
pub mod lookup;
pub mod open;
pub mod pack;
pub mod packages;
pub mod process;
pub mod record;
pub mod remove;
pub mod run_directory;
pub mod scratch;
pub mod staging_directory;
pub mod unpack;
mod unpack_limit;
pub mod walk;

pub use error::StoreError;
pub use home::Home;
pub use record::RecordDirectory;
pub use run_directory::{RunDirectory, machine_subdirectory};
pub use unpack_limit::{OverLimit, UnpackLimit};
