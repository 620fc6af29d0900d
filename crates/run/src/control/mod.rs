//! The control directory: the files by which the tool and the container's side of a step communicate, and the
//! scripts of that side. Nothing read from it is trusted.

mod directory;
mod step;
#[cfg(test)]
mod tests;

pub use directory::{ControlDirectory, GRACE_S, PACKAGES, RENEWAL, mark, step_command};
pub use step::{ResultDirectory, StepControl, StepExit};
