//! Values of flags that a recipe cannot express. Pure.

use miette::Diagnostic;
use thiserror::Error;

/// The reason why a recipe cannot express the value of a flag.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
pub enum FlagValueError {
    /// A flag of the table that no key of the container has.
    #[error("a recipe cannot express this yet")]
    #[diagnostic(help("remove it from the command line if the figure does not depend on it"))]
    NoKey,
    /// `--volume` with a target only.
    #[error("an anonymous volume lasts only as long as its container")]
    #[diagnostic(help("remove it, or write source:target"))]
    AnonymousVolume,
    /// Another option of a volume.
    #[error("a recipe cannot express `{option}`: ro and rw are known")]
    VolumeOption { option: String },
    /// Another key of `--mount`.
    #[error("a recipe cannot express `{key}`: type, source, target and readonly are known")]
    MountKey { key: String },
    /// A mount that is neither a directory of the host nor memory, or lacks a path.
    #[error(
        "recipes mount directories of the host (type=bind with source and target) and memory (type=tmpfs)"
    )]
    MountType,
    /// `..` in a path.
    #[error("`..` in a path")]
    #[diagnostic(help("write the resolved path"))]
    ParentPath,
    /// A pattern in the path of a device.
    #[error("the engine does not accept patterns of devices")]
    #[diagnostic(help("write each device, or the directory: /dev/dri"))]
    DevicePattern,
    /// `--env` without a name.
    #[error("this is not a variable name")]
    VariableName,
    /// A file of `--env-file`.
    #[error("it cannot be read: {reason}")]
    #[diagnostic(help("write its variables into the recipe"))]
    EnvFile {
        /// The error of the operating system.
        reason: String,
    },
    /// `--gpus`
    #[error("expected all, a number, or device=0,1")]
    Gpus,
    /// `--ulimit`
    #[error("expected name=soft:hard, for example memlock=-1:-1")]
    Ulimit,
    /// `--sysctl`
    #[error("expected name=value")]
    Sysctl,
    /// `--shm-size`, `--memory`
    #[error("expected a size, for example 64G")]
    Size,
    /// `--network` with options, or another container's.
    #[error("a recipe allows host, bridge, none or a network's name")]
    Network,
    /// A second `--network`.
    #[error("a recipe has one network")]
    SecondNetwork,
    /// `--uts`, `--pid` or `--userns`.
    #[error("a recipe allows `host` only")]
    #[diagnostic(help("remove it for the engine's default"))]
    HostOnly,
}
