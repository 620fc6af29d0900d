//! Several machines: the process on the first one, the head, executes the plan, and directs a process on each
//! of the others, which executes its machine's steps. They communicate in lines of JSON over stdin and stdout
//! of the launcher (`ssh`, `srun`); no port is opened.
//!
//! The head's journal is the run's. Each other machine has a directory of its own in the run's, `nodes/NAME`,
//! with its journal, output and results, as a run has it.

mod agent;
mod failures;
mod images;
mod launcher;
mod lines;
mod message;
mod node;
mod others;

pub use agent::{Agent, read_orders};
pub use failures::NodeFailures;
pub(crate) use images::compare_images;
pub use launcher::Launcher;
pub use lines::{LimitedLine, LineReader};
pub use message::{
    AgentReply, AgentRequest, AgentSetup, MachineFacts, OnDisconnect, write_messages,
};
pub use node::{NodeError, clock_lead_s};
pub use others::PeerNodes;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use retrial_recipe::expression::NodeScope;
use retrial_store::machine_subdirectory;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunMachine {
    /// The machine's values in expressions.
    pub scope: NodeScope,
    /// Whether it is the first one, the head.
    pub is_head: bool,
}

impl RunMachine {
    /// Returns its directory within the run's: `nodes/n2/`; empty for the head.
    pub fn run_subdirectory(&self) -> String {
        if self.is_head {
            String::new()
        } else {
            format!("{}/", machine_subdirectory(&self.scope.name))
        }
    }
}

/// The run's directory that contains a machine's directory, or the run's own.
pub fn whole_run_directory(path: &Path) -> PathBuf {
    let run = path.parent().filter(|parent| parent.ends_with("nodes"));
    run.and_then(Path::parent).unwrap_or(path).to_owned()
}

/// Returns whether a name is valid for a machine: it becomes a part of paths and command lines.
pub fn is_machine_name(name: &str) -> bool {
    let letters = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    name.starts_with(|first: char| first.is_ascii_alphanumeric()) && name.chars().all(letters)
}
