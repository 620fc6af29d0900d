//! Several machines: the process on the first one, the head, executes the plan, and directs a process on
//! each of the others, which executes there what the plan says of it. They talk by lines of JSON over the
//! input and output of whatever starts a process there (`ssh`, `srun`); nothing here opens a port.
//!
//! The head's journal is the run's. Each other machine has a directory of its own in the run's, `nodes/NAME`,
//! with its journal, output and results, as a run has it.

mod agent;
mod failures;
mod images;
mod launcher;
mod message;
mod node;
mod others;

pub use agent::{Agent, read_orders};
pub use failures::Failures;
pub(super) use images::compare_images;
pub use launcher::Launcher;
pub use message::{Begin, Facts, LocalImage, OnDisconnect, Order, Reply};
pub use node::{NodeError, ahead};
pub use others::Others;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::store::directory_of_machine;
use retrial_recipe::expression::NodeScope;

/// One of a run's machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// What expressions know of it.
    pub scope: NodeScope,
    /// It is the first one.
    pub is_head: bool,
}

impl Machine {
    /// Its directory within the run's: `nodes/n2/`, or nothing.
    pub fn directory(&self) -> String {
        if self.is_head {
            String::new()
        } else {
            format!("{}/", directory_of_machine(&self.scope.name))
        }
    }
}

/// The directory of the run that a machine's directory is a part of, or the run's own.
pub fn whole_run(path: &Path) -> PathBuf {
    let run = path.parent().filter(|parent| parent.ends_with("nodes"));
    run.and_then(Path::parent).unwrap_or(path).to_owned()
}

/// Whether a name can be that of a machine: it becomes a part of paths and command lines.
pub fn is_name(name: &str) -> bool {
    let letters = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    name.starts_with(|first: char| first.is_ascii_alphanumeric()) && name.chars().all(letters)
}
