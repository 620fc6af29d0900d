//! A run's evidence for others: packs and signs it, and verifies it. Needs no engine, no network and no home.

mod canonical;
mod keys;
mod pack;
mod recipe;
mod rules;
mod unpack;
mod verify;

pub use crate::app::options::VerifyRequest;
pub use pack::pack_bundle;
pub use unpack::{is_bundle, unpack_run};
pub use verify::{VerifiedBundle, create_temporary_directory, verify_bundle};
