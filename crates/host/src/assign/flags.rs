//! The container's settings for the selected GPUs and injection method.

use itertools::Itertools as _;

use super::method::is_single_gpu_device;
use super::select::GpuSelection;
use super::{AssignRequest, AssignedGpu, GpuFlags, InjectionMethod, belongs_to_vendor};
use crate::gpu_support::cdi_name_prefix;
use retrial_container::{GpuDevices, Mount};
use retrial_recipe::model::GpuVendor;

pub(super) fn build_gpu_flags(
    request: &AssignRequest<'_>,
    method: InjectionMethod,
    selection: &GpuSelection,
) -> GpuFlags {
    match (method, request.gpus.vendor) {
        (InjectionMethod::AsWritten, _) => {
            GpuFlags { devices: request.container.devices.clone(), ..GpuFlags::default() }
        }
        (InjectionMethod::Devices, GpuVendor::Amd) => amd_device_flags(request, selection),
        (InjectionMethod::Devices, GpuVendor::Nvidia) => nvidia_device_flags(request, selection),
        (InjectionMethod::Cdi, vendor) => cdi_flags(request, selection, cdi_name_prefix(vendor)),
        (InjectionMethod::Toolkit, GpuVendor::Amd) => amd_toolkit_flags(request, selection),
        (InjectionMethod::Toolkit, GpuVendor::Nvidia) => nvidia_toolkit_flags(request, selection),
    }
}

/// The recipe's devices, with those of its GPUs replaced.
fn replace_gpu_devices(request: &AssignRequest<'_>, by: Vec<String>) -> Vec<String> {
    let vendor = request.gpus.vendor;
    replace_devices_where(request, by, |device| belongs_to_vendor(device, vendor))
}

/// The recipe's devices, with some replaced, at the position of the first of them.
fn replace_devices_where(
    request: &AssignRequest<'_>,
    by: Vec<String>,
    is_replaced: impl Fn(&str) -> bool,
) -> Vec<String> {
    let written = &request.container.devices;
    let first_replaced = written.iter().position(|device| is_replaced(device));
    let others = written.iter().filter(|device| !is_replaced(device));
    let mut devices: Vec<String> = others.cloned().collect();
    let position = first_replaced.unwrap_or(devices.len());
    devices.splice(position..position, by);
    devices
}

/// Returns whether all GPUs of the host are selected, known or not.
fn selects_all_gpus(request: &AssignRequest<'_>, selection: &GpuSelection) -> bool {
    selection.gpus.is_empty() || (selection.includes_all && request.gpu_selectors.is_empty())
}

fn amd_device_flags(request: &AssignRequest<'_>, selection: &GpuSelection) -> GpuFlags {
    let mut nodes = vec!["/dev/kfd".to_owned()];
    let mut groups: Vec<String> = Vec::new();
    for assigned in &selection.gpus {
        nodes.extend(assigned.gpu.nodes.iter().cloned());
        for group in assigned.gpu.groups.iter().map(ToString::to_string) {
            if !groups.contains(&group) && !request.container.group_add.contains(&group) {
                groups.push(group);
            }
        }
    }
    if selection.gpus.is_empty() {
        nodes.push("/dev/dri".to_owned());
    }
    GpuFlags {
        devices: replace_gpu_devices(request, nodes),
        env: visible_devices_variable(request, selection).into_iter().collect(),
        groups,
        ..GpuFlags::default()
    }
}

/// A privileged container has every device of the host, regardless of the assignment: variables tell `ROCm` the
/// selected GPUs by topology index, as ours are.
fn visible_devices_variable(
    request: &AssignRequest<'_>,
    selection: &GpuSelection,
) -> Option<(String, String)> {
    let name = "ROCR_VISIBLE_DEVICES";
    let container = request.container;
    let stated = container.env.iter().any(|(stated, _)| stated == name);
    let narrows = container.privileged && !stated && !request.gpu_selectors.is_empty();
    narrows.then(|| (name.to_owned(), format_indices(&selection.gpus).join(",")))
}

fn format_indices(gpus: &[AssignedGpu]) -> Vec<String> {
    gpus.iter().map(|gpu| gpu.index.to_string()).collect()
}

fn nvidia_device_flags(request: &AssignRequest<'_>, selection: &GpuSelection) -> GpuFlags {
    let support = &request.host.gpu_support;
    let assigned_nodes = selection.gpus.iter().flat_map(|assigned| &assigned.gpu.nodes);
    let mut nodes: Vec<String> = assigned_nodes.cloned().collect();
    // A recipe that names the devices also mounts the driver's libraries by itself.
    let mut devices = request.container.devices.iter();
    if devices.any(|device| is_single_gpu_device(device)) {
        return GpuFlags {
            devices: replace_devices_where(request, nodes, is_single_gpu_device),
            ..GpuFlags::default()
        };
    }
    nodes.extend(support.nvidia_control.iter().cloned());
    let is_mounted = |target: &str| {
        let mut mounts = request.container.mounts.iter();
        mounts.any(|mount| mount.target.0 == target)
    };
    let files = support.nvidia_files.iter();
    let mounts = files.filter(|file| !is_mounted(&file.target)).map(|file| Mount {
        source: file.source.clone(),
        target: file.target.clone(),
        read_only: true,
    });
    GpuFlags {
        devices: replace_gpu_devices(request, nodes),
        mounts: mounts.collect(),
        ..GpuFlags::default()
    }
}

/// CDI names: that of a GPU's node in the host's specification, else its index.
fn cdi_flags(request: &AssignRequest<'_>, selection: &GpuSelection, kind: &str) -> GpuFlags {
    let cdi_devices = &request.host.gpu_support.cdi_devices;
    let all = format!("{kind}all");
    let has_all = cdi_devices.iter().any(|device| device.name == all);
    let mut names: Vec<String> = Vec::new();
    if selection.gpus.is_empty() || (has_all && selects_all_gpus(request, selection)) {
        names.push(all);
    } else {
        for assigned in &selection.gpus {
            let node = assigned.gpu.nodes.first();
            let exact = cdi_devices.iter().find(|device| {
                device.name.starts_with(kind)
                    && device.name != all
                    && node.is_some_and(|node| device.nodes.contains(node))
            });
            names.push(exact.map_or_else(
                || format!("{kind}{}", toolkit_number(request, assigned)),
                |device| device.name.clone(),
            ));
        }
    }
    let unique_names = names.into_iter().unique().collect();
    GpuFlags { devices: replace_gpu_devices(request, unique_names), ..GpuFlags::default() }
}

fn amd_toolkit_flags(request: &AssignRequest<'_>, selection: &GpuSelection) -> GpuFlags {
    let visible = if selects_all_gpus(request, selection) {
        "all".to_owned()
    } else {
        let selected = selection.gpus.iter();
        let ranks = selected.map(|assigned| toolkit_number(request, assigned));
        ranks.sorted_unstable().dedup().join(",")
    };
    GpuFlags {
        devices: replace_gpu_devices(request, Vec::new()),
        runtime: Some("amd".to_owned()),
        env: vec![("AMD_VISIBLE_DEVICES".to_owned(), visible)],
        ..GpuFlags::default()
    }
}

/// A GPU's number in AMD's container toolkit: cards in the order of their PCI addresses, which is
/// not the order of the topology.
fn toolkit_number(request: &AssignRequest<'_>, assigned: &AssignedGpu) -> usize {
    let gpus = request.host.gpus.iter();
    let addresses =
        gpus.filter(|gpu| gpu.vendor == assigned.gpu.vendor).map(|gpu| gpu.pci.as_str());
    let mut cards = addresses.sorted_unstable().dedup();
    let rank = cards.position(|pci| pci == assigned.gpu.pci);
    rank.unwrap_or(assigned.index as usize)
}

fn nvidia_toolkit_flags(request: &AssignRequest<'_>, selection: &GpuSelection) -> GpuFlags {
    let gpus = if selects_all_gpus(request, selection) {
        GpuDevices::All
    } else {
        GpuDevices::Ids(format_indices(&selection.gpus))
    };
    GpuFlags {
        devices: replace_gpu_devices(request, Vec::new()),
        gpus: Some(gpus),
        ..GpuFlags::default()
    }
}
