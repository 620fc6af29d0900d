//! NVIDIA GPUs, from the driver's files in `/proc`.

use itertools::Itertools as _;

use super::root::HostRoot;
use crate::model::Gpu;
use retrial_recipe::model::GpuVendor;

const GPU_FOLDERS: &str = "proc/driver/nvidia/gpus";

/// The NVIDIA GPUs by PCI address, which is the order of the indices of `nvidia-smi`.
pub fn detect_gpus(root: &HostRoot) -> Vec<Gpu> {
    let addresses = root.list_names(GPU_FOLDERS);
    let gpus = addresses.iter().filter_map(|address| read_gpu(root, address));
    gpus.sorted_by(|left, right| left.pci.cmp(&right.pci)).collect()
}

/// The driver's version, such as `580.159.04`.
pub fn driver_version(root: &HostRoot) -> Option<String> {
    let stated = root.read_text("proc/driver/nvidia/version");
    let from_text = stated.as_deref().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("NVRM version"))?;
        // `550.54.15`, not the `x86_64` next to it.
        let mut words = line.split_whitespace();
        words.find(|word| is_version(word)).map(str::to_owned)
    });
    from_text.or_else(|| root.read_text("sys/module/nvidia/version"))
}

fn is_version(word: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    word.contains('.') && word.split('.').all(is_number)
}

fn read_gpu(root: &HostRoot, address: &str) -> Option<Gpu> {
    let text = root.read_required_text(&format!("{GPU_FOLDERS}/{address}/information"))?;
    let field = |name: &str| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim())
        })
    };
    // Taken out of service by the administrator (NVreg_ExcludedGpus): no program can open it.
    if field("GPU Excluded") == Some("Yes") {
        return None;
    }
    let minor: Option<u32> = field("Device Minor").and_then(|minor| minor.parse().ok());
    let model = field("Model").unwrap_or_default();
    let pci = field("Bus Location").unwrap_or(address).to_ascii_lowercase();
    let minor_node = minor.map(|minor| format!("/dev/nvidia{minor}"));
    let nodes = Vec::from_iter(minor_node);
    let exists = |node: &String| root.exists(node.trim_start_matches('/'));
    Some(Gpu {
        groups: Vec::new(),
        masked: root.exists("dev/nvidiactl") && !nodes.iter().all(exists),
        compute_units: None,
        uuid: field("GPU UUID").filter(|uuid| uuid.starts_with("GPU-")).map(str::to_owned),
        partition: None,
        numa_node: root
            .read_text(&format!("sys/bus/pci/devices/{pci}/numa_node"))
            .and_then(|node| node.parse().ok()),
        vendor: GpuVendor::Nvidia,
        model: match model.strip_prefix("NVIDIA ").unwrap_or(model) {
            "" => "10de:????".to_owned(),
            name => name.to_owned(),
        },
        nodes,
        pci,
        gfx: None,
        // The driver's files do not state it.
        vram: None,
    })
}
