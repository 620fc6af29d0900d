//! Root-equivalent capabilities, and devices that are not.

/// Returns whether a capability, with or without `CAP_`, is enough to escape the container.
pub fn is_root_capability(name: &str) -> bool {
    let upper_name = name.to_ascii_uppercase();
    matches!(
        upper_name.trim_start_matches("CAP_"),
        // The latter two read any file of the host by its handle, and the kernel's memory.
        "SYS_ADMIN" | "ALL" | "SYS_MODULE" | "SYS_RAWIO" | "DAC_READ_SEARCH" | "BPF"
    )
}

/// Returns whether a capability, with or without `CAP_`, gives a container nothing of the host: Docker gives it to
/// every container, or it concerns the container's own processes only.
pub fn is_confined_capability(name: &str) -> bool {
    let upper_name = name.to_ascii_uppercase();
    matches!(
        upper_name.trim_start_matches("CAP_"),
        // https://github.com/moby/moby/blob/v28.2.2/oci/caps/defaults.go
        "AUDIT_WRITE"
            | "CHOWN"
            | "DAC_OVERRIDE"
            | "FOWNER"
            | "FSETID"
            | "KILL"
            | "MKNOD"
            | "NET_BIND_SERVICE"
            | "NET_RAW"
            | "SETFCAP"
            | "SETGID"
            | "SETPCAP"
            | "SETUID"
            | "SYS_CHROOT"
            // Debuggers, locked memory and priorities: vendors' commands for GPUs have them.
            | "SYS_PTRACE"
            | "IPC_LOCK"
            | "SYS_NICE"
    )
}

/// Returns whether a security option needs no approval: it restricts, or switches a profile off, as vendors'
/// commands for GPUs do.
pub fn is_usual_security_option(option: &str) -> bool {
    let normalized_option = option.replacen(':', "=", 1);
    let usual = ["seccomp=unconfined", "seccomp=builtin", "apparmor=unconfined", "label=disable"];
    usual.contains(&normalized_option.as_str())
        || normalized_option.starts_with("no-new-privileges")
}

/// Returns whether a device is one of the Container Device Interface, `vendor.com/class=name`, and
/// no path.
pub fn is_cdi_device(device: &str) -> bool {
    !device.starts_with('/')
        && device.split_once('=').is_some_and(|(kind, name)| {
            kind.split_once('/')
                .is_some_and(|(vendor, class)| !vendor.is_empty() && !class.is_empty())
                && !name.is_empty()
        })
}

/// Devices that belong to no single GPU; of NVIDIA's those which its toolkit gives to every container.
const PLAIN_DEVICES: [&str; 7] =
    ["kfd", "dri", "infiniband", "nvidiactl", "nvidia-uvm", "nvidia-uvm-tools", "nvidia-modeset"];

/// Returns whether a device is one by which programs use GPUs or InfiniBand adapters, which need no approval. Others
/// have too many names to list: disks alone have a dozen, `/dev//mem` is `/dev/mem`, and some of GPUs' vendors
/// (`/dev/nvidia-caps`, `/dev/nvidia-nvswitchctl`) partition GPUs or direct what connects them.
pub fn is_accelerator_device(device: &str) -> bool {
    let source = device.split(':').next().unwrap_or_default();
    if ["amd.com/gpu=", "nvidia.com/gpu="].iter().any(|kind| source.starts_with(kind)) {
        return true;
    }
    let parts: Vec<&str> = source.split('/').skip(1).collect();
    match parts.as_slice() {
        ["dev", name] => PLAIN_DEVICES.contains(name) || is_numbered(name, "nvidia"),
        ["dev", "dri", name] => is_numbered(name, "renderD") || is_numbered(name, "card"),
        ["dev", "infiniband", name] => *name == "rdma_cm" || is_numbered(name, "uverbs"),
        _ => false,
    }
}

/// `renderD128`.
fn is_numbered(name: &str, kind: &str) -> bool {
    let number = name.strip_prefix(kind).unwrap_or_default();
    !number.is_empty() && number.chars().all(|character| character.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::is_accelerator_device;

    #[test]
    fn only_known_devices_need_no_approval() {
        for device in [
            "/dev/kfd",
            "/dev/dri",
            "/dev/dri/renderD128",
            "/dev/dri/card0:/dev/dri/card0:rw",
            "/dev/nvidia0",
            "/dev/nvidiactl",
            "/dev/nvidia-uvm-tools",
            "/dev/infiniband/uverbs0",
            "nvidia.com/gpu=all",
        ] {
            assert!(is_accelerator_device(device), "{device}");
        }
        for device in [
            "/dev/mem",
            "/dev//mem",
            "/dev/./mem",
            "/dev",
            "/dev/mapper/root",
            "/dev/disk/by-id/x",
            "/dev/xvda",
            "/dev/dri/by-path/x",
            "/proc/self/root/dev/kfd",
            "/dev/dri/renderD",
            "/dev/dri/card+1",
            "/dev/nvidia",
            "/dev/nvidia-caps",
            "/dev/nvidia-caps/nvidia-cap1",
            "/dev/nvidia-nvswitchctl",
            "/dev/nvidia-fs0",
            "/dev/nvidia${{ node.name }}",
            "/dev/infiniband/umad0",
        ] {
            assert!(!is_accelerator_device(device), "{device}");
        }
    }
}
