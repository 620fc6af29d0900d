//! Support for injecting GPUs into containers on a host: the engine's capabilities, and files on disk: the
//! engine's configuration, CDI specifications, NVIDIA's toolkit, devices and libraries. The engine's response
//! takes precedence, if one is queried.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::root::HostRoot;
use retrial_recipe::model::GpuVendor;

/// The directories of specifications. AMD documents the first, its tool defaults to the second.
const CDI_SPEC_FOLDERS: [&str; 2] = ["etc/cdi", "var/run/cdi"];
/// Any of these makes the engine's `--gpus` work.
const NVIDIA_TOOLKIT_PROGRAMS: [&str; 3] = [
    "usr/bin/nvidia-container-runtime-hook",
    "usr/bin/nvidia-container-toolkit",
    "usr/bin/nvidia-container-runtime",
];
/// Devices that every NVIDIA GPU needs in addition to its own.
const NVIDIA_CONTROL_DEVICES: [&str; 3] =
    ["dev/nvidiactl", "dev/nvidia-uvm", "dev/nvidia-uvm-tools"];
/// The directories of the NVIDIA driver's libraries; the first that has them is used.
const LIBRARY_FOLDERS: [&str; 5] = [
    "usr/local/nvidia/lib64",
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib64",
    "usr/lib",
];
/// The driver's libraries for computing, which must match the version of its kernel module.
const LIBRARY_STEMS: [&str; 8] = [
    "libcuda",
    "libcudadebugger",
    "libnvidia-ml",
    "libnvidia-ptxjitcompiler",
    "libnvidia-nvvm",
    "libnvidia-gpucomp",
    "libnvidia-cfg",
    "libnvidia-opencl",
];
const NVIDIA_SMI_PATHS: [&str; 2] = ["usr/bin/nvidia-smi", "usr/local/nvidia/bin/nvidia-smi"];

/// Support for injecting GPUs into containers, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuSupport {
    /// The engine's API version; none where no engine was queried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<String>,
    /// Runtimes of the engine, or of its configuration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runtimes: Vec<String>,
    /// Whether the engine accepts devices of the Container Device Interface; none: unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdi: Option<bool>,
    /// GPUs in specifications of the Container Device Interface.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cdi_devices: Vec<CdiDevice>,
    /// NVIDIA's hook or runtime is installed, which the engine's `--gpus` needs.
    pub nvidia_toolkit: bool,
    /// NVIDIA's devices that belong to no single GPU: `/dev/nvidiactl`, `/dev/nvidia-uvm`, …
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nvidia_control: Vec<String>,
    /// The NVIDIA driver's own libraries and programs, which must match its kernel module.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nvidia_files: Vec<DriverFile>,
}

/// A GPU in a specification of the Container Device Interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CdiDevice {
    /// `amd.com/gpu=0`
    pub name: String,
    /// Its device nodes; none if only its name is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<String>,
}

/// A file of the driver, and its path in a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverFile {
    /// Its path on the host.
    pub source: String,
    /// Its path in the container, where the dynamic loader searches.
    pub target: String,
}

impl GpuSupport {
    /// Returns whether the engine accepts CDI devices, and specifications have a vendor's GPUs.
    pub fn has_cdi(&self, vendor: GpuVendor) -> bool {
        let kind = cdi_name_prefix(vendor);
        let mut devices = self.cdi_devices.iter();
        self.cdi == Some(true) && devices.any(|device| device.name.starts_with(kind))
    }

    /// Returns whether a path is one of the driver's files.
    pub fn has_file(&self, path: &str) -> bool {
        self.nvidia_files.iter().any(|file| file.source == path)
    }

    /// Returns whether the engine's configuration has a runtime of this name.
    pub fn has_runtime(&self, name: &str) -> bool {
        self.runtimes.iter().any(|runtime| runtime == name)
    }
}

/// The prefix of a vendor's GPU names in the Container Device Interface.
pub fn cdi_name_prefix(vendor: GpuVendor) -> &'static str {
    match vendor {
        GpuVendor::Amd => "amd.com/gpu=",
        GpuVendor::Nvidia => "nvidia.com/gpu=",
    }
}

/// Reads it from the disk.
pub(super) fn read_gpu_support(root: &HostRoot, nvidia: bool) -> GpuSupport {
    let daemon_text = root.read_text("etc/docker/daemon.json");
    let parsed_daemon: Option<DaemonConfig> =
        daemon_text.and_then(|text| serde_json::from_str(&text).ok());
    let daemon = parsed_daemon.unwrap_or_default();
    let nvidia_files = nvidia.then(|| find_driver_files(root));
    GpuSupport {
        api: None,
        runtimes: daemon.runtimes.into_keys().collect(),
        cdi: daemon.features.get("cdi").copied(),
        cdi_devices: read_cdi_devices(root),
        nvidia_toolkit: NVIDIA_TOOLKIT_PROGRAMS.iter().any(|path| root.exists(path)),
        nvidia_control: NVIDIA_CONTROL_DEVICES
            .iter()
            .filter(|path| root.exists(path))
            .map(|path| format!("/{path}"))
            .collect(),
        nvidia_files: nvidia_files.unwrap_or_default(),
    }
}

/// The relevant part of the engine's configuration.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct DaemonConfig {
    runtimes: BTreeMap<String, serde_json::Value>,
    features: BTreeMap<String, bool>,
}

/// A specification of the Container Device Interface, as far as parsed.
#[derive(Debug, Deserialize)]
struct CdiSpec {
    kind: String,
    devices: Vec<CdiSpecDevice>,
}

#[derive(Debug, Deserialize)]
struct CdiSpecDevice {
    name: String,
    #[serde(default, rename = "containerEdits")]
    edits: CdiContainerEdits,
}

#[derive(Debug, Default, Deserialize)]
struct CdiContainerEdits {
    #[serde(default, rename = "deviceNodes")]
    nodes: Vec<CdiNode>,
}

#[derive(Debug, Deserialize)]
struct CdiNode {
    path: String,
}

/// GPUs in specifications, each once. JSON is YAML, too.
fn read_cdi_devices(root: &HostRoot) -> Vec<CdiDevice> {
    let mut devices: Vec<CdiDevice> = Vec::new();
    for folder in CDI_SPEC_FOLDERS {
        for name in root.list_names(folder) {
            let read = [".yaml", ".yml", ".json"];
            if !read.iter().any(|ending| name.ends_with(ending)) {
                continue;
            }
            let path = format!("{folder}/{name}");
            let Some(text) = root.read_required_text(&path) else {
                continue;
            };
            let Ok(specification) = serde_saphyr::from_str::<CdiSpec>(&text) else {
                root.record_read_error(format!("/{path}: it is not a CDI specification"));
                continue;
            };
            if !["amd.com/gpu", "nvidia.com/gpu"].contains(&specification.kind.as_str()) {
                continue;
            }
            for device in specification.devices {
                let name = format!("{}={}", specification.kind, device.name);
                if devices.iter().all(|listed| listed.name != name) {
                    let device_nodes = device.edits.nodes.into_iter();
                    let nodes = device_nodes.map(|node| node.path).collect();
                    devices.push(CdiDevice { name, nodes });
                }
            }
        }
    }
    devices
}

/// The driver's files, by the names that programs load. They are mounted in the default search paths of the
/// dynamic loaders of Debian and Red Hat.
fn find_driver_files(root: &HostRoot) -> Vec<DriverFile> {
    let has = |folder: &&&str| root.exists(&format!("{folder}/libcuda.so.1"));
    let multiarch = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let mut files = Vec::new();
    if let Some(folder) = LIBRARY_FOLDERS.iter().find(has) {
        let names = root.list_names(folder);
        for stem in LIBRARY_STEMS {
            let Some(name) = find_soname(&names, stem) else {
                continue;
            };
            for target in [multiarch.as_str(), "/usr/lib64"] {
                files.push(DriverFile {
                    source: format!("/{folder}/{name}"),
                    target: format!("{target}/{name}"),
                });
            }
        }
    }
    if let Some(program) = NVIDIA_SMI_PATHS.iter().find(|path| root.exists(path)) {
        files.push(DriverFile {
            source: format!("/{program}"),
            target: "/usr/bin/nvidia-smi".to_owned(),
        });
    }
    files
}

/// The name that programs load: `libcuda.so.1`; the full version where that is the name
/// (`libnvidia-gpucomp.so.580.159.04`).
fn find_soname<'a>(names: &'a [String], stem: &str) -> Option<&'a String> {
    let version = |name: &&String| {
        let rest = name.strip_prefix(stem)?.strip_prefix(".so.")?;
        rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.').then_some(rest.len())
    };
    names.iter().filter(|name| version(name).is_some()).min_by_key(|name| version(name))
}
