//! What a recipe asks of the host, and the host has not.

use serde::{Deserialize, Serialize};

use crate::host::assign::{AssignedGpus, InjectionMethod, cards};
use crate::host::model::HostView;
use retrial_recipe::model::{GpuRequest, GpuVendor, Requires};

/// Something that the recipe asks for and the host has not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmetRequirement {
    /// What: `gpus`, `gpu model`, `gpu partition`, `way to the gpus`, `rocm`, `disk`, `memory`.
    pub what: String,
    /// What was found.
    pub found: String,
    /// What is asked.
    pub wanted: String,
    /// The run cannot work at all without it (else it measures something else).
    pub fatal: bool,
}

impl UnmetRequirement {
    fn new(what: &str, found: impl Into<String>, wanted: impl Into<String>) -> Self {
        Self {
            what: what.to_owned(),
            found: found.into(),
            wanted: wanted.into(),
            fatal: false,
        }
    }

    fn fatal(self) -> Self {
        Self {
            fatal: true,
            ..self
        }
    }

    /// Another figure would come of it than the one that was published.
    #[must_use]
    pub fn other_hardware(&self) -> bool {
        ["gpus", "gpu model", "gpu partition"].contains(&self.what.as_str())
    }

    /// Nothing is begun with it, unless the user says so.
    #[must_use]
    pub fn stops(&self) -> bool {
        self.fatal || self.other_hardware()
    }
}

/// Compares what a recipe asks with what the host has, and with the GPUs that the container gets.
#[must_use]
pub fn lacks(
    requires: &Requires,
    host: &HostView,
    given: Option<&AssignedGpus>,
    by_choice: bool,
) -> Vec<UnmetRequirement> {
    let mut lacks = Vec::new();
    if let (Some(request), Some(given)) = (&requires.gpus, given) {
        lacks.extend(count(request, given, by_choice));
        lacks.extend(model(request, given));
        lacks.extend(partition(request, given));
        lacks.extend(way(request, host, given));
    }
    if let (Some(range), Some(found)) = (&requires.rocm, &host.rocm)
        && release_satisfies(found, range) == Some(false)
    {
        lacks.push(UnmetRequirement::new("rocm", found, range));
    }
    if let (Some(wanted), Some(free)) = (requires.disk, host.disk_free)
        && free < wanted
    {
        lacks.push(UnmetRequirement::new("disk", bytes(free), bytes(wanted)));
    }
    if let Some(wanted) = requires.memory
        && host.memory > 0
        && host.memory < wanted
    {
        lacks.push(UnmetRequirement::new(
            "memory",
            bytes(host.memory),
            bytes(wanted),
        ));
    }
    lacks
}

fn count(request: &GpuRequest, given: &AssignedGpus, by_choice: bool) -> Option<UnmetRequirement> {
    let usable = given.gpus.iter().map(|given| &given.gpu);
    let have = cards(usable.filter(|gpu| !gpu.masked));
    if have >= request.count as usize {
        return None;
    }
    let vendor = request.vendor.name();
    let because = if by_choice { " chosen by --gpus" } else { "" };
    let lack = UnmetRequirement::new(
        "gpus",
        format!("{have} {vendor} GPUs{because}"),
        format!("{} {vendor} GPUs", request.count),
    );
    Some(lack.fatal())
}

fn model(request: &GpuRequest, given: &AssignedGpus) -> Option<UnmetRequirement> {
    let mut models = given.gpus.iter().map(|given| given.gpu.model.as_str());
    let other = models.find(|model| !request.takes(model))?;
    Some(UnmetRequirement::new(
        "gpu model",
        other,
        request.models.join(" or "),
    ))
}

/// What a recipe does not name was published on whole GPUs.
fn partition(request: &GpuRequest, given: &AssignedGpus) -> Option<UnmetRequirement> {
    let wanted = request.partition.as_deref().unwrap_or("SPX");
    let mut modes = given.gpus.iter().filter_map(|given| {
        let partition = given.gpu.partition.as_ref()?;
        Some(partition.compute.as_str())
    });
    let other = modes.find(|mode| !mode.eq_ignore_ascii_case(wanted))?;
    Some(UnmetRequirement::new("gpu partition", other, wanted))
}

/// Whether the engine has the way that the recipe forces. Where none was asked, it may.
#[must_use]
pub fn way(
    request: &GpuRequest,
    host: &HostView,
    given: &AssignedGpus,
) -> Option<UnmetRequirement> {
    let giving = &host.gpu_support;
    let api = giving.api.as_deref()?;
    let lack = |found: String, wanted: &str| {
        Some(UnmetRequirement::new("way to the gpus", found, wanted).fatal())
    };
    match (given.method, request.vendor) {
        (InjectionMethod::Cdi, _) if giving.cdi == Some(false) => lack(
            format!("the engine (API {api}) takes no devices of the Container Device Interface"),
            "Docker 28.2 or later, or \"features\": {\"cdi\": true} in /etc/docker/daemon.json",
        ),
        (InjectionMethod::Cdi, vendor) => {
            let (kind, wanted) = match vendor {
                GpuVendor::Amd => ("amd.com/gpu=", "sudo amd-ctk cdi generate"),
                GpuVendor::Nvidia => (
                    "nvidia.com/gpu=",
                    "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
                ),
            };
            if giving.cdi_of(kind).is_empty() {
                lack(format!("no specification of {kind}…"), wanted)
            } else {
                None
            }
        }
        (InjectionMethod::Toolkit, GpuVendor::Amd) if !giving.has_runtime("amd") => lack(
            "the engine has no runtime amd".to_owned(),
            "AMD's container toolkit: sudo amd-ctk runtime configure",
        ),
        (InjectionMethod::Toolkit, GpuVendor::Nvidia)
            if !giving.has_runtime("nvidia")
                && !giving.nvidia_toolkit
                && host.gpus.iter().any(|gpu| gpu.vendor == GpuVendor::Nvidia) =>
        {
            lack(
                "NVIDIA's container toolkit is not here".to_owned(),
                "the package nvidia-container-toolkit, then sudo nvidia-ctk runtime configure",
            )
        }
        _ => None,
    }
}

fn bytes(count: u64) -> String {
    crate::format::size(count)
}

/// Whether a release such as `7.1.1-38` lies in a range such as `>=7.1.0` or `>=6.4, <7`;
/// none where either cannot be read.
#[must_use]
pub fn release_satisfies(release: &str, range: &str) -> Option<bool> {
    let numbers = |text: &str| -> Option<Vec<u32>> {
        text.split('-')
            .next()?
            .split('.')
            .map(|part| part.trim().parse().ok())
            .collect()
    };
    let found = numbers(release)?;
    let mut all = true;
    for part in range
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let digits = part.find(|character: char| character.is_ascii_digit())?;
        let mut wanted = numbers(&part[digits..])?;
        let mut have = found.clone();
        let length = wanted.len().max(have.len());
        wanted.resize(length, 0);
        have.resize(length, 0);
        all &= match part[..digits].trim() {
            ">=" => have >= wanted,
            ">" => have > wanted,
            "<=" => have <= wanted,
            "<" => have < wanted,
            "=" | "==" | "" => have == wanted,
            _ => return None,
        };
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_compared_number_by_number() {
        assert_eq!(release_satisfies("7.1.1-38", ">=7.1.0"), Some(true));
        assert_eq!(release_satisfies("6.4.1", ">=7.1.0"), Some(false));
        assert_eq!(release_satisfies("7.10.0", ">=7.9"), Some(true));
        assert_eq!(release_satisfies("7.0", ">=6.4, <7"), Some(false));
        assert_eq!(release_satisfies("unknown", ">=7"), None);
    }
}
