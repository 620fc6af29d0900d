//! The facts of the host that a plan needs. Filled by `host`, or by tests.

use serde::{Deserialize, Serialize};

use super::gpu_support::GpuSupport;
use retrial_recipe::model::GpuVendor;
use retrial_rocm::RocmInstallation;

/// The host, as far as a plan depends on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostView {
    /// The host's name, without a domain unless the kernel has it so.
    pub hostname: String,
    /// The kernel's release: `6.8.0-79-generic`.
    pub kernel: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<OperatingSystem>,
    /// The processor's model name.
    pub cpu: String,
    /// The number of online logical processors.
    pub cpus: u32,
    /// Physical processors, where the kernel reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sockets: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores_per_socket: Option<u32>,
    /// The total memory, bytes.
    pub memory: u64,
    /// GPUs, in the order of their indices.
    pub gpus: Vec<Gpu>,
    /// `ROCm` on the host, if any.
    pub rocm: Option<RocmInstallation>,
    /// Version of the amdgpu driver (DKMS), if any.
    pub amdgpu: Option<String>,
    /// Version of the NVIDIA driver, if any.
    pub nvidia: Option<String>,
    /// Support for injecting GPUs into containers.
    #[serde(default)]
    pub gpu_support: GpuSupport,
    /// The claims of running containers of ours when the run was planned: addresses of GPUs, or `all`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claimed_gpus: Vec<String>,
    /// Read errors of the GPUs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

impl HostView {
    /// The GPUs, each with its index among those of its vendor: `ROCm`'s and `nvidia-smi`'s.
    pub fn indexed_gpus(&self) -> impl Iterator<Item = (u32, &Gpu)> {
        let mut counts = [0; 2];
        self.gpus.iter().map(move |gpu| {
            let count: &mut u32 = &mut counts[usize::from(gpu.vendor == GpuVendor::Nvidia)];
            *count += 1;
            (*count - 1, gpu)
        })
    }

    /// The number of a vendor's GPUs that a container can use.
    pub fn usable_gpus(&self, vendor: GpuVendor) -> u32 {
        let gpus = self.gpus.iter();
        let usable = gpus.filter(|gpu| gpu.vendor == vendor && !gpu.masked);
        u32::try_from(usable.count()).unwrap_or(u32::MAX)
    }

    pub fn has_gpu(&self, vendor: GpuVendor) -> bool {
        self.gpus.iter().any(|gpu| gpu.vendor == vendor)
    }
}

/// An operating system, by `/etc/os-release`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatingSystem {
    /// `ubuntu`, `rhel`, `sles`, …
    pub id: String,
    /// `24.04`, `9.6`; empty where it has none.
    pub version: String,
    /// The name for display: `Ubuntu 24.04.3 LTS`.
    pub name: String,
}

impl OperatingSystem {
    /// Returns whether it is a listed one: `rhel 9.6`, or `ol 9` of all its 9.x.
    pub fn matches(&self, listed: &str) -> bool {
        let Some((id, version)) = listed.split_once(' ') else {
            return false;
        };
        let rest = self.version.strip_prefix(version);
        id == self.id && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// The vendor: AMD or NVIDIA.
    pub vendor: GpuVendor,
    /// Model, for example `MI355X`; the PCI id if unknown.
    pub model: String,
    /// Device nodes that a container needs to use it.
    pub nodes: Vec<String>,
    /// The PCI address: `0000:05:00.0`.
    pub pci: String,
    /// The instruction set of an AMD GPU: `gfx950`.
    pub gfx: Option<String>,
    /// The GPU's own memory, bytes; of a partition, its share.
    pub vram: Option<u64>,
    /// Compute units of an AMD GPU, or of the partition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute_units: Option<u32>,
    /// Its unique id: `GPU-` and hexadecimal digits, as `ROCR_VISIBLE_DEVICES` and `nvidia-smi -L` have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The partition of an AMD GPU, if its driver reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<GpuPartition>,
    /// The memory node of the processors that it is attached to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numa_node: Option<u32>,
    /// Groups of the host, by number, that may use its device nodes; not root's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<u32>,
    /// Whether its device node is missing: this GPU is not assigned to us.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub masked: bool,
}

#[cfg(any(test, feature = "testing"))]
impl Gpu {
    /// An AMD GPU of a model, without other data.
    pub fn with_model(model: &str, pci: &str) -> Self {
        Self {
            vendor: GpuVendor::Amd,
            model: model.to_owned(),
            nodes: Vec::new(),
            pci: pci.to_owned(),
            gfx: None,
            vram: None,
            compute_units: None,
            uuid: None,
            partition: None,
            numa_node: None,
            groups: Vec::new(),
            masked: false,
        }
    }
}

/// A partition of an AMD GPU, or a whole one (`SPX`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuPartition {
    /// `SPX` is one GPU; `DPX`, `QPX` and `CPX` are several.
    pub compute: String,
    /// `NPS1`, `NPS2`, `NPS4`: how its memory is divided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// The partition's index on its card, from 0.
    pub index: u32,
}

/// A GPU at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuCondition {
    /// Total memory as the driver counts it, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vram_total: Option<u64>,
    /// Memory in use, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vram_used: Option<u64>,
    /// The utilization of the last moments, percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_percent: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<GpuProgram>,
    /// Memory and link errors since the driver was loaded, where it counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<HardwareErrors>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_cap_w: Option<u32>,
    /// `auto`, `perf_determinism`, `manual`: how the driver sets the clocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub performance_level: Option<String>,
    /// An NVIDIA GPU is divided (MIG).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divided: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuProgram {
    /// Its process id on the host.
    pub pid: u32,
    /// Its name, where it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Memory of this GPU that it holds, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vram: Option<u64>,
}

/// Errors that the hardware counted (RAS).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardwareErrors {
    pub corrected: u64,
    /// Not corrected: results may be wrong, and the card needs inspection.
    pub uncorrected: u64,
}

/// Settings that change what a benchmark measures; absent if they cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSettings {
    /// The clock governor of the processors, if all have the same; else all of them.
    pub governor: Option<String>,
    /// Whether the second idle state, which is slow to leave, is disabled.
    pub deep_idle_disabled: Option<bool>,
    /// `kernel.nmi_watchdog`
    pub nmi_watchdog: Option<String>,
    /// `kernel.numa_balancing`
    pub numa_balancing: Option<String>,
    /// `kernel.randomize_va_space`
    pub randomize_va_space: Option<String>,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub huge_pages: Option<String>,
    /// The setting of defragmentation for huge pages: `always`, `defer`, `madvise`, `never`.
    pub huge_pages_defrag: Option<String>,
    /// Whether processors run two threads a core.
    pub smt: Option<String>,
    /// The kernel's command line.
    pub command_line: Option<String>,
}
