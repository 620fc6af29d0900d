//! Removes what runs left behind.

pub mod cached;
pub mod containers;
