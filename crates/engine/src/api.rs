//! The operations that Retrial needs of a container engine. One trait, without Docker types.

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{Sender, UnboundedSender};

use super::error::EngineError;
use retrial_container::{ContainerSpec, EngineCapabilities, EngineInfo};

/// An image that the engine has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageInfo {
    /// The image's id (`sha256:…` of its configuration).
    pub id: String,
    /// `repository@sha256:…`: the registry's digests, none for a built image.
    pub repo_digests: Vec<String>,
    /// The image's size on disk, bytes.
    pub size: u64,
    /// The image's environment, `NAME=VALUE` each.
    pub env: Vec<String>,
    /// The program that a container starts, before the words of its command.
    #[serde(default)]
    pub entrypoint: Vec<String>,
    /// The command of a container that states none.
    #[serde(default)]
    pub command: Vec<String>,
}

impl ImageInfo {
    fn digests(&self) -> impl Iterator<Item = &str> {
        let digests = self.repo_digests.iter();
        digests.filter_map(|digest| Some(digest.split_once('@')?.1))
    }

    /// Returns whether another engine's image has the same content. Engines that store images in different ways
    /// have different ids for it.
    pub fn has_same_content(&self, other: &Self) -> bool {
        self.id == other.id
            || self.digests().any(|digest| other.digests().any(|candidate| candidate == digest))
    }

    /// Returns the digest, or the id of an image that came from no registry.
    pub fn content_id(&self) -> &str {
        self.digests().next().unwrap_or(&self.id)
    }
}

/// A report on the progress of a pull or a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageProgress {
    /// A layer moved on.
    Layer {
        /// The layer's short id.
        id: String,
        /// `Downloading`, `Extracting`, `Pull complete`, `Already exists`, …
        status: String,
        /// Bytes of the layer transferred or extracted so far, if counted.
        current: Option<u64>,
        /// The layer's size, bytes, if known.
        total: Option<u64>,
    },
    /// A line that belongs to no layer, or a line of a build's log.
    Line(String),
    /// A passing fault: it will be tried again.
    Retry {
        /// The fault, as the engine reports it.
        reason: String,
        /// The number of the next attempt, from 2.
        attempt: u32,
        /// The wait before it, milliseconds.
        after_ms: u64,
    },
}

/// Name and password, or a token, for a registry.
#[derive(Clone, Default)]
pub struct RegistryAuth {
    /// The account's name at the registry.
    pub username: Option<String>,
    /// Its password, or an access token in place of one.
    pub password: Option<String>,
    /// Identity token instead of both.
    pub identity_token: Option<String>,
}

/// A build of an image from a Dockerfile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildSpec {
    /// The context directory on this machine: a path without links.
    pub context: PathBuf,
    /// The Dockerfile, relative to the context.
    pub dockerfile: String,
    /// Build arguments (`--build-arg`), by name.
    pub args: BTreeMap<String, String>,
    /// The tag that the image gets.
    pub tag: String,
    /// Labels that the image gets.
    pub labels: BTreeMap<String, String>,
}

/// A process to run in a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecSpec {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Environment (values of secrets go here and nowhere else).
    pub env: Vec<(String, String)>,
    /// Working directory; none: the container's.
    pub workdir: Option<String>,
    /// User; none: the container's.
    pub user: Option<String>,
}

impl ExecSpec {
    /// A process of the container's root.
    pub fn as_root(command: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            user: Some("0".to_owned()),
            ..Self::default()
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecStatus {
    Running,
    /// Ended, with this exit code.
    Exited(i64),
    /// The engine no longer knows it (it was restarted).
    Unknown,
}

/// Output of a short process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecOutput {
    /// The process's exit code.
    pub code: i64,
    /// Its standard output; bytes that are not UTF-8 are replaced.
    pub stdout: String,
    /// Its standard error; bytes that are not UTF-8 are replaced.
    pub stderr: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerState {
    /// The container's full id, 64 hexadecimal digits.
    pub id: String,
    /// Name without the slash.
    pub name: String,
    /// Whether its first process is running.
    pub running: bool,
    /// Exit code, once it ended.
    pub exit_code: Option<i64>,
    /// The engine saw the first process killed for memory.
    pub oom_killed: bool,
    /// The id of its image: `sha256:…`.
    pub image: String,
    /// Its first process on the engine's machine, while it runs.
    pub pid: Option<u32>,
    /// Those that are not empty.
    pub labels: BTreeMap<String, String>,
    /// Environment of its first process, `NAME=VALUE` each: the image's and its own.
    pub env: Vec<String>,
}

/// A path of the engine's machine that a container mounts, as the engine resolved it. A `Mount` is what was requested:
/// its source may be a volume's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindMount {
    /// The source, a path on the engine's machine.
    pub source: PathBuf,
    /// The mount point, a path in the container.
    pub target: PathBuf,
}

/// The operations of a container engine that a run needs.
#[async_trait]
pub trait Engine: Send + Sync {
    /// Returns the product, version and endpoint of the engine, as it reported them on connection.
    fn info(&self) -> &EngineInfo;

    /// Returns the image that a reference or id names; none if the engine does not have it.
    async fn find_image(&self, reference: &str) -> Result<Option<ImageInfo>, EngineError>;

    /// Returns the engine's directory, and its methods of passing devices.
    async fn query_capabilities(&self) -> Result<EngineCapabilities, EngineError>;

    /// Returns the digest that a reference has in its registry now, without pulling.
    async fn fetch_registry_digest(
        &self,
        reference: &str,
        auth: Option<RegistryAuth>,
    ) -> Result<String, EngineError>;

    /// Pulls an image; transient faults are retried and reported.
    async fn pull_image(
        &self,
        reference: &str,
        auth: Option<RegistryAuth>,
        progress: UnboundedSender<ImageProgress>,
    ) -> Result<ImageInfo, EngineError>;

    /// Removes an image's name, and the image if it has no other. Returns false if the engine does not have it, or if a
    /// container uses it, running or not.
    async fn remove_image(&self, reference: &str) -> Result<bool, EngineError>;

    /// Builds an image; its log goes to `progress` line by line.
    async fn build_image(
        &self,
        spec: &BuildSpec,
        progress: UnboundedSender<ImageProgress>,
    ) -> Result<ImageInfo, EngineError>;

    /// Creates a container, and returns its id.
    async fn create_container(&self, spec: &ContainerSpec) -> Result<String, EngineError>;

    /// Starts a container. A container that does not start is left for `remove`.
    async fn start_container(&self, container: &str) -> Result<(), EngineError>;

    /// Starts a detached process; returns the exec's id.
    async fn exec_detached(&self, container: &str, spec: &ExecSpec) -> Result<String, EngineError>;

    /// Returns the status of a detached process.
    async fn query_exec_status(&self, exec: &str) -> Result<ExecStatus, EngineError>;

    /// Runs a short process and returns its output (at most 1 MiB of each stream).
    async fn exec_attached(
        &self,
        container: &str,
        spec: &ExecSpec,
    ) -> Result<ExecOutput, EngineError>;

    /// Returns the state of a container; none if it does not exist.
    async fn inspect_container(
        &self,
        container: &str,
    ) -> Result<Option<ContainerState>, EngineError>;

    /// Returns the paths that a container mounts, or will mount when it starts.
    async fn list_bind_mounts(&self, container: &str) -> Result<Vec<BindMount>, EngineError>;

    /// Lists the containers, running or not, that have Retrial's names and a label (`key` or `key=value`).
    async fn list_containers(&self, label: &str) -> Result<Vec<ContainerState>, EngineError>;

    /// Waits until a container does not run any more; at once where it does not, or no longer exists.
    async fn wait_for_exit(&self, container: &str) -> Result<(), EngineError>;

    /// Returns the last lines of the output of the container's first process.
    async fn read_container_log(
        &self,
        container: &str,
        lines: usize,
    ) -> Result<String, EngineError>;

    /// Sends TERM to the first process, KILL after `grace_s` seconds.
    async fn stop_container(&self, container: &str, grace_s: u32) -> Result<(), EngineError>;

    /// Removes a container by force, with its anonymous volumes. A missing one is no error.
    async fn remove_container(&self, container: &str) -> Result<(), EngineError>;

    /// Sends the tar archive of a path in the container, until the receiver is dropped.
    /// Returns false if the path does not exist.
    async fn copy_from_container(
        &self,
        container: &str,
        path: &str,
        to: Sender<Bytes>,
    ) -> Result<bool, EngineError>;
}
