//! AMD GPUs, from the topology of the kernel's compute driver (KFD).
//!
//! The order of the topology is the order of `ROCm`'s indices; `amd-smi` has another one.

use std::collections::BTreeMap;

use itertools::Itertools as _;

use super::amd_device::AmdDevice;
use super::amd_models;
use super::root::HostRoot;
use crate::model::{Gpu, GpuPartition};
use retrial_recipe::model::GpuVendor;

pub(super) const TOPOLOGY_NODES: &str = "sys/class/kfd/kfd/topology/nodes";
/// Heap types of memory banks on the GPU: frame buffer, visible to the host or not.
const GPU_HEAP_TYPES: [u64; 2] = [1, 2];

/// The AMD GPUs, one for each partition where they are partitioned.
pub fn detect_gpus(root: &HostRoot) -> Vec<Gpu> {
    let names = root.list_names(TOPOLOGY_NODES);
    let numbers = names.iter().filter_map(|name| name.parse().ok());
    let nodes = numbers.sorted_unstable();
    nodes.filter_map(|node: u32| read_gpu(root, node)).collect()
}

/// The version of the amdgpu driver. Only the DKMS driver has one, not the kernel's own.
pub fn driver_version(root: &HostRoot) -> Option<String> {
    let text = root.read_text("sys/module/amdgpu/version")?;
    text.lines().next().map(|line| line.trim().to_owned())
}

fn read_gpu(root: &HostRoot, number: u32) -> Option<Gpu> {
    let node = &format!("{TOPOLOGY_NODES}/{number}");
    let properties = TopologyProperties::read(root, &format!("{node}/properties"))?;
    // A node of processors only. An APU's node has both.
    if properties.get("simd_count").unwrap_or(0) == 0 {
        return None;
    }
    let Some(location) = properties.get("location_id") else {
        root.record_read_error(format!("/{node}/properties: it has no location_id"));
        return None;
    };
    let mut names = ["gfx_target_version", "drm_render_minor"].iter();
    if let Some(name) = names.find(|name| properties.get(name).is_none()) {
        root.record_read_error(format!("/{node}/properties: it has no {name}"));
    }
    let pci = pci_address(properties.get("domain").unwrap_or(0), location);
    let render = properties.get("drm_render_minor").filter(|minor| *minor > 0);
    let files = AmdDevice::new(&pci, render);
    let device = properties
        .get("device_id")
        .and_then(|id| u32::try_from(id).ok())
        .filter(|id| *id != 0)
        .or_else(|| files.read_hexadecimal(root, "device"));
    let revision = files.read_hexadecimal(root, "revision");
    let banks = sum_bank_memory(root, node);
    let total = || files.read_number(root, "mem_info_vram_total");
    let render_node = render.map(|minor| format!("/dev/dri/renderD{minor}"));
    let nodes = Vec::from_iter(render_node);
    let (groups, masked) = read_access(root, &nodes);
    Some(Gpu {
        groups,
        masked,
        compute_units: compute_units(&properties),
        uuid: properties.get("unique_id").filter(|id| *id != 0).map(|id| format!("GPU-{id:016x}")),
        partition: files.read_text(root, "current_compute_partition").map(|compute| GpuPartition {
            compute,
            memory: files.read_text(root, "current_memory_partition"),
            index: partition_index(location),
        }),
        // -1 where the machine has one memory node only.
        numa_node: files.read_text(root, "numa_node").and_then(|node| node.parse().ok()),
        vendor: GpuVendor::Amd,
        model: model_name(device, revision),
        nodes,
        pci,
        gfx: properties.get("gfx_target_version").and_then(format_gfx_target),
        vram: banks.or_else(total).filter(|bytes| *bytes > 0),
    })
}

/// Groups that may use a GPU, and whether its node is missing while others exist: in a container or a job with
/// other GPUs assigned.
fn read_access(root: &HostRoot, nodes: &[String]) -> (Vec<u32>, bool) {
    let paths = nodes.iter().map(String::as_str).chain(["/dev/kfd"]);
    let groups = paths.filter_map(|path| root.group_id(path.trim_start_matches('/')));
    let exists = |node: &String| root.exists(node.trim_start_matches('/'));
    let is_masked = root.exists("dev/dri") && !nodes.iter().all(exists);
    (groups.sorted_unstable().dedup().collect(), is_masked)
}

fn model_name(device: Option<u32>, revision: Option<u32>) -> String {
    match device {
        Some(device) => amd_models::model_name(device, revision)
            .map_or_else(|| format!("1002:{device:04x}"), str::to_owned),
        None => "1002:????".to_owned(),
    }
}

/// The PCI address of a location: bits 28 to 31 are the partition's, not the bus's.
fn pci_address(domain: u64, location: u64) -> String {
    let (bus, device) = ((location >> 8) & 0xff, (location >> 3) & 0x1f);
    let function = location & 0x7;
    format!("{domain:04x}:{bus:02x}:{device:02x}.{function:x}")
}

/// The partition index of a location in its card.
fn partition_index(location: u64) -> u32 {
    u32::try_from(location >> 28 & 0xf).unwrap_or(0)
}

fn compute_units(properties: &TopologyProperties) -> Option<u32> {
    let per_unit = properties.get("simd_per_cu").filter(|count| *count > 0)?;
    u32::try_from(properties.get("simd_count")? / per_unit).ok()
}

/// Returns the target of a version as `HSA_OVERRIDE_GFX_VERSION` has it: `10.3.0` is gfx1030.
pub(crate) fn target_of_version(version: &str) -> Option<String> {
    let mut parts = version.split('.').map(|part| part.parse::<u64>().ok());
    let (major, minor, step) = (parts.next()??, parts.next()??, parts.next()??);
    let is_whole = parts.next().is_none() && major.max(minor).max(step) < 100;
    let target = || format_gfx_target(major * 10_000 + minor * 100 + step);
    is_whole.then(target).flatten()
}

/// `90402` is gfx942, `90010` gfx90a: decimal pairs, of which minor and stepping are written in hex.
fn format_gfx_target(version: u64) -> Option<String> {
    let (major, minor, step) = (version / 10_000, version / 100 % 100, version % 100);
    (version > 0).then(|| format!("gfx{major}{minor:x}{step:x}"))
}

/// Bytes of the GPU's own memory: `local_mem_size` of a node is 0 on today's kernels.
fn sum_bank_memory(root: &HostRoot, node: &str) -> Option<u64> {
    let banks = format!("{node}/mem_banks");
    let sizes = root.list_names(&banks).into_iter().filter_map(|bank| {
        let properties = TopologyProperties::read(root, &format!("{banks}/{bank}/properties"))?;
        properties.get("heap_type").filter(|heap| GPU_HEAP_TYPES.contains(heap))?;
        properties.get("size_in_bytes")
    });
    sizes.reduce(u64::saturating_add)
}

/// A properties file of the topology: one `name number` a line.
pub(super) struct TopologyProperties(BTreeMap<String, u64>);

impl TopologyProperties {
    pub(super) fn read(root: &HostRoot, path: &str) -> Option<Self> {
        let text = root.read_required_text(path)?;
        let pairs = text.lines().filter_map(|line| {
            let (name, value) = line.split_once(char::is_whitespace)?;
            Some((name.to_owned(), value.trim().parse().ok()?))
        });
        Some(Self(pairs.collect()))
    }

    pub(super) fn get(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }
}
