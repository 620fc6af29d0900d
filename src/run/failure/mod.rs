//! Looks for signs that a running command has failed, by its output and its child processes. Benchmarks of
//! several processes often wait for ever for one that has died.
//!
//! It decides nothing else: limits on the whole command are those of `follow`, and how a command ended is
//! read by `exec`.

mod children;
mod finding;
mod lines;
mod seen;
mod watch;

pub use finding::signal_name;
pub use seen::Seen;
pub use watch::FailureWatch;
