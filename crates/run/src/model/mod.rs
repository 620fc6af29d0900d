//! Models of the hub: fetched on this machine, and mounted into the container as views. How they are downloaded
//! and verified is `retrial_hub`'s.

mod fetch;
mod mounts;
mod view;

pub(crate) use fetch::fetch_model;
pub use fetch::{format_digest, to_model_spec};
pub(crate) use mounts::model_mounts;
