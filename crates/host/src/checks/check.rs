//! One check: its subject, its result, the requirement, and the fix.

use retrial_document::ErrorText;
use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostCheckState {
    /// The requirement is met.
    Ok,
    /// It cannot be determined whether the requirement is met.
    Unknown,
    /// It works, but may lower the figure.
    Warning,
    /// The requirement is not met, and a run would fail.
    Error,
}

/// One line of `doctor`: a requirement, the actual state, and the fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCheck {
    /// The kind: decisions depend on it, never on the name.
    pub kind: HostCheckKind,
    /// The name for display.
    pub name: String,
    /// The result: only warnings and errors need a fix.
    pub state: HostCheckState,
    pub actual: String,
    /// The requirement; empty if there is none.
    pub required: String,
    /// The fix, a command if possible; empty if none is needed.
    pub fix: String,
}

/// `gpus: 8 x W7900; required: 8 x MI355X`
impl fmt::Display for HostCheck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.name, self.actual)?;
        if self.required.is_empty() {
            return Ok(());
        }
        write!(formatter, "; required: {}", self.required)
    }
}

impl HostCheck {
    pub(super) fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    pub(super) fn with_requirement(mut self, required: impl Into<String>) -> Self {
        self.required = required.into();
        self
    }

    /// Adds the fix, if one is needed.
    pub(super) fn with_fix(mut self, fix: impl Into<String>) -> Self {
        if self.is_unmet() {
            self.fix = fix.into();
        }
        self
    }

    /// A model's directory on this host that does not exist.
    pub fn missing_model(name: &str, path: &str) -> Self {
        HostCheckKind::Model
            .fail("no such directory")
            .with_name(format!("model {name}"))
            .with_requirement(path)
    }

    /// A mount's source on this host that does not exist.
    pub fn missing_source(source: &str, target: &str) -> Self {
        HostCheckKind::Mount
            .fail("no such file or directory")
            .with_name(format!("mount {target}"))
            .with_requirement(source)
            .with_fix(format!("create it, or correct the recipe: mkdir -p {source}"))
    }

    /// A secret that the recipe names and the environment lacks.
    pub(super) fn unset_secret(name: &str) -> Self {
        HostCheckKind::Secret
            .warn("not set")
            .with_name(name)
            .with_requirement("a value, for steps that name it")
            .with_fix(format!("export {name}=…"))
    }

    /// A device of a container that this host does not have.
    pub fn missing_device(path: &str) -> Self {
        HostCheckKind::Device
            .fail("no such file or directory")
            .with_name(format!("device {path}"))
            .with_requirement(path)
            .with_fix("is its driver loaded? Else remove it from `container.devices`")
    }

    /// Returns whether a fix is needed.
    pub fn is_unmet(&self) -> bool {
        matches!(self.state, HostCheckState::Warning | HostCheckState::Error)
    }

    /// Returns whether it would change the figure from the published one.
    pub fn is_other_hardware(&self) -> bool {
        self.kind.is_hardware() && self.is_unmet()
    }

    /// Returns whether it prevents a start, unless the user forces it.
    pub fn prevents_start(&self) -> bool {
        self.state == HostCheckState::Error || self.is_other_hardware()
    }

    /// The warning for a verdict: the run continued, but its figure may be lower. Disk space and the network
    /// are excluded: a run without them has failed.
    pub fn verdict_warning(&self) -> Option<String> {
        let is_told_by_failing = matches!(self.kind, HostCheckKind::Disk | HostCheckKind::Network);
        let unwise = self.state == HostCheckState::Warning && !is_told_by_failing;
        unwise.then(|| self.to_string())
    }
}

retrial_document::words! {
    /// The kind of a check.
    pub enum HostCheckKind {
        /// The container engine responds.
        Engine = "engine",
        /// The required GPUs exist, in number and model.
        Gpus = "gpus",
        /// All GPUs can be read.
        GpusReadable = "gpus readable",
        /// The partition mode of the GPUs.
        Partition = "partition",
        /// The GPUs are not divided.
        GpusWhole = "gpus undivided",
        /// The GPUs have the memory that their model has.
        GpuMemory = "gpu memory",
        /// The GPUs have the memory that a scenario needs.
        ScenarioMemory = "gpu memory for a scenario",
        /// No other program is using the GPUs.
        GpusIdle = "gpus idle",
        /// No other run has the GPUs.
        GpusClaimed = "gpus claimed",
        /// The GPUs' memory has no uncorrected errors.
        GpusHealthy = "gpus healthy",
        /// The GPUs' device nodes exist.
        GpuDevices = "gpu devices",
        /// The engine can inject the GPUs into a container.
        GpuAccess = "gpu injection",
        /// The version of the GPUs' driver that the kernel has loaded.
        Driver = "driver",
        /// The `ROCm` release of the host.
        Rocm = "rocm on the host",
        /// The operating system and its kernel.
        System = "operating system",
        /// Frameworks in the image.
        Frameworks = "frameworks in the image",
        /// The image has code for the GPUs.
        ImageTarget = "image for these GPUs",
        /// A known issue of the image's `ROCm` on the GPUs.
        KnownIssue = "known issue of rocm",
        /// Free space of a disk.
        Disk = "disk",
        /// Memory of the host.
        Memory = "memory",
        /// A model, of the hub or of this host.
        Model = "model",
        /// A file or directory of this host that a container mounts.
        Mount = "mount",
        /// A device of this host that a container is given.
        Device = "device",
        /// Hosts that commands connect to.
        Network = "network",
        /// Ports of the host.
        Ports = "ports",
        /// A setting of the kernel.
        Setting = "setting",
        /// A secret of the environment, which the recipe names.
        Secret = "secret",
    }
}

impl HostCheckKind {
    /// Returns whether a different value means different hardware than the published.
    pub fn is_hardware(self) -> bool {
        matches!(self, Self::Gpus | Self::Partition)
    }

    /// Returns whether a recipe requires it, so that a plan lists it if unmet.
    pub(super) fn is_requirement(self) -> bool {
        matches!(
            self,
            Self::Gpus
                | Self::Partition
                | Self::ScenarioMemory
                | Self::GpuAccess
                | Self::Rocm
                | Self::Memory
        )
    }

    pub(super) fn new_check(self, state: HostCheckState, actual: impl Into<String>) -> HostCheck {
        HostCheck {
            kind: self,
            name: self.word().to_owned(),
            state,
            actual: actual.into(),
            required: String::new(),
            fix: String::new(),
        }
    }

    pub(super) fn pass(self, actual: impl Into<String>) -> HostCheck {
        self.new_check(HostCheckState::Ok, actual)
    }

    pub(super) fn undetermined(self, actual: impl Into<String>) -> HostCheck {
        self.new_check(HostCheckState::Unknown, actual)
    }

    pub(super) fn warn(self, actual: impl Into<String>) -> HostCheck {
        self.new_check(HostCheckState::Warning, actual)
    }

    pub(super) fn fail(self, actual: impl Into<String>) -> HostCheck {
        self.new_check(HostCheckState::Error, actual)
    }

    /// A check that exists only if something is wrong: a warning with all problems.
    pub(super) fn warn_about(self, wrong: &[String]) -> Option<HostCheck> {
        (!wrong.is_empty()).then(|| self.warn(wrong.join("; ")))
    }

    /// A check from an error, whose remedies are the fix.
    pub(super) fn check_from_message(self, state: HostCheckState, error: &ErrorText) -> HostCheck {
        self.new_check(state, &error.message).with_fix(error.help.join("; "))
    }
}
