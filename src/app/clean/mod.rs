//! Removes containers and cached directories of earlier runs.

pub mod cached;
pub mod containers;
