//! Detects signs that a running command has failed, by its output and its child processes. Benchmarks with
//! several processes often wait forever for one that has died.
//!
//! Limits on the whole command are enforced by `follow`, and `exec` evaluates how it ended.

mod child_history;
mod children;
mod finding;
mod watch;

pub use child_history::ChildHistory;
pub use watch::FailureWatch;
