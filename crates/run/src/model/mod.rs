//! Models of the hub: fetched on this machine, and mounted into the container as views. How they are downloaded
//! and verified is `retrial_hub`'s.

mod fetch;
mod mounts;
mod view;

pub(crate) use fetch::fetch;
pub use fetch::{hash, spec};
pub(crate) use mounts::mounts;
