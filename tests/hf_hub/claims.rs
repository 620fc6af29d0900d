//! Claims about hf-hub 1.0.0, each with the change that would refute it. A test that fails here
//! says that a newer release deserves another look: the crate could then carry our downloads.
#![cfg(test)]
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../hub/mod.rs"]
mod hub;

mod addresses;
mod content;
mod failures;
mod scene;
mod xet;
