//! How a recipe wants its container made.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use retrial_container::{ExtraFlags, Ulimit};

use super::{Ordered, Template};

/// How the container is made, in Docker's and Compose's words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Container {
    /// Full access to the host's devices.
    pub privileged: bool,
    /// IPC namespace: `host`, `private`, `shareable`.
    pub ipc: Option<String>,
    /// Network: `host`, `bridge`, `none` or a network's name.
    pub network: Option<String>,
    /// UTS namespace: `host`.
    pub uts: Option<String>,
    /// PID namespace: `host`.
    pub pid: Option<String>,
    /// `/dev/kfd`, or `host:container:rwm`.
    pub devices: Vec<String>,
    /// How the GPUs come into it.
    #[serde(default)]
    pub gpu_access: GpuAccess,
    /// Capabilities, with or without `CAP_`.
    pub cap_add: Vec<String>,
    /// `seccomp=unconfined`
    pub security_opt: Vec<String>,
    /// Group names or numbers.
    pub group_add: Vec<String>,
    /// Size of /dev/shm, bytes.
    pub shm_size: Option<u64>,
    /// Limits: name, soft, hard (-1 is unlimited).
    pub ulimits: Vec<Ulimit>,
    /// Environment of the container.
    pub env: Ordered<Template>,
    /// Directories of the host.
    pub mounts: Vec<MountRequest>,
    /// Working directory of the steps.
    pub workdir: Option<Template>,
    /// User of the steps.
    pub user: Option<String>,
    /// Docker's own init as the first process.
    pub init: bool,
    /// Whether the image's entrypoint runs before our first process.
    pub entrypoint: Entrypoint,
    /// The shell of the steps, for example `[bash, -ilc]`; none: bash with pipefail, else sh.
    pub shell: Option<Vec<String>>,
    /// Rarer settings.
    #[serde(default, skip_serializing_if = "ExtraFlags::is_empty")]
    pub further: ExtraFlags,
}

/// How GPUs come into a container.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GpuAccess {
    /// As the recipe's devices say; where it names none of a GPU, as this host can.
    #[default]
    Auto,
    /// What the recipe's own keys say, and nothing else.
    AsWritten,
    /// Device nodes, with the driver's libraries for NVIDIA's.
    Devices,
    /// The Container Device Interface.
    Cdi,
    /// The vendor's container toolkit.
    Toolkit,
}

/// What happens to the image's entrypoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Entrypoint {
    /// The image's entrypoint runs and is given our first process as its command.
    Image,
    /// Our first process runs in its place.
    #[default]
    Bypass,
}

/// A directory of the host in the container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MountRequest {
    /// On the host: absolute, or relative to the recipe's directory (`./x`).
    pub source: Template,
    /// In the container, absolute.
    pub target: Template,
    /// Read-only.
    pub read_only: bool,
}
