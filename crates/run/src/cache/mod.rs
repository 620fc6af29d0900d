//! Directories that runs keep for later ones: cached directories, populated once, and cache mounts, in which
//! programs cache compiled code. None of them is evidence.

pub mod cache_mounts;
pub mod cached_directories;
pub mod populate;
pub mod seed;
