//! What can give GPUs to containers, as far as the disk tells: the engine's configuration, CDI
//! specifications, NVIDIA's toolkit, devices and libraries. What the engine itself says stands
//! over it, where one is asked.

use serde::Deserialize;

use super::root::Root;
use crate::host::gpu_support::{CdiDevice, DriverFile, GpuSupport};

/// Where specifications lie. AMD's documents say the first, its tool's default is the second.
const SPECIFICATIONS: [&str; 2] = ["etc/cdi", "var/run/cdi"];
/// Any of these makes the engine's `--gpus` work.
const NVIDIA_TOOLKIT: [&str; 3] = [
    "usr/bin/nvidia-container-runtime-hook",
    "usr/bin/nvidia-container-toolkit",
    "usr/bin/nvidia-container-runtime",
];
/// Devices that every NVIDIA GPU needs beside its own.
const NVIDIA_CONTROL: [&str; 3] = ["dev/nvidiactl", "dev/nvidia-uvm", "dev/nvidia-uvm-tools"];
/// Where the NVIDIA driver's libraries lie; the first that has them counts.
const LIBRARIES: [&str; 5] = [
    "usr/local/nvidia/lib64",
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib64",
    "usr/lib",
];
/// The driver's libraries for computing, which have to be of its kernel module's very version.
const STEMS: [&str; 8] = [
    "libcuda",
    "libcudadebugger",
    "libnvidia-ml",
    "libnvidia-ptxjitcompiler",
    "libnvidia-nvvm",
    "libnvidia-gpucomp",
    "libnvidia-cfg",
    "libnvidia-opencl",
];
const PROGRAMS: [&str; 2] = ["usr/bin/nvidia-smi", "usr/local/nvidia/bin/nvidia-smi"];

/// Reads it.
pub fn giving(root: &Root, nvidia: bool) -> GpuSupport {
    let daemon = Daemon::read(root);
    GpuSupport {
        api: None,
        runtimes: daemon.runtimes.into_keys().collect(),
        cdi: daemon.features.get("cdi").copied(),
        cdi_devices: cdi_devices(root),
        nvidia_toolkit: NVIDIA_TOOLKIT.iter().any(|path| root.is_there(path)),
        nvidia_control: NVIDIA_CONTROL
            .iter()
            .filter(|path| root.is_there(path))
            .map(|path| format!("/{path}"))
            .collect(),
        nvidia_files: if nvidia {
            driver_files(root)
        } else {
            Vec::new()
        },
    }
}

/// What is of interest in the engine's configuration.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Daemon {
    runtimes: std::collections::BTreeMap<String, serde_json::Value>,
    features: std::collections::BTreeMap<String, bool>,
}

impl Daemon {
    fn read(root: &Root) -> Self {
        let text = root.text("etc/docker/daemon.json");
        let read = text.and_then(|text| serde_json::from_str(&text).ok());
        read.unwrap_or_default()
    }
}

/// A specification of the Container Device Interface, as far as it is read.
#[derive(Debug, Deserialize)]
struct Specification {
    kind: String,
    devices: Vec<Device>,
}

#[derive(Debug, Deserialize)]
struct Device {
    name: String,
    #[serde(default, rename = "containerEdits")]
    edits: Edits,
}

#[derive(Debug, Default, Deserialize)]
struct Edits {
    #[serde(default, rename = "deviceNodes")]
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    path: String,
}

/// GPUs that specifications name, each once. JSON is YAML, too.
fn cdi_devices(root: &Root) -> Vec<CdiDevice> {
    let mut devices: Vec<CdiDevice> = Vec::new();
    for folder in SPECIFICATIONS {
        for name in root.names(folder) {
            let read = [".yaml", ".yml", ".json"];
            if !read.iter().any(|ending| name.ends_with(ending)) {
                continue;
            }
            let path = format!("{folder}/{name}");
            let Some(text) = root.needed(&path) else {
                continue;
            };
            let Ok(specification) = serde_saphyr::from_str::<Specification>(&text) else {
                root.note(format!("/{path}: it is no CDI specification"));
                continue;
            };
            if !["amd.com/gpu", "nvidia.com/gpu"].contains(&specification.kind.as_str()) {
                continue;
            }
            for device in specification.devices {
                let name = format!("{}={}", specification.kind, device.name);
                if devices.iter().all(|known| known.name != name) {
                    let nodes = device.edits.nodes.into_iter();
                    let nodes = nodes.map(|node| node.path).collect();
                    devices.push(CdiDevice { name, nodes });
                }
            }
        }
    }
    devices
}

/// The driver's files, by the names that programs look for. They are put where the loader of
/// Debian's family looks without being told, and where that of Red Hat's does.
fn driver_files(root: &Root) -> Vec<DriverFile> {
    let has = |folder: &&&str| root.is_there(&format!("{folder}/libcuda.so.1"));
    let multiarch = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let mut files = Vec::new();
    if let Some(folder) = LIBRARIES.iter().find(has) {
        let names = root.names(folder);
        for stem in STEMS {
            let Some(name) = soname(&names, stem) else {
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
    if let Some(program) = PROGRAMS.iter().find(|path| root.is_there(path)) {
        files.push(DriverFile {
            source: format!("/{program}"),
            target: "/usr/bin/nvidia-smi".to_owned(),
        });
    }
    files
}

/// The name that programs load: `libcuda.so.1`; the full version where that is the name
/// (`libnvidia-gpucomp.so.580.159.04`).
fn soname<'a>(names: &'a [String], stem: &str) -> Option<&'a String> {
    let version = |name: &&String| {
        let rest = name.strip_prefix(stem)?.strip_prefix(".so.")?;
        rest.bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
            .then_some(rest.len())
    };
    names
        .iter()
        .filter(|name| version(name).is_some())
        .min_by_key(|name| version(name))
}
