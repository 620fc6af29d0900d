//! Variables and mounts of a container by which a runtime for GPUs decides what it gets. NVIDIA's and AMD's container toolkits read
//! them whoever set them, the image too; the engine itself reads none.
//! <https://github.com/NVIDIA/nvidia-container-toolkit/tree/main/internal/config/image>

use std::path::{Path, PathBuf};

use crate::is_cdi_device;
use crate::privilege::is_accelerator_device;

/// NVIDIA's list of devices.
pub const NVIDIA_DEVICE_LIST: &str = "NVIDIA_VISIBLE_DEVICES";

/// AMD's list of GPUs, and the beginning of the names by which Docker Swarm passes one.
const AMD_DEVICE_LIST: &str = "AMD_VISIBLE_DEVICES";
const SWARM_DEVICE_LIST: &str = "DOCKER_RESOURCE_";

/// Partitions and channels between machines, and devices of storage, network and switches.
const OTHER_REQUESTS: [&str; 7] = [
    "NVIDIA_MIG_CONFIG_DEVICES",
    "NVIDIA_MIG_MONITOR_DEVICES",
    "NVIDIA_IMEX_CHANNELS",
    "NVIDIA_GDS",
    "NVIDIA_MOFED",
    "NVIDIA_GDRCOPY",
    "NVIDIA_NVSWITCH",
];

/// An image of CUDA with this variable and without a list gets all GPUs.
const CUDA_VERSION: &str = "CUDA_VERSION";

/// Runtimes that read no such variable.
const PLAIN_RUNTIMES: [&str; 3] = ["runc", "crun", "io.containerd.runc.v2"];

/// Where NVIDIA's toolkit takes a mount of `/dev/null` for the name of a device, if it is configured so.
const MOUNTED_DEVICE_LIST: &str = "/var/run/nvidia-container-devices";

/// Returns whether a mount at a path in the container asks a runtime for a device.
pub fn is_device_request(target: &str) -> bool {
    // Without `//` and `/.`, as the toolkit reads it.
    let clean: PathBuf = Path::new(target).components().collect();
    clean.to_str().is_none_or(|target| target.starts_with(MOUNTED_DEVICE_LIST))
}

/// Returns whether a variable asks for more than GPUs.
pub fn requests_more_than_gpus(name: &str, value: &str) -> bool {
    if OTHER_REQUESTS.contains(&name) {
        return !value.is_empty();
    }
    is_device_list(name) && value.split(',').any(|entry| !is_gpu(entry.trim()))
}

/// Returns values for the variables by which an image asks a runtime for devices, so that it gets none: those of
/// `environment`, a container's own and its image's, that are not `own`. A runtime without a name is not known.
pub fn withdrawn_requests(
    environment: &[String],
    own: &[(String, String)],
    runtime: Option<&str>,
    has_gpu_request: bool,
) -> Vec<(String, String)> {
    if !has_gpu_request && runtime.is_some_and(|name| PLAIN_RUNTIMES.contains(&name)) {
        return Vec::new();
    }
    let names = environment.iter().filter_map(|variable| Some(variable.split_once('=')?.0));
    let of_image = names.filter(|name| own.iter().all(|(own, _)| own != name));
    let mut withdrawn: Vec<(String, String)> = Vec::new();
    for name in of_image {
        let (name, value) = match name {
            // The engine itself sets the list for its own request of GPUs.
            NVIDIA_DEVICE_LIST | CUDA_VERSION if has_gpu_request => continue,
            CUDA_VERSION if own.iter().any(|(own, _)| own == NVIDIA_DEVICE_LIST) => continue,
            NVIDIA_DEVICE_LIST | CUDA_VERSION => (NVIDIA_DEVICE_LIST, "void"),
            _ if is_device_list(name) || OTHER_REQUESTS.contains(&name) => (name, ""),
            _ => continue,
        };
        let variable = (name.to_owned(), value.to_owned());
        if !withdrawn.contains(&variable) {
            withdrawn.push(variable);
        }
    }
    withdrawn
}

fn is_device_list(name: &str) -> bool {
    [NVIDIA_DEVICE_LIST, AMD_DEVICE_LIST].contains(&name) || name.starts_with(SWARM_DEVICE_LIST)
}

/// An index, a range or a partition of one, a unique id, or a word for all or none of them.
fn is_gpu(entry: &str) -> bool {
    if is_cdi_device(entry) {
        return is_accelerator_device(entry);
    }
    let id = ["GPU-", "MIG-", "0x"].iter().find_map(|start| entry.strip_prefix(start));
    let is_number = |letter: char| letter.is_ascii_hexdigit() || "-:".contains(letter);
    id.unwrap_or(entry).chars().all(is_number) || ["all", "none", "void"].contains(&entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_for_gpus_are_plain() {
        for (name, value) in [
            ("NVIDIA_VISIBLE_DEVICES", "all"),
            ("NVIDIA_VISIBLE_DEVICES", "0, 1:0,GPU-8932f937-d72c,MIG-5c89852c-d268"),
            ("NVIDIA_VISIBLE_DEVICES", "nvidia.com/gpu=0"),
            ("AMD_VISIBLE_DEVICES", "0-3,0xEF2C1799A1F3E2ED"),
            ("NVIDIA_VISIBLE_DEVICES", ""),
            ("NVIDIA_IMEX_CHANNELS", ""),
            ("NVIDIA_DRIVER_CAPABILITIES", "all"),
            ("CUDA_VISIBLE_DEVICES", "x"),
        ] {
            assert!(!requests_more_than_gpus(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("NVIDIA_VISIBLE_DEVICES", "0,management.nvidia.com/gpu=all"),
            ("NVIDIA_VISIBLE_DEVICES", "vendor.com/disk=sda"),
            ("NVIDIA_VISIBLE_DEVICES", "mode=nvswitch"),
            ("NVIDIA_VISIBLE_DEVICES", "${{ node.name }}"),
            ("DOCKER_RESOURCE_GPU", "vendor.com/disk=sda"),
            ("NVIDIA_IMEX_CHANNELS", "0"),
            ("NVIDIA_MIG_CONFIG_DEVICES", "all"),
            ("NVIDIA_GDS", "enabled"),
        ] {
            assert!(requests_more_than_gpus(name, value), "{name}={value}");
        }
    }

    #[test]
    fn a_mount_asks_by_where_it_is() {
        for target in
            ["/var/run/nvidia-container-devices/all", "//var/./run//nvidia-container-devices/0"]
        {
            assert!(is_device_request(target), "{target}");
        }
        assert!(!is_device_request("/var/run/nvidia"));
    }

    #[test]
    fn an_image_asks_a_runtime_for_nothing() {
        let environment =
            ["PATH=/bin", "CUDA_VERSION=12", "NVIDIA_IMEX_CHANNELS=0"].map(str::to_owned);
        let withdrawn = |own: &[(&str, &str)], runtime, has_gpu_request| {
            let own: Vec<_> =
                own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let variables = withdrawn_requests(&environment, &own, runtime, has_gpu_request);
            let texts = variables.iter().map(|(name, value)| format!("{name}={value}"));
            texts.collect::<Vec<_>>()
        };
        let all = ["NVIDIA_VISIBLE_DEVICES=void", "NVIDIA_IMEX_CHANNELS="];
        assert_eq!(withdrawn(&[], Some("nvidia"), false), all);
        assert_eq!(withdrawn(&[], None, false), all);
        assert_eq!(withdrawn(&[], Some("runc"), false), [""; 0]);
        assert_eq!(withdrawn(&[], Some("runc"), true), ["NVIDIA_IMEX_CHANNELS="]);
        let listed = [("NVIDIA_VISIBLE_DEVICES", "0")];
        assert_eq!(withdrawn(&listed, Some("nvidia"), false), ["NVIDIA_IMEX_CHANNELS="]);
        let approved = [("NVIDIA_IMEX_CHANNELS", "0")];
        assert_eq!(withdrawn(&approved, Some("nvidia"), true), [""; 0]);
    }
}
