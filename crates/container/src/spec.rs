//! The container that a plan asks for: the one description behind `docker run` in a
//! shell plan and the engine's create call, so that both make the same container.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ExtraFlags;

/// Everything that decides how a container is configured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerSpec {
    /// The container's name.
    pub name: String,
    /// The image: a reference or an image id.
    pub image: String,
    /// Entrypoint; none: the image's own.
    pub entrypoint: Option<Vec<String>>,
    /// The command.
    pub command: Vec<String>,
    /// `--privileged`
    pub privileged: bool,
    /// `--ipc`
    pub ipc: Option<String>,
    /// `--network`
    pub network: Option<String>,
    /// `--uts`
    pub uts: Option<String>,
    /// `--pid`
    pub pid: Option<String>,
    /// `--device`, as `path` or `host:container[:rwm]`.
    pub devices: Vec<String>,
    /// `--gpus`: NVIDIA device ids or `all`.
    pub gpus: Option<GpuDevices>,
    /// `--cap-add`, as written (`CAP_SYS_ADMIN` or `SYS_ADMIN`).
    pub cap_add: Vec<String>,
    /// `--security-opt`
    pub security_opt: Vec<String>,
    /// `--group-add`
    pub group_add: Vec<String>,
    /// `--shm-size`, bytes.
    pub shm_size: Option<u64>,
    /// `--ulimit`
    pub ulimits: Vec<Ulimit>,
    /// `--env`, in order.
    pub env: Vec<(String, String)>,
    /// `--volume`
    pub mounts: Vec<Mount>,
    /// The run's control directory on this machine, mounted at `/.retrial`: unlike `--volume`,
    /// an engine that does not have it refuses, and makes no empty one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// `--workdir`
    pub workdir: Option<String>,
    /// `--user`
    pub user: Option<String>,
    /// `--init`
    pub init: bool,
    /// Rarer flags.
    #[serde(default, skip_serializing_if = "ExtraFlags::is_empty")]
    pub further: ExtraFlags,
    /// `--label`
    pub labels: BTreeMap<String, String>,
}

/// NVIDIA GPUs by Docker's device request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuDevices {
    /// `--gpus all`
    All,
    /// `--gpus '"device=0,1"'`
    Ids(Vec<String>),
}

/// A bind mount (an absolute source) or a named volume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// A path of the host, or a volume's name.
    pub source: String,
    /// In the container.
    pub target: String,
    /// Read-only.
    pub read_only: bool,
}

/// One resource limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ulimit {
    /// `memlock`, `nofile`, …
    pub name: String,
    /// Soft limit; -1 is unlimited.
    pub soft: i64,
    /// Hard limit; -1 is unlimited.
    pub hard: i64,
}
