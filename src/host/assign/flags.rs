//! The container's settings for GPUs that were chosen, by a way that was chosen.

use super::method::is_numbered;
use super::select::Selection;
use super::{Asked, AssignedGpu, AssignedGpus, Flags, InjectionMethod, is_of};
use retrial_container::{GpuDevices, Mount};
use retrial_recipe::model::GpuVendor;

pub(crate) fn flags(
    asked: &Asked<'_>,
    method: InjectionMethod,
    because: String,
    selection: Selection,
) -> (Flags, AssignedGpus) {
    let flags = match (method, asked.request.vendor) {
        (InjectionMethod::AsWritten, _) => as_written(asked),
        (InjectionMethod::Devices, GpuVendor::Amd) => amd_devices(asked, &selection),
        (InjectionMethod::Devices, GpuVendor::Nvidia) => nvidia_devices(asked, &selection),
        (InjectionMethod::Cdi, GpuVendor::Amd) => cdi(asked, &selection, "amd.com/gpu="),
        (InjectionMethod::Cdi, GpuVendor::Nvidia) => cdi(asked, &selection, "nvidia.com/gpu="),
        (InjectionMethod::Toolkit, GpuVendor::Amd) => amd_toolkit(asked, &selection),
        (InjectionMethod::Toolkit, GpuVendor::Nvidia) => nvidia_toolkit(asked, &selection),
    };
    let known = !selection.gpus.is_empty();
    let kept_out = !asked.container.privileged && method != InjectionMethod::AsWritten;
    let given = AssignedGpus {
        method,
        because,
        // Where all are given, there is none to be kept from.
        isolated: known && (selection.all || kept_out),
        gpus: selection.gpus,
    };
    (flags, given)
}

fn as_written(asked: &Asked<'_>) -> Flags {
    Flags {
        devices: asked.container.devices.clone(),
        ..Flags::default()
    }
}

/// The recipe's devices, with those of its GPUs replaced, at the place of the first of them.
fn replaced(asked: &Asked<'_>, by: Vec<String>) -> Vec<String> {
    let vendor = asked.request.vendor;
    let written = &asked.container.devices;
    let at = written.iter().position(|device| is_of(device, vendor));
    let mut devices: Vec<String> = written
        .iter()
        .filter(|device| !is_of(device, vendor))
        .cloned()
        .collect();
    let at = at.unwrap_or(devices.len());
    devices.splice(at..at, by);
    devices
}

fn amd_devices(asked: &Asked<'_>, selection: &Selection) -> Flags {
    let mut nodes = vec!["/dev/kfd".to_owned()];
    let mut groups: Vec<String> = Vec::new();
    for given in &selection.gpus {
        nodes.extend(given.gpu.nodes.iter().cloned());
        for group in given.gpu.groups.iter().map(ToString::to_string) {
            if !groups.contains(&group) && !asked.container.group_add.contains(&group) {
                groups.push(group);
            }
        }
    }
    if selection.gpus.is_empty() {
        nodes.push("/dev/dri".to_owned());
    }
    Flags {
        devices: replaced(asked, nodes),
        env: visible(asked, selection).into_iter().collect(),
        groups,
        ..Flags::default()
    }
}

/// A privileged container has every device of the host, whichever are given to it: there the
/// chosen GPUs are told to `ROCm`, by the indices of the topology, which is where ours come from.
fn visible(asked: &Asked<'_>, selection: &Selection) -> Option<(String, String)> {
    let name = "ROCR_VISIBLE_DEVICES";
    let stated = asked.container.env.iter().any(|(stated, _)| stated == name);
    let narrows = asked.container.privileged && !stated && !asked.chosen.is_empty();
    narrows.then(|| (name.to_owned(), indices(&selection.gpus).join(",")))
}

fn indices(gpus: &[AssignedGpu]) -> Vec<String> {
    gpus.iter().map(|given| given.index.to_string()).collect()
}

fn nvidia_devices(asked: &Asked<'_>, selection: &Selection) -> Flags {
    let giving = &asked.host.gpu_support;
    let nodes: Vec<String> = selection
        .gpus
        .iter()
        .flat_map(|given| given.gpu.nodes.iter().cloned())
        .collect();
    let written = &asked.container.devices;
    // A recipe that names them has its own way to the driver's libraries, too.
    if let Some(at) = written.iter().position(|device| is_numbered(device)) {
        let mut devices: Vec<String> = written
            .iter()
            .filter(|one| !is_numbered(one))
            .cloned()
            .collect();
        let at = at.min(devices.len());
        devices.splice(at..at, nodes);
        return Flags {
            devices,
            ..Flags::default()
        };
    }
    let control = giving.nvidia_control.iter().cloned();
    let mounted = asked.container.mounts.iter();
    let targets: Vec<&str> = mounted.map(|mount| mount.target.0.as_str()).collect();
    let mounts = giving.nvidia_files.iter().map(|file| Mount {
        source: file.source.clone(),
        target: file.target.clone(),
        read_only: true,
    });
    Flags {
        devices: replaced(asked, nodes.into_iter().chain(control).collect()),
        mounts: mounts
            .filter(|mount| !targets.contains(&mount.target.as_str()))
            .collect(),
        ..Flags::default()
    }
}

/// Names of the interface: what the host's specification calls a GPU's node, else its index.
fn cdi(asked: &Asked<'_>, selection: &Selection, kind: &str) -> Flags {
    let known: Vec<_> = asked.host.gpu_support.cdi_devices.iter().collect();
    let has_all = known
        .iter()
        .any(|device| device.name == format!("{kind}all"));
    let names =
        if selection.gpus.is_empty() || (selection.all && has_all && asked.chosen.is_empty()) {
            vec![format!("{kind}all")]
        } else {
            let mut names: Vec<String> = Vec::new();
            for given in &selection.gpus {
                let node = given.gpu.nodes.first();
                let exact = known.iter().find(|device| {
                    device.name.starts_with(kind)
                        && !device.name.ends_with("=all")
                        && node.is_some_and(|node| device.nodes.contains(node))
                });
                let name = exact.map_or_else(
                    || format!("{kind}{}", rank(asked, given)),
                    |device| device.name.clone(),
                );
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            names
        };
    Flags {
        devices: replaced(asked, names),
        ..Flags::default()
    }
}

fn amd_toolkit(asked: &Asked<'_>, selection: &Selection) -> Flags {
    let mut ranks: Vec<usize> = selection
        .gpus
        .iter()
        .map(|given| rank(asked, given))
        .collect();
    ranks.sort_unstable();
    ranks.dedup();
    let ranks: Vec<String> = ranks.iter().map(ToString::to_string).collect();
    let which = if ranks.is_empty() || (selection.all && asked.chosen.is_empty()) {
        "all".to_owned()
    } else {
        ranks.join(",")
    };
    Flags {
        devices: replaced(asked, Vec::new()),
        runtime: Some("amd".to_owned()),
        env: vec![("AMD_VISIBLE_DEVICES".to_owned(), which)],
        ..Flags::default()
    }
}

/// A GPU's number in AMD's container toolkit: cards in the order of their PCI addresses, which is
/// not the order of the topology.
fn rank(asked: &Asked<'_>, given: &AssignedGpu) -> usize {
    let mut addresses: Vec<&str> = asked
        .host
        .gpus
        .iter()
        .filter(|gpu| gpu.vendor == given.gpu.vendor)
        .map(|gpu| gpu.pci.as_str())
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    let place = addresses.iter().position(|pci| *pci == given.gpu.pci);
    place.unwrap_or(given.index as usize)
}

fn nvidia_toolkit(asked: &Asked<'_>, selection: &Selection) -> Flags {
    let gpus = if selection.gpus.is_empty() || (selection.all && asked.chosen.is_empty()) {
        GpuDevices::All
    } else {
        GpuDevices::Ids(indices(&selection.gpus))
    };
    Flags {
        devices: replaced(asked, Vec::new()),
        gpus: Some(gpus),
        ..Flags::default()
    }
}
