//! Is this host ready, and what would go wrong? Pure: what was found of the host, and a recipe
//! where one is asked about, become one list of checks.
//!
//! `doctor` prints all of them. A plan keeps the requirements of its recipe that are not met
//! ([`unmet`]), and a run stops on those that it cannot work with ([`Check::stops`]).

mod driver;
mod engine;
mod facts;
mod gpus;
mod image;
mod kind;
mod machine;
mod release;
mod rocm;
mod services;
mod settings;
mod system;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::host::assign::AssignedGpus;
use crate::host::model::HostView;
use retrial_recipe::model::Requires;

pub use facts::{Condition, Disk, EngineFound, Errors, Facts, Process, Settings};
pub use image::{ImageContent, rocm_of_image};
pub use kind::CheckKind;
pub use services::{Access, HostSeen, HostsSeen, ModelSeen, ModelSize};

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    /// As required.
    Ok,
    /// Cannot be determined.
    Unknown,
    /// It works, and the figure may suffer.
    Warning,
    /// It cannot work.
    Error,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What is checked: decisions depend on this, never on the name.
    pub kind: CheckKind,
    /// What is checked, for people.
    pub name: String,
    /// How it came out.
    pub state: CheckState,
    /// What the host has.
    pub actual: String,
    /// What is required; empty where nothing is.
    pub required: String,
    /// How to fix it, a command where there is one; empty where nothing is to be fixed.
    pub fix: String,
}

/// `gpus: 8 x W7900; required: 8 x MI355X`
impl fmt::Display for Check {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.name, self.actual)?;
        if self.required.is_empty() {
            return Ok(());
        }
        write!(formatter, "; required: {}", self.required)
    }
}

impl Check {
    fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    fn required(mut self, required: impl Into<String>) -> Self {
        self.required = required.into();
        self
    }

    /// Adds how to fix it, where something is to be fixed.
    fn fix(mut self, fix: impl Into<String>) -> Self {
        if self.is_unmet() {
            self.fix = fix.into();
        }
        self
    }

    /// A model's directory on this host that does not exist.
    #[must_use]
    pub fn missing_model(name: &str, path: &str) -> Self {
        CheckKind::Model
            .error("no such directory")
            .named(format!("model {name}"))
            .required(path)
    }

    /// A mount's source on this host that does not exist.
    #[must_use]
    pub fn missing_source(source: &str, target: &str) -> Self {
        let source = CheckKind::Mount
            .error("no such file or directory")
            .required(source);
        source.named(format!("mount {target}"))
    }

    /// Whether something is to be fixed.
    #[must_use]
    pub fn is_unmet(&self) -> bool {
        matches!(self.state, CheckState::Warning | CheckState::Error)
    }

    /// Whether another figure would come of it than the one that was published.
    #[must_use]
    pub fn other_hardware(&self) -> bool {
        self.kind.is_hardware() && self.is_unmet()
    }

    /// Whether nothing starts because of it, unless the user forces it.
    #[must_use]
    pub fn stops(&self) -> bool {
        self.state == CheckState::Error || self.other_hardware()
    }

    /// What a verdict should say of it: the run continued, and its figure may have suffered. Space
    /// on a disk and the network are not among it: a run that lacked them has failed.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let is_told_by_failing = matches!(self.kind, CheckKind::Disk | CheckKind::Network);
        let unwise = self.state == CheckState::Warning && !is_told_by_failing;
        unwise.then(|| self.to_string())
    }
}

/// All checks, in the order in which a person would fix them.
#[must_use]
pub fn examine(facts: &Facts<'_>) -> Vec<Check> {
    let mut checks: Vec<Check> = engine::check(&facts.engine).into_iter().collect();
    checks.extend(gpus::checks(facts));
    checks.extend(driver::checks(facts));
    checks.extend(machine::checks(facts));
    checks.extend(services::checks(facts));
    checks.extend(settings::checks(facts));
    checks
}

/// The requirements of a recipe that the host does not meet, as far as a plan can know them: from
/// the host and the GPUs that the container gets, without asking an engine or the hub.
#[must_use]
pub fn unmet(
    requires: &Requires,
    host: &HostView,
    assigned: Option<&AssignedGpus>,
    chosen: bool,
) -> Vec<Check> {
    let facts = Facts {
        requires: Some(requires),
        assigned,
        chosen,
        disks: vec![Disk::of_runs(host.disk_free)],
        ..Facts::of(host)
    };
    let mut checks = examine(&facts);
    checks.retain(|check| check.kind.is_requirement() && check.is_unmet());
    checks
}

#[cfg(test)]
mod tests;
