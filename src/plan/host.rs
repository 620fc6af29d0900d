//! What a plan needs to know of the host. Filled by `host`, planted by tests.

use serde::{Deserialize, Serialize};

use crate::recipe::model::{GpuVendor, Requires};

/// The host, as far as a plan depends on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostView {
    /// Its name.
    pub hostname: String,
    /// Kernel release.
    pub kernel: String,
    /// The processor's model name.
    pub cpu: String,
    /// Logical processors.
    pub cpus: u32,
    /// Memory, bytes.
    pub memory: u64,
    /// GPUs, in the order of their indices.
    pub gpus: Vec<Gpu>,
    /// `ROCm` release installed on the host, if any.
    pub rocm: Option<String>,
    /// Version of the amdgpu driver (DKMS), if any.
    pub amdgpu: Option<String>,
    /// Version of the NVIDIA driver, if any.
    pub nvidia: Option<String>,
    /// Free disk where runs are kept, bytes.
    pub disk_free: Option<u64>,
}

/// A GPU of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// Who made it.
    pub vendor: GpuVendor,
    /// Model, for example `MI355X`; the PCI id where it is not known.
    pub model: String,
    /// Device nodes that give it to a container.
    pub nodes: Vec<String>,
    /// PCI address.
    pub pci: String,
    /// `gfx950`, for AMD.
    pub gfx: Option<String>,
    /// Memory, bytes.
    pub vram: Option<u64>,
    /// Compute units of an AMD GPU, or of the partition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute_units: Option<u32>,
    /// What names this very card: `GPU-` and hexadecimal digits, as `ROCR_VISIBLE_DEVICES` and
    /// `nvidia-smi -L` have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// How an AMD GPU is divided, where its driver says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<Partition>,
    /// The memory node of the processors that it is attached to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numa_node: Option<u32>,
}

/// How an AMD GPU is divided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// `SPX` is one GPU; `DPX`, `QPX` and `CPX` are several.
    pub compute: String,
    /// `NPS1`, `NPS2`, `NPS4`: how its memory is divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Which of the card's partitions this one is, from 0.
    pub index: u32,
}

/// Something that the recipe asks for and the host has not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lack {
    /// What: `gpus`, `gpu model`, `rocm`, `disk`, `memory`.
    pub what: String,
    /// What was found.
    pub found: String,
    /// What is asked.
    pub wanted: String,
    /// The run cannot work at all without it (else it measures something else).
    pub fatal: bool,
}

/// Compares what a recipe asks with what the host has.
#[must_use]
pub fn lacks(requires: &Requires, host: &HostView, chosen: &[String]) -> Vec<Lack> {
    let mut lacks = Vec::new();
    if let Some(request) = &requires.gpus {
        let of_vendor: Vec<&Gpu> = host
            .gpus
            .iter()
            .filter(|gpu| gpu.vendor == request.vendor)
            .collect();
        let vendor = match request.vendor {
            GpuVendor::Amd => "AMD",
            GpuVendor::Nvidia => "NVIDIA",
        };
        let have = if chosen.is_empty() {
            of_vendor.len()
        } else {
            chosen.len().min(of_vendor.len())
        };
        if have < request.count as usize {
            let because = if chosen.is_empty() {
                ""
            } else {
                " chosen by --gpus"
            };
            lacks.push(Lack {
                what: "gpus".to_owned(),
                found: format!("{have} {vendor} GPUs{because}"),
                wanted: format!("{} {vendor} GPUs", request.count),
                fatal: true,
            });
        }
        let other: Vec<&str> = of_vendor
            .iter()
            .map(|gpu| gpu.model.as_str())
            .filter(|model| {
                !request.models.is_empty()
                    && !request
                        .models
                        .iter()
                        .any(|wanted| wanted.eq_ignore_ascii_case(model))
            })
            .collect();
        if let Some(model) = other.first() {
            lacks.push(Lack {
                what: "gpu model".to_owned(),
                found: (*model).to_owned(),
                wanted: request.models.join(" or "),
                fatal: false,
            });
        }
    }
    if let (Some(range), Some(found)) = (&requires.rocm, &host.rocm)
        && release_satisfies(found, range) == Some(false)
    {
        lacks.push(Lack {
            what: "rocm".to_owned(),
            found: found.clone(),
            wanted: range.clone(),
            fatal: false,
        });
    }
    if let (Some(wanted), Some(free)) = (requires.disk, host.disk_free)
        && free < wanted
    {
        lacks.push(Lack {
            what: "disk".to_owned(),
            found: bytes(free),
            wanted: bytes(wanted),
            fatal: false,
        });
    }
    if let Some(wanted) = requires.memory
        && host.memory > 0
        && host.memory < wanted
    {
        lacks.push(Lack {
            what: "memory".to_owned(),
            found: bytes(host.memory),
            wanted: bytes(wanted),
            fatal: false,
        });
    }
    lacks
}

fn bytes(count: u64) -> String {
    humansize::format_size(count, humansize::BINARY)
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
