//! From evidence to a verdict: what the files of a run say ([`evidence`]), and what follows from it
//! ([`verdict`], pure); [`directory`] finds all results in a directory, and judges them.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod directory;
pub mod evidence;
pub mod packages;
pub mod verdict;
