//! The engine that runs containers, as a run's records describe it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The engine that was reached.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineInfo {
    /// `unix:///var/run/docker.sock`, …
    pub endpoint: String,
    /// How the endpoint was chosen: `--engine`, `DOCKER_HOST`, `context NAME`, `default socket`.
    pub chosen_by: String,
    /// `Docker Engine`, `Podman Engine`, …
    pub product: String,
    /// Version, for example `28.2.2`.
    pub version: String,
    /// API version, for example `1.41`.
    pub api: String,
    /// Operating system and kernel as the engine states them.
    pub platform: String,
}

impl EngineInfo {
    /// Returns whether it is Podman, which differs from Docker in some answers.
    pub fn is_podman(&self) -> bool {
        self.product.starts_with("Podman")
    }
}

/// The engine's information on its own machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineCapabilities {
    /// The directory of its machine that has images and containers, if it reports one.
    pub root_directory: Option<PathBuf>,
    /// The names of its OCI runtimes, sorted: `nvidia`, `runc`.
    pub runtimes: Vec<String>,
    /// Whether it supports devices of the Container Device Interface; none if it does not report that.
    pub cdi: Option<bool>,
    /// The CDI devices that it has found, such as `nvidia.com/gpu=0`; not every engine reports them.
    pub cdi_devices: Vec<String>,
    /// Whether the engine runs without root.
    pub rootless: bool,
}
