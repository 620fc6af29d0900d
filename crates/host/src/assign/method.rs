//! Chooses the method that injects GPUs into a container, with its reason.

use serde::{Deserialize, Serialize};

use super::{AssignError, AssignRequest, host_path, names_gpu_devices};
use crate::gpu_support::cdi_name_prefix;
use crate::model::HostView;
use retrial_recipe::model::{GpuAccess, GpuRequest, GpuVendor};

/// A method of injecting GPUs into a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InjectionMethod {
    /// The recipe's own keys, unchanged.
    AsWritten,
    /// Device nodes, with the driver's libraries for NVIDIA's.
    Devices,
    /// The Container Device Interface.
    Cdi,
    /// The vendor's container toolkit.
    Toolkit,
}

impl InjectionMethod {
    /// Returns its name for display.
    pub fn name(self) -> &'static str {
        match self {
            Self::AsWritten => "as written",
            Self::Devices => "device nodes",
            Self::Cdi => "Container Device Interface",
            Self::Toolkit => "container toolkit",
        }
    }
}

/// A method, and the reason for it.
type MethodChoice = (InjectionMethod, &'static str);

/// Chooses a method. A recipe that names its GPUs' devices follows a vendor's guide verbatim and is used as
/// written. Otherwise device nodes are preferred for AMD (they require only the driver, and work with every
/// engine), and the toolkit for NVIDIA (the driver's libraries must be injected, too).
pub(super) fn choose_method(request: &AssignRequest<'_>) -> Result<MethodChoice, AssignError> {
    let forced = "the recipe requests it (container.gpu_access)";
    let vendor = request.gpus.vendor;
    Ok(match request.container.gpu_access {
        GpuAccess::AsWritten if !request.gpu_selectors.is_empty() => {
            return Err(AssignError::PassedAsWritten);
        }
        GpuAccess::AsWritten => (InjectionMethod::AsWritten, forced),
        GpuAccess::Devices => (InjectionMethod::Devices, forced),
        GpuAccess::Cdi => (InjectionMethod::Cdi, forced),
        GpuAccess::Toolkit => (InjectionMethod::Toolkit, forced),
        GpuAccess::Auto if names_gpu_devices(request.container, vendor) => {
            choose_for_named_devices(request)?
        }
        GpuAccess::Auto => match vendor {
            GpuVendor::Amd => choose_for_amd(request.host),
            GpuVendor::Nvidia => choose_for_nvidia(request.host),
        },
    })
}

/// The recipe names devices of a GPU.
fn choose_for_named_devices(request: &AssignRequest<'_>) -> Result<MethodChoice, AssignError> {
    if request.gpu_selectors.is_empty() {
        let reason = "the recipe names its devices, as the vendor's guide does";
        return Ok((InjectionMethod::AsWritten, reason));
    }
    let mut devices = request.container.devices.iter();
    let can_choose = match request.gpus.vendor {
        GpuVendor::Amd => devices.any(|device| device == "/dev/dri"),
        GpuVendor::Nvidia => devices.any(|device| is_single_gpu_device(device)),
    };
    if !can_choose {
        return Err(AssignError::NamedOneByOne);
    }
    let reason = "the recipe names devices, and --gpus chooses among them";
    Ok((InjectionMethod::Devices, reason))
}

/// `/dev/nvidia0`: a device of one GPU.
pub(super) fn is_single_gpu_device(device: &str) -> bool {
    host_path(device)
        .strip_prefix("/dev/nvidia")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn choose_for_amd(host: &HostView) -> MethodChoice {
    let support = &host.gpu_support;
    let mut gpus = host.gpus.iter();
    if gpus.any(|gpu| gpu.vendor == GpuVendor::Amd && !gpu.nodes.is_empty()) {
        let reason = "requires only the driver";
        (InjectionMethod::Devices, reason)
    } else if support.has_cdi(GpuVendor::Amd) {
        let reason =
            "the GPUs' nodes are not visible here, and the engine has a CDI specification for them";
        (InjectionMethod::Cdi, reason)
    } else if support.has_runtime("amd") {
        let reason = "the GPUs' nodes are not visible here, and the engine has the runtime amd";
        (InjectionMethod::Toolkit, reason)
    } else {
        let reason = "this host's GPUs are unknown: using all of them";
        (InjectionMethod::Devices, reason)
    }
}

fn choose_for_nvidia(host: &HostView) -> MethodChoice {
    let support = &host.gpu_support;
    if support.has_runtime("nvidia") || support.nvidia_toolkit {
        let reason = "NVIDIA's container toolkit is installed";
        (InjectionMethod::Toolkit, reason)
    } else if support.has_cdi(GpuVendor::Nvidia) {
        let reason =
            "the engine has a CDI specification for them, and NVIDIA's toolkit is not installed";
        (InjectionMethod::Cdi, reason)
    } else if host.has_gpu(GpuVendor::Nvidia) && !support.nvidia_control.is_empty() {
        let reason = "neither NVIDIA's toolkit nor a CDI specification is installed";
        (InjectionMethod::Devices, reason)
    } else {
        let reason = "this host is unknown: following NVIDIA's guides";
        (InjectionMethod::Toolkit, reason)
    }
}

/// Returns why the engine does not support a method, and the fix: known only if the engine was queried.
pub fn unsupported_method(
    request: &GpuRequest,
    host: &HostView,
    method: InjectionMethod,
) -> Option<(String, &'static str)> {
    let support = &host.gpu_support;
    let api = support.api.as_deref()?;
    match (method, request.vendor) {
        (InjectionMethod::Cdi, _) if support.cdi == Some(false) => Some((
            format!("the engine (API {api}) does not support CDI devices"),
            "Docker 28.2 or later, or \"features\": {\"cdi\": true} in /etc/docker/daemon.json",
        )),
        (InjectionMethod::Cdi, vendor) if !support.has_cdi(vendor) => Some((
            format!("no CDI specification for {}…", cdi_name_prefix(vendor)),
            match vendor {
                GpuVendor::Amd => "sudo amd-ctk cdi generate",
                GpuVendor::Nvidia => "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
            },
        )),
        (InjectionMethod::Toolkit, GpuVendor::Amd) if !support.has_runtime("amd") => Some((
            "the engine has no runtime amd".to_owned(),
            "install AMD's container toolkit: sudo amd-ctk runtime configure",
        )),
        (InjectionMethod::Toolkit, GpuVendor::Nvidia)
            if !support.has_runtime("nvidia")
                && !support.nvidia_toolkit
                && host.has_gpu(GpuVendor::Nvidia) =>
        {
            Some((
                "NVIDIA's container toolkit is not installed".to_owned(),
                "the package nvidia-container-toolkit, then sudo nvidia-ctk runtime configure",
            ))
        }
        _ => None,
    }
}
