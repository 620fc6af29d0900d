//! Is this host ready, and what would be wrong? Pure: what was found of the host, and a recipe
//! where one is asked about, become a list of checks. `doctor` prints them, and changes nothing.

mod compatibility;
mod driver;
mod engine;
mod facts;
mod gpus;
mod image;
mod machine;
pub mod requirements;
mod services;
mod settings;

use serde::{Deserialize, Serialize};

pub use facts::{Condition, Disk, EngineFound, Errors, Facts, Process, Settings};
pub use image::rocm_of_image;
pub use services::{Access, ModelSeen};

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    /// As wanted.
    Ok,
    /// Nothing says.
    Unknown,
    /// It works, and the figure may suffer.
    Warning,
    /// It cannot work.
    Error,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was looked at.
    pub name: String,
    /// How it came out.
    pub state: CheckState,
    /// What was found.
    pub found: String,
    /// What is wanted; empty where nothing is asked.
    pub wanted: String,
    /// What would mend it, a command where there is one; empty where nothing needs mending.
    pub mend: String,
}

impl Check {
    fn new(name: &str, state: CheckState, found: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            state,
            found: found.into(),
            wanted: String::new(),
            mend: String::new(),
        }
    }

    fn wanted(mut self, wanted: impl Into<String>) -> Self {
        self.wanted = wanted.into();
        self
    }

    /// What would mend it, said only where something is to be mended.
    fn mend(mut self, mend: impl Into<String>) -> Self {
        if matches!(self.state, CheckState::Warning | CheckState::Error) {
            self.mend = mend.into();
        }
        self
    }
}

impl Check {
    /// What a verdict should say of it: the run went on, and its figure may have suffered. Room on
    /// a disk is not among it: a run that lacked room has failed.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let unwise = self.state == CheckState::Warning && !self.name.starts_with("disk");
        let wanted = if self.wanted.is_empty() {
            String::new()
        } else {
            format!("; wanted: {}", self.wanted)
        };
        unwise.then(|| format!("{}: {}{wanted}", self.name, self.found))
    }
}

/// All checks, in the order in which a person would mend them.
#[must_use]
pub fn examine(facts: &Facts<'_>) -> Vec<Check> {
    let mut checks = vec![engine::check(&facts.engine)];
    checks.extend(gpus::checks(facts));
    checks.extend(driver::checks(facts));
    checks.extend(machine::checks(facts));
    checks.extend(services::checks(facts));
    checks.extend(settings::checks(facts));
    checks
}

#[cfg(test)]
mod tests;
