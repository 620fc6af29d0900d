//! Which GPUs of the host a container is given, and by which flags. Pure.
//!
//! - `select`: from `requires.gpus` and `--gpus` to GPUs of the host.
//! - `way`: device nodes, the Container Device Interface, or a vendor's toolkit, and why.
//! - `flags`: the container's settings for a way.
//! - `privilege`: what `--least-privilege` takes out of a recipe.
//!
//! Environment variables (`ROCR_VISIBLE_DEVICES`, `HIP_VISIBLE_DEVICES`) only tell a program which
//! GPUs to take. What keeps it from the others is that their device nodes are not in the container.

mod flags;
mod least_privilege;
mod method;
mod select;

use serde::{Deserialize, Serialize};

use super::model::{Gpu, HostView};
use retrial_container::{GpuDevices, Mount};
use retrial_recipe::model::{Container, GpuAccess, GpuRequest, GpuVendor};

pub use least_privilege::{Lessened, lessened};
pub use method::InjectionMethod;
pub use select::cards;

/// The GPUs that a container is given, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignedGpus {
    /// By which way.
    pub method: InjectionMethod,
    /// Why by this one.
    pub because: String,
    /// Which; none where this host's GPUs are not known.
    pub gpus: Vec<AssignedGpu>,
    /// The container cannot reach others of the host.
    pub isolated: bool,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignedGpu {
    /// Its index among the host's GPUs of its vendor: `ROCm`'s and `nvidia-smi`'s.
    pub index: u32,
    /// It.
    #[serde(flatten)]
    pub gpu: Gpu,
}

impl AssignedGpu {
    /// What tells it apart from every other GPU of the host, for whoever else may claim it.
    #[must_use]
    pub fn claim(&self) -> String {
        match &self.gpu.partition {
            Some(partition) if partition.compute != "SPX" => {
                format!("{}/{}", self.gpu.pci, partition.index)
            }
            _ => self.gpu.pci.clone(),
        }
    }
}

impl AssignedGpus {
    /// What a run claims by this: addresses of GPUs, or `all` where they are not known.
    #[must_use]
    pub fn claims(&self) -> Vec<String> {
        if self.gpus.is_empty() {
            return vec!["all".to_owned()];
        }
        self.gpus.iter().map(AssignedGpu::claim).collect()
    }
}

/// What is asked, and of which host.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The recipe's container.
    pub container: &'a Container,
    /// What it asks of the host.
    pub request: &'a GpuRequest,
    /// `--gpus`
    pub chosen: &'a [String],
    /// The host.
    pub host: &'a HostView,
}

/// Settings of a container that give it GPUs. They stand in the place of the recipe's `devices`;
/// the others are added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
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

/// Chooses GPUs and a way.
///
/// # Errors
/// A fragment that says why `--gpus` cannot be met.
pub fn give(asked: &Asked<'_>) -> Result<(Flags, AssignedGpus), String> {
    let (way, because) = method::choose(asked)?;
    let selection = select::select(asked, way)?;
    Ok(flags::flags(asked, way, because, selection))
}

/// Whether what the engine can do has a say in how GPUs are given.
#[must_use]
pub fn depends_on_engine(container: &Container, request: Option<&GpuRequest>) -> bool {
    let Some(request) = request else {
        return false;
    };
    match container.gpu_access {
        GpuAccess::AsWritten | GpuAccess::Devices => false,
        GpuAccess::Cdi | GpuAccess::Toolkit => true,
        GpuAccess::Auto => !names_gpus(container, request.vendor),
    }
}

/// Whether the recipe's own keys give GPUs of a vendor.
fn names_gpus(container: &Container, vendor: GpuVendor) -> bool {
    let runtime = container.further.runtime.as_deref();
    let by_runtime = match vendor {
        GpuVendor::Amd => runtime == Some("amd"),
        GpuVendor::Nvidia => runtime == Some("nvidia"),
    };
    by_runtime || container.devices.iter().any(|name| is_of(name, vendor))
}

/// Whether an entry of `devices` belongs to a vendor's GPUs.
fn is_of(device: &str, vendor: GpuVendor) -> bool {
    let path = device.split(':').next().unwrap_or_default();
    match vendor {
        GpuVendor::Amd => {
            path == "/dev/kfd"
                || path == "/dev/dri"
                || path.starts_with("/dev/dri/")
                || path.starts_with("amd.com/gpu=")
        }
        GpuVendor::Nvidia => path.starts_with("/dev/nvidia") || path.starts_with("nvidia.com/gpu="),
    }
}

#[cfg(test)]
mod tests;
