//! The same files, the same verdict: a run's own, that on the folders that its shell plan leaves, that on
//! the run after it was packed and imported, and that on the submission tree that it exports.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod contents;
mod exported;
#[path = "../export/logs.rs"]
#[allow(dead_code, reason = "tests of exports use all of it")]
mod logs;
mod paths;
#[path = "../export/planted.rs"]
#[allow(dead_code, reason = "tests of exports use all of it")]
mod planted;
mod scene;
