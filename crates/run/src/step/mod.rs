//! One step of the plan: a command that is started, followed by its files to its end, and evaluated. It runs
//! without the tool, in a container or on this machine.
//!
//! What the command is for, the order of steps and the verdict are decided elsewhere.

pub mod exec;
mod exit;
mod follow;
pub mod host;
mod mirror;
pub mod output;
mod session;
mod summary;
pub mod tail;
mod target;
mod terminate;
mod watch;
mod watched;

pub use exit::{verify_exit, with_output};
pub use follow::{FollowOutcome, StepObserver, follow_step, format_exit_code};
pub use session::StepSession;
pub use summary::summarize_step;
pub use target::{StartedCommand, StepCommand};
pub use watch::DirectoryWatch;
pub use watched::watch_services;
