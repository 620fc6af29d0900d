//! What can give GPUs to containers on a host: the engine's abilities, and what lies on the disk.
//! Filled by `host` and by whoever could ask the engine; planted by tests.

use serde::{Deserialize, Serialize};

/// What can give GPUs to containers, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuSupport {
    /// The engine's API version; none where no engine was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<String>,
    /// Runtimes that the engine has, or that its configuration names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runtimes: Vec<String>,
    /// Whether the engine takes devices of the Container Device Interface; none: not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdi: Option<bool>,
    /// GPUs that specifications of the Container Device Interface name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cdi_devices: Vec<CdiDevice>,
    /// NVIDIA's hook or runtime is installed, which the engine's `--gpus` needs.
    pub nvidia_toolkit: bool,
    /// NVIDIA's devices that belong to no single GPU: `/dev/nvidiactl`, `/dev/nvidia-uvm`, …
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nvidia_control: Vec<String>,
    /// The NVIDIA driver's own libraries and programs, which must be those of its kernel module.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nvidia_files: Vec<DriverFile>,
}

/// A GPU as a specification of the Container Device Interface names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CdiDevice {
    /// `amd.com/gpu=0`
    pub name: String,
    /// Device nodes that it gives; none where only its name is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
}

/// A file of the driver, and where a program in a container looks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverFile {
    /// On the host.
    pub source: String,
    /// In the container.
    pub target: String,
}

impl GpuSupport {
    /// Names of one vendor's GPUs (`amd.com/gpu=`), if the engine may take them.
    pub(crate) fn cdi_of(&self, kind: &str) -> Vec<&CdiDevice> {
        let devices = self.cdi_devices.iter();
        devices
            .filter(|device| self.cdi == Some(true) && device.name.starts_with(kind))
            .collect()
    }

    /// Whether a path is one of the driver's files.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.nvidia_files.iter().any(|file| file.source == path)
    }

    pub(crate) fn has_runtime(&self, name: &str) -> bool {
        self.runtimes.iter().any(|runtime| runtime == name)
    }
}
