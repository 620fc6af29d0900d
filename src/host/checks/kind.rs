//! What a check is about, and how one is made.

use super::{Check, CheckState};

words! {
    /// What a check is about.
    pub enum CheckKind {
        /// The container engine answers.
        Engine = "engine",
        /// The GPUs that are required are there: as many, and of that model.
        Gpus = "gpus",
        /// All GPUs can be read.
        GpusReadable = "gpus readable",
        /// The partition mode of the GPUs.
        Partition = "partition",
        /// The GPUs are not divided.
        GpusWhole = "gpus undivided",
        /// The GPUs have the memory that their model has.
        GpuMemory = "gpu memory",
        /// No other program uses the GPUs.
        GpusIdle = "gpus idle",
        /// No other run has the GPUs.
        GpusClaimed = "gpus claimed",
        /// The GPUs' memory has no uncorrected errors.
        GpusHealthy = "gpus healthy",
        /// The GPUs' device nodes are there.
        GpuDevices = "gpu devices",
        /// The engine can inject the GPUs into a container.
        GpuAccess = "gpu injection",
        /// The kernel's driver.
        Driver = "driver",
        /// The `ROCm` release of the host.
        Rocm = "rocm on the host",
        /// The operating system and its kernel.
        System = "operating system",
        /// Frameworks in the image.
        Frameworks = "frameworks in the image",
        /// The image has code for the GPUs.
        ImageTarget = "image for these GPUs",
        /// Free space of a disk.
        Disk = "disk",
        /// Memory of the host.
        Memory = "memory",
        /// A model, of the hub or of this host.
        Model = "model",
        /// A file or directory of this host that a container mounts.
        Mount = "mount",
        /// Hosts that commands connect to.
        Network = "network",
        /// Ports of the host.
        Ports = "ports",
        /// A setting of the kernel.
        Setting = "setting",
    }
}

impl CheckKind {
    /// Whether another value measures other hardware than the published.
    #[must_use]
    pub fn is_hardware(self) -> bool {
        matches!(self, Self::Gpus | Self::Partition)
    }

    /// Whether a recipe requires it, so that a plan lists it when it is not met.
    pub(super) fn is_requirement(self) -> bool {
        matches!(
            self,
            Self::Gpus | Self::Partition | Self::GpuAccess | Self::Rocm | Self::Disk | Self::Memory
        )
    }

    pub(super) fn check(self, state: CheckState, actual: impl Into<String>) -> Check {
        Check {
            kind: self,
            name: self.word().to_owned(),
            state,
            actual: actual.into(),
            required: String::new(),
            fix: String::new(),
        }
    }

    pub(super) fn ok(self, actual: impl Into<String>) -> Check {
        self.check(CheckState::Ok, actual)
    }

    pub(super) fn unknown(self, actual: impl Into<String>) -> Check {
        self.check(CheckState::Unknown, actual)
    }

    pub(super) fn warning(self, actual: impl Into<String>) -> Check {
        self.check(CheckState::Warning, actual)
    }

    pub(super) fn error(self, actual: impl Into<String>) -> Check {
        self.check(CheckState::Error, actual)
    }

    /// A check that exists only where something is wrong: a warning of all that is.
    pub(super) fn warning_of(self, wrong: &[String]) -> Option<Check> {
        (!wrong.is_empty()).then(|| self.warning(wrong.join("; ")))
    }

    /// A check from an error's message, whose further lines say how to fix it.
    pub(super) fn failed(self, state: CheckState, message: &str) -> Check {
        let mut lines = message.lines();
        let actual = lines.next().unwrap_or("no answer");
        let fix: Vec<&str> = lines.map(str::trim).collect();
        self.check(state, actual).fix(fix.join("; "))
    }
}
