//! The control directory: the files by which the tool and the container's side of a step communicate, and the
//! scripts of that side. Nothing read from it is trusted.

mod directory;
mod step;
#[cfg(test)]
mod tests;

pub use directory::{
    ControlDirectory, DEADLINE_GRACE_S, DEADLINE_RENEWAL_INTERVAL, PACKAGES_SCRIPT, step_command,
    step_mark,
};
pub use step::{RefusedResult, ResultDirectory, StepControl, StepExit};
