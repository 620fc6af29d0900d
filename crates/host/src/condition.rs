//! The condition of the GPUs right now: memory in use, programs on them, faults.
//!
//! It changes constantly, so it is not a part of a plan: `doctor` and the checks before a run read it, and a
//! run records it.

use std::path::Path;

use super::amd::{TOPOLOGY_NODES, TopologyProperties};
use super::amd_device::{AmdDevice, render_minor};
use super::nvml;
use super::root::HostRoot;
use crate::model::{Gpu, GpuCondition, GpuProgram, HardwareErrors};
use retrial_recipe::model::GpuVendor;

const KFD_PROCESSES: &str = "sys/class/kfd/kfd/proc";

/// The condition of each of the GPUs, in their order; files are read below `root`.
pub fn read_conditions(root: &Path, gpus: &[Gpu]) -> Vec<GpuCondition> {
    let root = &HostRoot::new(root);
    let nodes = compute_nodes(root);
    // NVIDIA's driver has no such files; its library provides it, for this machine only.
    let library = nvml::load_library().filter(|_| root.is_this_machine());
    gpus.iter()
        .map(|gpu| match gpu.vendor {
            GpuVendor::Amd => read_amd_condition(root, gpu, &nodes),
            GpuVendor::Nvidia => {
                library.and_then(|sensor| sensor.read_condition(gpu)).unwrap_or_default()
            }
        })
        .collect()
}

/// Render minor and id of each GPU of the compute driver.
fn compute_nodes(root: &HostRoot) -> Vec<(u64, u64)> {
    let node = |name: String| {
        let properties =
            TopologyProperties::read(root, &format!("{TOPOLOGY_NODES}/{name}/properties"))?;
        let id = root.read_number(&format!("{TOPOLOGY_NODES}/{name}/gpu_id"))?;
        Some((properties.get("drm_render_minor")?, id))
    };
    root.list_names(TOPOLOGY_NODES).into_iter().filter_map(node).collect()
}

fn read_amd_condition(root: &HostRoot, gpu: &Gpu, nodes: &[(u64, u64)]) -> GpuCondition {
    let files = AmdDevice::from_gpu(gpu);
    let number = |name: &str| files.read_number(root, name);
    let minor = render_minor(gpu);
    let node = nodes.iter().find(|(of_node, _)| Some(*of_node) == minor);
    GpuCondition {
        vram_total: number("mem_info_vram_total"),
        divided: None,
        vram_used: number("mem_info_vram_used"),
        busy_percent: number("gpu_busy_percent").and_then(|percent| u32::try_from(percent).ok()),
        processes: node.map(|(_, id)| gpu_processes(root, *id)).unwrap_or_default(),
        errors: files.find_in_folders(|folder| sum_ras_errors(root, folder)),
        power_cap_w: files.find_in_folders(|folder| power_cap_watts(root, folder)),
        performance_level: files.read_text(root, "power_dpm_force_performance_level"),
    }
}

/// Programs of the compute driver that hold memory or queues of the GPU.
fn gpu_processes(root: &HostRoot, gpu: u64) -> Vec<GpuProgram> {
    let process = |pid: &String| {
        let folder = format!("{KFD_PROCESSES}/{pid}");
        let vram = root.read_number(&format!("{folder}/vram_{gpu}"));
        let queues = || {
            let queues = format!("{folder}/queues");
            root.list_names(&queues)
                .into_iter()
                .any(|queue| root.read_number(&format!("{queues}/{queue}/gpuid")) == Some(gpu))
        };
        (vram.unwrap_or(0) > 0 || queues()).then_some(GpuProgram {
            pid: pid.parse().ok()?,
            name: root.read_text(&format!("proc/{pid}/comm")),
            vram,
        })
    };
    root.list_names(KFD_PROCESSES).iter().filter_map(process).collect()
}

/// Sums `ras/*_err_count`, files of `ue: 0` and `ce: 0` lines (`de: 0`, deferred, on newer drivers).
fn sum_ras_errors(root: &HostRoot, device: &str) -> Option<HardwareErrors> {
    let folder = format!("{device}/ras");
    let counts = root
        .list_names(&folder)
        .into_iter()
        .filter(|name| name.ends_with("_err_count"))
        .filter_map(|name| root.read_text(&format!("{folder}/{name}")));
    counts.fold(None, |previous: Option<HardwareErrors>, text| {
        let mut sum = previous.unwrap_or_default();
        for (kind, count_text) in text.lines().filter_map(|line| line.split_once(':')) {
            let count: u64 = count_text.trim().parse().unwrap_or(0);
            match kind.trim() {
                "ue" => sum.uncorrected += count,
                "ce" => sum.corrected += count,
                _ => {}
            }
        }
        Some(sum)
    })
}

/// The power limit: `hwmon` counts microwatts.
fn power_cap_watts(root: &HostRoot, device: &str) -> Option<u32> {
    let folder = format!("{device}/hwmon");
    let microwatts = root
        .list_names(&folder)
        .into_iter()
        .find_map(|name| root.read_number(&format!("{folder}/{name}/power1_cap")))?;
    u32::try_from(microwatts / 1_000_000).ok()
}
