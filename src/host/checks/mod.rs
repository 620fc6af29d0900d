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

/// What a check is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// The container engine answers.
    Engine,
    /// The GPUs that are required are there.
    Gpus,
    /// All GPUs can be read.
    GpusReadable,
    /// The partition mode of the GPUs.
    Partition,
    /// The GPUs are not divided.
    GpusWhole,
    /// No other program uses the GPUs.
    GpusIdle,
    /// No other run has the GPUs.
    GpusClaimed,
    /// The GPUs' memory has no uncorrected errors.
    GpusHealthy,
    /// The GPUs' device nodes are there.
    GpuDevices,
    /// A container can be given the GPUs.
    GpuAccess,
    /// The kernel's driver.
    Driver,
    /// The `ROCm` release of the host.
    Rocm,
    /// The image has code for the GPUs.
    ImageTarget,
    /// Free space of a disk.
    Disk,
    /// Memory of the host.
    Memory,
    /// A model of the hub.
    Model,
    /// Ports of the host.
    Ports,
    /// A setting of the kernel.
    Setting,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What is checked: what decides by it asks for this.
    pub kind: CheckKind,
    /// What is checked, for people.
    pub name: String,
    /// How it came out.
    pub state: CheckState,
    /// What the host has.
    pub actual: String,
    /// What is required; empty where nothing is.
    pub required: String,
    /// What fixes it, a command where there is one; empty where nothing is to be fixed.
    pub fix: String,
}

impl Check {
    fn new(kind: CheckKind, name: &str, state: CheckState, actual: impl Into<String>) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            state,
            actual: actual.into(),
            required: String::new(),
            fix: String::new(),
        }
    }

    fn required(mut self, required: impl Into<String>) -> Self {
        self.required = required.into();
        self
    }

    /// What fixes it, kept only where something is to be fixed.
    fn fix(mut self, fix: impl Into<String>) -> Self {
        if matches!(self.state, CheckState::Warning | CheckState::Error) {
            self.fix = fix.into();
        }
        self
    }
}

impl Check {
    /// What a verdict should say of it: the run went on, and its figure may have suffered. Room on
    /// a disk is not among it: a run that lacked room has failed.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let unwise = self.state == CheckState::Warning && self.kind != CheckKind::Disk;
        let required = if self.required.is_empty() {
            String::new()
        } else {
            format!("; required: {}", self.required)
        };
        unwise.then(|| format!("{}: {}{required}", self.name, self.actual))
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
