//! The container of a plan: the one description behind `docker run` in a shell script and the
//! engine's create call, so that both make the same container.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use retrial_document::OrderedMap;
use serde::{Deserialize, Serialize};

use crate::{ExtraFlags, Ulimit};

/// Everything that decides how a container is configured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerSpec {
    /// The container's name, unique on the engine: `retrial-ID`.
    pub name: String,
    /// The image: a reference or an image id.
    pub image: String,
    /// Entrypoint; none: the image's own.
    pub entrypoint: Option<Vec<String>>,
    /// The arguments after the image; empty: the image's own command.
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
    /// `--ulimit`, by name.
    #[serde(with = "crate::ulimit")]
    pub ulimits: OrderedMap<Ulimit>,
    /// `--env`, in order.
    pub env: Vec<(String, String)>,
    /// `--volume`
    pub mounts: Vec<Mount>,
    /// Directories that are kept for later runs, by name, and where they are mounted: sources that are
    /// known when the container is created.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cache_mounts: Vec<(String, String)>,
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
    /// Flags that few recipes have.
    #[serde(default, skip_serializing_if = "ExtraFlags::is_empty")]
    pub extra: ExtraFlags,
    /// `--label`
    pub labels: BTreeMap<String, String>,
}

/// NVIDIA GPUs by Docker's device request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuDevices {
    /// All of the host (`--gpus all`).
    All,
    /// `--gpus '"device=0,1"'`
    Ids(Vec<String>),
}

/// A bind mount (an absolute source) or a named volume.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mount {
    /// A path of the host, or a volume's name.
    pub source: String,
    /// The mount point, an absolute path in the container.
    pub target: String,
    /// Whether the container may only read it.
    pub read_only: bool,
}

impl Mount {
    /// Returns whether it is read-only and has its source in the recipe's directory: a part of the recipe.
    pub fn is_companion(&self, recipe_directory: Option<&str>) -> bool {
        let is_in = |directory: &str| Path::new(&self.source).starts_with(directory);
        self.read_only && recipe_directory.is_some_and(is_in)
    }
}

/// `source:target[:ro]`, the format of `--volume`.
impl fmt::Display for Mount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = if self.read_only { ":ro" } else { "" };
        write!(formatter, "{}:{}{mode}", self.source, self.target)
    }
}
