//! A run's evidence for somebody else: packed and signed, and verified there. Needs no engine, no network and
//! nothing of the home.

mod compare;
mod keys;
mod pack;
mod recipe;
mod rules;
mod unpack;
mod verify;

pub use crate::app::options::VerifyRequest;
pub use pack::pack;
pub use unpack::{is_bundle, unpack_run};
pub use verify::{Verified, directory, verify};
