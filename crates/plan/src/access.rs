//! What a plan can give of this machine to containers, builds and commands, and what one container is given. Reads no
//! files, and knows nothing of steps: `given` makes the list of a plan.

use std::fmt;

use serde::{Deserialize, Serialize};

mod container;

pub(super) use container::of_container;

/// One thing of this machine, and who gets it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Access {
    /// `container`, `services.NAME.container`, `step NAME`.
    pub recipient: String,
    /// The thing.
    #[serde(flatten)]
    pub kind: AccessKind,
}

/// A thing of this machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "gives", rename_all = "snake_case")]
pub enum AccessKind {
    /// `--privileged`
    Privileged,
    /// `--cap-add`
    Capability {
        /// As written.
        name: String,
    },
    /// `--security-opt`
    SecurityOption {
        /// As written.
        option: String,
    },
    /// A namespace of the host, or of another container.
    Namespace {
        /// Which one.
        namespace: Namespace,
        /// `host`, `container:NAME`, a network's name.
        value: String,
    },
    /// `--device`
    Device {
        /// As written.
        device: String,
    },
    /// A file or directory, mounted.
    Mount(Source),
    /// A read-only file of the GPU's driver.
    DriverFile {
        /// On the host.
        path: String,
    },
    /// A directory that is sent to the builder of an image.
    BuildContext(Source),
    /// The recipe's directory, for a command on the host.
    RecipeDirectory {
        /// Absolute.
        path: String,
    },
    /// A command runs on the host, as this user.
    HostCommand,
    /// A secret of this user's environment.
    Secret {
        /// Its variable.
        name: String,
        /// `--secret` names it.
        named_by_user: bool,
    },
}

/// A path on the host.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Source {
    /// Absolute, as the recipe names it.
    pub path: String,
    /// Where links lead from it: outside the recipe's directory, or from a path outside it. Recorded when the plan
    /// was made, since approval covers this path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leads_to: Option<String>,
}

/// A namespace that a container may share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Namespace {
    /// Network.
    Network,
    /// Shared memory and message queues.
    Ipc,
    /// Processes.
    Pid,
    /// Host name.
    Uts,
    /// Users.
    User,
    /// Control groups.
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
    /// The path that is resolved again before it is given to the engine.
    pub fn source(&self) -> Option<&Source> {
        match self {
            Self::Mount(source) | Self::BuildContext(source) => Some(source),
            _ => None,
        }
    }

    /// The file or directory that its recipient can read, as far as it is known before the run.
    pub fn known_path(&self) -> Option<&str> {
        match self {
            Self::RecipeDirectory { path } => Some(path),
            _ => self.source().map(Source::known_part),
        }
    }
}

impl Access {
    /// Something that a recipient gets.
    pub(super) fn new(recipient: &str, kind: AccessKind) -> Self {
        Self {
            recipient: recipient.to_owned(),
            kind,
        }
    }
}

impl Source {
    /// The directories of the path that are known before the run: those before an expression.
    pub fn known_part(&self) -> &str {
        let known = self.path.split("${{").next().unwrap_or_default();
        if known.len() == self.path.len() {
            return known;
        }
        known.rfind('/').map_or("", |end| &known[..=end])
    }

    /// A path whose links are not known yet.
    pub(super) fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            leads_to: None,
        }
    }
}
