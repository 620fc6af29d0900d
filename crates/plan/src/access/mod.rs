//! The access to this machine that a plan gives to containers, builds and commands: what there is, and the list of a
//! plan. Reads no files.

use std::fmt;

use serde::{Deserialize, Serialize};

mod container;
mod plan;
mod steps;
#[cfg(test)]
mod tests;

pub(super) use container::container_accesses;
pub use plan::SHARED_MEMORY;

/// Access to one part of this machine, and its recipient.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HostAccess {
    /// The recipe's key of the recipient: `container`, `services.NAME.container`, `step NAME`.
    pub recipient: String,
    /// The part of the machine that the recipient gets.
    #[serde(flatten)]
    pub kind: AccessKind,
}

/// A part of this machine that a container, a build or a command can use.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "gives", rename_all = "snake_case")]
pub enum AccessKind {
    /// Full access to the host's devices: `--privileged`.
    Privileged,
    /// A capability: `--cap-add`.
    Capability {
        /// As written in the recipe: `SYS_PTRACE`.
        name: String,
    },
    /// A security option: `--security-opt`.
    SecurityOption {
        /// As written in the recipe: `seccomp=unconfined`.
        option: String,
    },
    /// A namespace of the host, or of another container.
    Namespace {
        namespace: Namespace,
        /// `host`, `container:NAME`, a network's name.
        value: String,
    },
    /// A runtime of the engine: `--runtime`.
    Runtime {
        /// As written in the recipe: `nvidia`.
        runtime: String,
    },
    /// A device: `--device`.
    Device {
        /// As written in the recipe: `/dev/kfd`.
        device: String,
    },
    /// Devices that are not only GPUs, by what a runtime for GPUs reads.
    RuntimeRequest {
        /// `env NVIDIA_IMEX_CHANNELS=0`
        setting: String,
    },
    /// A mounted file or directory.
    Mount(HostPath),
    /// A read-only file of the GPU's driver.
    DriverFile {
        /// The absolute path on the host.
        path: String,
    },
    /// A directory that is sent to the builder of an image.
    BuildContext(HostPath),
    /// A file or directory next to the recipe, which a command on the host reads.
    RecipeFile(HostPath),
    /// A command runs on the host, as this user.
    HostCommand {
        /// It only runs a file next to the recipe.
        of_recipe: bool,
    },
    /// A secret of this user's environment.
    Secret {
        /// The environment variable: `HF_TOKEN`.
        name: String,
        /// The user named it by `--secret`, which is approval by itself.
        named_by_user: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HostPath {
    /// Absolute, as the recipe names it.
    pub path: String,
    /// The target of links in the path: outside the recipe's directory, or of a path outside it. Recorded when the plan
    /// was made, since approval covers this path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leads_to: Option<String>,
    /// Why it is asked for wherever it is: `in the home directory`. Recorded as `leads_to` is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// It is a socket, whatever it is called. Recorded as `leads_to` is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_socket: bool,
    /// File systems that are mounted below it, which an engine may mount writable although it is to be read-only. Recorded
    /// as `leads_to` is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mounted_below: Vec<String>,
}

/// What was found out about a path when the plan was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathFacts {
    /// See [`HostPath::leads_to`].
    pub leads_to: Option<String>,
    /// See [`HostPath::reason`].
    pub reason: Option<String>,
    /// See [`HostPath::is_socket`].
    pub is_socket: bool,
    /// See [`HostPath::mounted_below`].
    pub mounted_below: Vec<String>,
}

/// A namespace that a container may share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Namespace {
    /// Network interfaces and ports.
    Network,
    /// Shared memory and message queues (IPC).
    Ipc,
    /// Process ids: the host's processes are visible.
    Pid,
    /// Host name and domain name.
    Uts,
    /// User and group ids.
    User,
    /// Control groups: limits of memory, processors and processes.
    Cgroup,
}

/// The recipe's key: `network`.
impl fmt::Display for Namespace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Network => "network",
            Self::Ipc => "ipc",
            Self::Pid => "pid",
            Self::Uts => "uts",
            Self::User => "userns",
            Self::Cgroup => "cgroupns",
        })
    }
}

impl AccessKind {
    /// Returns the path that its recipient can use.
    pub fn host_path(&self) -> Option<&HostPath> {
        match self {
            Self::Mount(source) | Self::BuildContext(source) | Self::RecipeFile(source) => {
                Some(source)
            }
            _ => None,
        }
    }

    pub(super) fn host_path_mut(&mut self) -> Option<&mut HostPath> {
        match self {
            Self::Mount(source) | Self::BuildContext(source) | Self::RecipeFile(source) => {
                Some(source)
            }
            _ => None,
        }
    }
}

impl HostAccess {
    /// Returns the access of a recipient to a part of the machine.
    pub(super) fn new(recipient: &str, kind: AccessKind) -> Self {
        Self { recipient: recipient.to_owned(), kind }
    }
}

impl HostPath {
    /// The directories of the path that are known before the run: those before an expression.
    pub fn known_directories(&self) -> &str {
        let known = self.path.split("${{").next().unwrap_or_default();
        if known.len() == self.path.len() {
            return known;
        }
        known.rfind('/').map_or("", |end| &known[..=end])
    }

    /// Whether a part of it is known only during the run.
    pub fn is_known_later(&self) -> bool {
        self.known_directories() != self.path
    }

    /// The path without links, as far as it is known before the run.
    pub fn resolved(&self) -> &str {
        self.leads_to.as_deref().unwrap_or(self.known_directories())
    }

    /// Returns a path whose links are not known yet.
    pub(super) fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            leads_to: None,
            reason: None,
            is_socket: false,
            mounted_below: Vec::new(),
        }
    }
}
