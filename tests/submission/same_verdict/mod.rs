//! The same files, the same verdict: a run's own, that on the folders that its shell plan leaves, that on
//! the run after it was packed and imported, and that on the submission tree that it exports.
#![expect(clippy::unwrap_used, reason = "tests")]

mod contents;
mod exported;
mod paths;
mod scene;
