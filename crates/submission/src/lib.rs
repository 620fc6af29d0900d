//! Submissions of `MLPerf Inference` and runs, both ways: a published result as a recipe (`import`), and runs as a tree
//! that can be submitted (`export`). `curves` has published points of serving, `published` lists
//! published figures. Where files are in a tree is `retrial_mlperf::submission_layout`.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod curves;
pub mod export;
pub mod import;
pub mod published;
mod published_text;
