//! What the GPUs are doing right now: memory in use, programs on them, faults.
//!
//! It changes from one moment to the next, and so it is no part of a plan: `doctor` and the checks
//! before a run ask for it, and a run writes it down.

use super::nvml;
use super::root::Root;
use crate::host::checks::{Condition, Errors, Process};
use crate::host::model::Gpu;
use retrial_recipe::model::GpuVendor;

const PROCESSES: &str = "sys/class/kfd/kfd/proc";
const NODES: &str = "sys/class/kfd/kfd/topology/nodes";

/// The condition of each of the GPUs, in their order.
pub fn conditions(root: &Root, gpus: &[Gpu]) -> Vec<Condition> {
    let nodes = compute_nodes(root);
    gpus.iter()
        .map(|gpu| match gpu.vendor {
            GpuVendor::Amd => amd(root, gpu, &nodes),
            GpuVendor::Nvidia => nvidia(root, gpu),
        })
        .collect()
}

/// The driver's files say nothing of this; its library does, and speaks of this machine only.
fn nvidia(root: &Root, gpu: &Gpu) -> Condition {
    let library = nvml::library().filter(|_| root.is_this_machine());
    let facts = library.and_then(|library| library.facts(gpu));
    let facts = facts.unwrap_or_default();
    Condition {
        vram_total: facts.vram,
        vram_used: facts.vram_used,
        busy_percent: facts.busy_percent,
        processes: facts.processes,
        errors: facts.errors,
        power_cap_w: facts.power_cap_w,
        performance_level: None,
        divided: facts.divided,
    }
}

/// Render minor and id of each GPU of the compute driver.
fn compute_nodes(root: &Root) -> Vec<(u64, u64)> {
    let node = |name: String| {
        let text = root.text(&format!("{NODES}/{name}/properties"))?;
        let minor = text
            .lines()
            .find_map(|line| line.strip_prefix("drm_render_minor "))?;
        Some((
            minor.trim().parse().ok()?,
            root.number(&format!("{NODES}/{name}/gpu_id"))?,
        ))
    };
    root.names(NODES).into_iter().filter_map(node).collect()
}

fn amd(root: &Root, gpu: &Gpu, nodes: &[(u64, u64)]) -> Condition {
    let minor = gpu
        .nodes
        .first()
        .and_then(|node| node.rsplit("renderD").next()?.parse::<u64>().ok());
    let mut devices = vec![format!("sys/bus/pci/devices/{}", gpu.pci)];
    devices.extend(minor.map(|minor| format!("sys/class/drm/renderD{minor}/device")));
    let number = |name: &str| {
        devices
            .iter()
            .find_map(|path| root.number(&format!("{path}/{name}")))
    };
    let id = minor.and_then(|minor| nodes.iter().find(|node| node.0 == minor).map(|node| node.1));
    Condition {
        vram_total: number("mem_info_vram_total"),
        divided: None,
        vram_used: number("mem_info_vram_used"),
        busy_percent: number("gpu_busy_percent").and_then(|percent| u32::try_from(percent).ok()),
        processes: id.map(|id| processes(root, id)).unwrap_or_default(),
        errors: devices.iter().find_map(|path| errors(root, path)),
        power_cap_w: devices.iter().find_map(|path| power_cap(root, path)),
        performance_level: devices
            .iter()
            .find_map(|path| root.text(&format!("{path}/power_dpm_force_performance_level"))),
    }
}

/// Programs of the compute driver that hold memory or queues of the GPU.
fn processes(root: &Root, gpu: u64) -> Vec<Process> {
    let process = |pid: &String| {
        let folder = format!("{PROCESSES}/{pid}");
        let vram = root.number(&format!("{folder}/vram_{gpu}"));
        let queues = || {
            let queues = format!("{folder}/queues");
            root.names(&queues)
                .into_iter()
                .any(|queue| root.number(&format!("{queues}/{queue}/gpuid")) == Some(gpu))
        };
        (vram.unwrap_or(0) > 0 || queues()).then_some(Process {
            pid: pid.parse().ok()?,
            name: root.text(&format!("proc/{pid}/comm")),
            vram,
        })
    };
    root.names(PROCESSES).iter().filter_map(process).collect()
}

/// Sums `ras/*_err_count`, files of `ue: 0` and `ce: 0` lines (`de: 0`, deferred, on newer drivers).
fn errors(root: &Root, device: &str) -> Option<Errors> {
    let folder = format!("{device}/ras");
    let counts = root
        .names(&folder)
        .into_iter()
        .filter(|name| name.ends_with("_err_count"))
        .filter_map(|name| root.text(&format!("{folder}/{name}")));
    counts.fold(None, |sum: Option<Errors>, text| {
        let mut sum = sum.unwrap_or_default();
        for line in text.lines() {
            let Some((kind, count)) = line.split_once(':') else {
                continue;
            };
            let count: u64 = count.trim().parse().unwrap_or(0);
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
fn power_cap(root: &Root, device: &str) -> Option<u32> {
    let folder = format!("{device}/hwmon");
    let microwatts = root
        .names(&folder)
        .into_iter()
        .find_map(|name| root.number(&format!("{folder}/{name}/power1_cap")))?;
    u32::try_from(microwatts / 1_000_000).ok()
}
