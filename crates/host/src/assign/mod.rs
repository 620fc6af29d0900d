//! Assigns GPUs of the host to a container, and determines the flags. Pure.
//!
//! - `claim`: what running containers of ours have.
//! - `select`: from `requires.gpus` and `--gpus` to GPUs of the host.
//! - `method`: device nodes, the Container Device Interface, or a vendor's toolkit, with the reason.
//! - `flags`: the container's settings for a method.
//!
//! Environment variables (`ROCR_VISIBLE_DEVICES`, `HIP_VISIBLE_DEVICES`) only tell a program which GPUs to use.
//! The others are inaccessible because their device nodes are not in the container.

mod claim;
mod error;
mod flags;
mod method;
mod select;

use serde::{Deserialize, Serialize};

use super::gpu_support::cdi_name_prefix;
use super::model::{Gpu, HostView};
use retrial_container::{GpuDevices, Mount};
use retrial_recipe::model::{Container, GpuAccess, GpuRequest, GpuVendor};

pub use claim::claims_overlap;
pub use error::AssignError;
pub use method::{InjectionMethod, unsupported_method};
pub use select::{count_cards, parse_index_range};

/// The GPUs assigned to a container, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignedGpus {
    pub method: InjectionMethod,
    pub reason: String,
    /// The GPUs; none if this host's GPUs are unknown.
    pub gpus: Vec<AssignedGpu>,
    /// The container cannot access others of the host.
    pub isolated: bool,
}

/// A GPU that a container gets, with its index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignedGpu {
    /// Its index among the host's GPUs of its vendor: `ROCm`'s and `nvidia-smi`'s.
    pub index: u32,
    /// The GPU's model, address and device nodes.
    #[serde(flatten)]
    pub gpu: Gpu,
}

impl AssignedGpu {
    /// Returns its unique name among the host's GPUs, for claims.
    pub fn claim_key(&self) -> String {
        match &self.gpu.partition {
            Some(partition) if partition.compute != "SPX" => {
                format!("{}/{}", self.gpu.pci, partition.index)
            }
            _ => self.gpu.pci.clone(),
        }
    }
}

impl AssignedGpus {
    /// Returns the claims of a run: addresses of GPUs, or `all` if unknown.
    pub fn claim_keys(&self) -> Vec<String> {
        if self.gpus.is_empty() {
            return vec!["all".to_owned()];
        }
        self.gpus.iter().map(AssignedGpu::claim_key).collect()
    }
}

/// A request for GPUs of a host.
#[derive(Debug, Clone, Copy)]
pub struct AssignRequest<'a> {
    /// The container's keys in the recipe.
    pub container: &'a Container,
    /// The GPUs that the recipe requires.
    pub gpus: &'a GpuRequest,
    /// The GPUs that `--gpus` names: indices, ranges, ids or addresses; empty without the option.
    pub gpu_selectors: &'a [String],
    pub host: &'a HostView,
}

/// Settings of a container that inject GPUs. They replace the recipe's `devices`; the others are added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GpuFlags {
    /// `--device`, all of them.
    pub devices: Vec<String>,
    /// `--gpus`
    pub gpus: Option<GpuDevices>,
    /// `--runtime`
    pub runtime: Option<String>,
    /// `--env`
    pub env: Vec<(String, String)>,
    /// `--group-add`
    pub groups: Vec<String>,
    /// `--volume`
    pub mounts: Vec<Mount>,
}

/// Chooses GPUs and a method.
///
/// # Errors
/// `--gpus` cannot be satisfied, or a GPU is hidden.
pub fn assign_host_gpus(
    request: &AssignRequest<'_>,
) -> Result<(GpuFlags, AssignedGpus), AssignError> {
    let (method, reason) = method::choose_method(request)?;
    let selection = select::select_gpus(request, method)?;
    let container_flags = flags::build_gpu_flags(request, method, &selection);
    let has_gpus = !selection.gpus.is_empty();
    let is_restricted = !request.container.privileged && method != InjectionMethod::AsWritten;
    let assigned = AssignedGpus {
        method,
        reason: reason.to_owned(),
        // If all are assigned, there are no others.
        isolated: has_gpus && (selection.includes_all || is_restricted),
        gpus: selection.gpus,
    };
    Ok((container_flags, assigned))
}

/// Returns whether the method depends on what the engine supports.
pub fn depends_on_engine(container: &Container, gpus: Option<&GpuRequest>) -> bool {
    gpus.is_some_and(|gpus| match container.gpu_access {
        GpuAccess::AsWritten | GpuAccess::Devices => false,
        GpuAccess::Cdi | GpuAccess::Toolkit => true,
        GpuAccess::Auto => !names_gpu_devices(container, gpus.vendor),
    })
}

/// Returns whether the recipe's own keys inject a vendor's GPUs.
fn names_gpu_devices(container: &Container, vendor: GpuVendor) -> bool {
    container.extra.runtime.as_deref() == Some(vendor.word())
        || container.devices.iter().any(|name| belongs_to_vendor(name, vendor))
}

/// Returns the path on the host of an entry of `devices`.
fn host_path(device: &str) -> &str {
    device.split(':').next().unwrap_or_default()
}

/// Returns whether an entry of `devices` belongs to a vendor's GPUs.
fn belongs_to_vendor(device: &str, vendor: GpuVendor) -> bool {
    let path = host_path(device);
    path.starts_with(cdi_name_prefix(vendor))
        || match vendor {
            GpuVendor::Amd => {
                ["/dev/kfd", "/dev/dri"].contains(&path) || path.starts_with("/dev/dri/")
            }
            GpuVendor::Nvidia => path.starts_with("/dev/nvidia"),
        }
}

#[cfg(test)]
mod tests;
