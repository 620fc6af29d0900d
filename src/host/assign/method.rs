//! By which way a container gets its GPUs, and why.

use serde::{Deserialize, Serialize};

use super::{Asked, names_gpus};
use retrial_recipe::model::{GpuAccess, GpuVendor};

/// A way by which GPUs come into a container.
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
    /// As a person reads it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AsWritten => "as written",
            Self::Devices => "device nodes",
            Self::Cdi => "Container Device Interface",
            Self::Toolkit => "container toolkit",
        }
    }
}

/// Chooses. A recipe that names its GPUs' devices is a vendor's guide put down word for word: it
/// is followed. Else nodes come first for AMD (they need nothing but the driver, and are the same
/// with every engine), and the toolkit for NVIDIA (the driver's libraries have to come along).
pub(crate) fn choose(asked: &Asked<'_>) -> Result<(InjectionMethod, String), String> {
    let forced = "the recipe asks for it (container.gpu_access)";
    let vendor = asked.request.vendor;
    Ok(match asked.container.gpu_access {
        GpuAccess::AsWritten if !asked.chosen.is_empty() => {
            return Err(
                "the recipe gives its devices as written (container.gpu_access): choose in the recipe"
                    .to_owned(),
            );
        }
        GpuAccess::AsWritten => (InjectionMethod::AsWritten, forced.to_owned()),
        GpuAccess::Devices => (InjectionMethod::Devices, forced.to_owned()),
        GpuAccess::Cdi => (InjectionMethod::Cdi, forced.to_owned()),
        GpuAccess::Toolkit => (InjectionMethod::Toolkit, forced.to_owned()),
        GpuAccess::Auto if names_gpus(asked.container, vendor) => named(asked)?,
        GpuAccess::Auto => match vendor {
            GpuVendor::Amd => amd(asked),
            GpuVendor::Nvidia => nvidia(asked),
        },
    })
}

/// The recipe names devices of a GPU.
fn named(asked: &Asked<'_>) -> Result<(InjectionMethod, String), String> {
    if asked.chosen.is_empty() {
        let because = "the recipe names its devices, as the vendor's guide does";
        return Ok((InjectionMethod::AsWritten, because.to_owned()));
    }
    let devices = &asked.container.devices;
    let narrows = match asked.request.vendor {
        GpuVendor::Amd => devices.iter().any(|device| device == "/dev/dri"),
        GpuVendor::Nvidia => devices.iter().any(|device| is_numbered(device)),
    };
    if !narrows {
        return Err(
            "the recipe names its GPUs' devices one by one, not /dev/dri: choose in the recipe"
                .to_owned(),
        );
    }
    Ok((
        InjectionMethod::Devices,
        "the recipe names devices, and --gpus chooses among them".to_owned(),
    ))
}

/// `/dev/nvidia0`: a device of one GPU.
pub(crate) fn is_numbered(device: &str) -> bool {
    let path = device.split(':').next().unwrap_or_default();
    path.strip_prefix("/dev/nvidia")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

fn amd(asked: &Asked<'_>) -> (InjectionMethod, String) {
    let giving = &asked.host.gpu_support;
    let mut gpus = asked.host.gpus.iter();
    let seen = gpus.any(|gpu| gpu.vendor == GpuVendor::Amd && !gpu.nodes.is_empty());
    let (way, because) = if seen {
        (InjectionMethod::Devices, "they need nothing but the driver")
    } else if !giving.cdi_of("amd.com/gpu=").is_empty() {
        (
            InjectionMethod::Cdi,
            "the GPUs' nodes are not seen here, and the engine has a specification of them",
        )
    } else if giving.has_runtime("amd") {
        (
            InjectionMethod::Toolkit,
            "the GPUs' nodes are not seen here, and the engine has the runtime amd",
        )
    } else {
        (
            InjectionMethod::Devices,
            "nothing is known of this host's GPUs: all that it has",
        )
    };
    (way, because.to_owned())
}

fn nvidia(asked: &Asked<'_>) -> (InjectionMethod, String) {
    let giving = &asked.host.gpu_support;
    let seen = asked
        .host
        .gpus
        .iter()
        .any(|gpu| gpu.vendor == GpuVendor::Nvidia);
    let (way, because) = if giving.has_runtime("nvidia") || giving.nvidia_toolkit {
        (
            InjectionMethod::Toolkit,
            "NVIDIA's container toolkit is here",
        )
    } else if !giving.cdi_of("nvidia.com/gpu=").is_empty() {
        (
            InjectionMethod::Cdi,
            "the engine has a specification of them, and NVIDIA's toolkit is not here",
        )
    } else if seen && !giving.nvidia_control.is_empty() {
        (
            InjectionMethod::Devices,
            "neither NVIDIA's toolkit nor a specification of the Container Device Interface is here",
        )
    } else {
        (
            InjectionMethod::Toolkit,
            "nothing is known of this host: as NVIDIA's guides do",
        )
    };
    (way, because.to_owned())
}
