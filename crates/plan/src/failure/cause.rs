//! Why a command failed, as its own output states it: the kind, and the line that names it.

use std::fmt;

use retrial_document::words;
use serde::{Deserialize, Serialize};

words! {
    /// The kind of a failure, most specific first: where the output names several, the first of these is the cause of
    /// the others.
    pub enum FailureKind {
        /// A GPU's memory has an error that its ECC could not correct.
        EccError = "ECC error",
        /// The driver no longer has a GPU.
        GpuLost = "GPU lost",
        /// A GPU stopped responding, and was reset.
        GpuHang = "GPU hang",
        /// Code on a GPU accessed memory that is not its own.
        IllegalMemoryAccess = "illegal memory access",
        /// A GPU has too little free memory.
        OutOfGpuMemory = "out of GPU memory",
        /// The program sees no GPU.
        NoGpu = "no usable GPU",
        /// The program has no code for this model of GPU.
        NoCodeForGpu = "no code for this GPU",
        /// `/dev/shm` of the container is full.
        OutOfSharedMemory = "out of shared memory",
        /// A disk is full.
        DiskFull = "disk full",
        /// The host, or the container, has too little memory.
        OutOfHostMemory = "out of host memory",
        /// Another program listens on a port.
        PortInUse = "port in use",
        /// The hub refuses a model to this account.
        ModelRefused = "model refused",
        /// The program does not accept its arguments.
        InvalidArguments = "invalid arguments",
        /// A signal ended one of several processes.
        WorkerKilled = "worker killed",
        /// NCCL, RCCL or Gloo could not complete an operation of several processes.
        CollectiveFailed = "collective operation failed",
        /// The registry does not have the image.
        NoSuchTag = "no such tag",
        /// The image lacks a module of Python.
        MissingModule = "missing Python module",
        /// A file does not exist.
        MissingFile = "missing file",
        /// One of several processes ended with an error.
        WorkerFailed = "worker failed",
    }
}

impl FailureKind {
    /// Returns whether the same command would end the same way in another trial.
    pub fn repeats(self) -> bool {
        match self {
            Self::GpuLost
            | Self::OutOfGpuMemory
            | Self::NoGpu
            | Self::NoCodeForGpu
            | Self::OutOfSharedMemory
            | Self::ModelRefused
            | Self::NoSuchTag
            | Self::MissingModule
            | Self::MissingFile
            | Self::InvalidArguments => true,
            Self::EccError
            | Self::GpuHang
            | Self::IllegalMemoryAccess
            | Self::DiskFull
            | Self::OutOfHostMemory
            | Self::PortInUse
            | Self::WorkerKilled
            | Self::CollectiveFailed
            | Self::WorkerFailed => false,
        }
    }

    pub fn advice(self) -> &'static str {
        match self {
            Self::EccError => {
                "results may be wrong: exclude the GPU with --gpus, reset it, and see `retrial doctor`"
            }
            Self::GpuLost | Self::GpuHang => {
                "see the kernel's log (`dmesg`), reset the GPU or reboot, then check it: retrial doctor"
            }
            Self::IllegalMemoryAccess => {
                "a fault of the software or the GPU: repeat it on another GPU (--gpus), and see `dmesg`"
            }
            Self::OutOfGpuMemory => {
                "use a GPU with more memory or a smaller batch; is another program using the GPU? `retrial doctor`"
            }
            Self::NoGpu => "check the driver, and how containers get GPUs: retrial doctor",
            Self::NoCodeForGpu => {
                "use an image that was built for this GPU; `retrial doctor RECIPE` compares them"
            }
            Self::OutOfSharedMemory => {
                "give the container more shared memory: `ipc: host` or `shm_size:` in the recipe"
            }
            Self::DiskFull => "free some space on the disk that the container writes to",
            Self::OutOfHostMemory => {
                "give the container or the host more memory, or the benchmark a smaller batch"
            }
            Self::PortInUse => "end the program that has the port: `ss -ltnp`",
            Self::ModelRefused => {
                "accept the model's terms on the hub, and set HF_TOKEN to a token of that account"
            }
            Self::NoSuchTag => "check the image's name and tag, and whether it was removed",
            Self::MissingModule => {
                "use an image that has the module, or install it in a setup step"
            }
            Self::MissingFile => "is it mounted, and did the steps before create it?",
            Self::InvalidArguments => "compare the command with the program's own --help",
            Self::WorkerKilled => {
                "the kernel's log (`dmesg`) says whether it ran out of memory; otherwise someone ended it"
            }
            Self::CollectiveFailed => {
                "one of the processes is missing or slow: NCCL_DEBUG=INFO in `env:` prints why"
            }
            Self::WorkerFailed => "read what this process printed before it ended",
        }
    }
}

/// Why a command failed, by a line of its output. It is searched for only in the output of a command that failed, and
/// never decides that it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCause {
    pub kind: FailureKind,
    /// The GPU that the line names, as the line does: its index, or `node-3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<String>,
    /// The process that the line names, by its rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// The signal that ended the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The line, without control characters, shortened.
    pub line: String,
}

/// `worker killed by signal 9 (KILL), rank 3: 'failed (exitcode: -9) local_rank: 3 …'`
impl fmt::Display for FailureCause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.kind)?;
        if let Some(signal) = self.signal {
            write!(formatter, " by {}", signal_name(signal))?;
        }
        if let Some(gpu) = &self.gpu {
            write!(formatter, " on GPU {gpu}")?;
        }
        if let Some(rank) = self.rank {
            write!(formatter, ", rank {rank}")?;
        }
        write!(formatter, ": '{}'", self.line)
    }
}

/// Returns a signal's number and name: `signal 9 (KILL)`.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        2 => " (INT)",
        6 => " (ABRT)",
        7 => " (BUS)",
        9 => " (KILL)",
        11 => " (SEGV)",
        13 => " (PIPE)",
        15 => " (TERM)",
        _ => "",
    };
    format!("signal {signal}{name}")
}
