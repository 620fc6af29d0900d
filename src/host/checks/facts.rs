//! What was found of a host, before it is judged.

use serde::{Deserialize, Serialize};

use super::image::ImageContent;
use super::services::{HostsSeen, ModelSeen};
use crate::host::assign::AssignedGpus;
use crate::host::model::HostView;
use retrial_recipe::model::{GpuRequest, Requires};

/// A GPU at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Memory in all as the driver counts it, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vram_total: Option<u64>,
    /// Memory in use, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vram_used: Option<u64>,
    /// How busy it is, per cent of the last moments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_percent: Option<u32>,
    /// Programs that use it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<Process>,
    /// Memory and link errors since the driver was loaded, where it counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Errors>,
    /// The power limit, watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_cap_w: Option<u32>,
    /// `auto`, `perf_determinism`, `manual`: how the driver sets the clocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub performance_level: Option<String>,
    /// An NVIDIA GPU is divided (MIG).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divided: Option<bool>,
}

/// A program on a GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
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
pub struct Errors {
    /// Put right by the hardware.
    pub corrected: u64,
    /// Not put right: results may be wrong, and the card wants a look.
    pub uncorrected: u64,
}

/// Settings that change what a benchmark measures; absent where they cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The clock governor of the processors, where all have the same; else each that is there.
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
    /// When memory is defragmented for huge pages.
    pub huge_pages_defrag: Option<String>,
    /// Whether processors run two threads a core.
    pub smt: Option<String>,
    /// The kernel's command line.
    pub command_line: Option<String>,
}

/// Free space of one disk, and what is stored there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    /// `runs`, `images`, `models`, …
    pub what: String,
    /// Where; empty where only the space is known.
    pub path: String,
    /// Bytes; none where it cannot be told.
    pub free: Option<u64>,
    /// What will be stored there, bytes, if the recipe says it of this part alone.
    pub needed: Option<u64>,
    /// The network file system that it lies on, if it does.
    pub network: Option<String>,
    /// We may write there; the engine's own disk is not ours to write.
    pub writable: bool,
    /// The file system's number, by which directories of one disk are told.
    pub device: Option<u64>,
}

impl Disk {
    /// The disk of the runs, of which a plan knows only the space.
    pub(super) fn of_runs(free: Option<u64>) -> Self {
        Self {
            what: "runs".to_owned(),
            path: String::new(),
            free,
            needed: None,
            network: None,
            writable: true,
            device: None,
        }
    }
}

/// The engine, as far as it could be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineFound {
    /// Nobody asked it.
    NotAsked,
    /// It answers: product, version, API version, and where.
    Answers {
        /// `Docker Engine 28.2.2`
        product: String,
        /// `1.50`
        api: String,
        /// Where, and how that was chosen.
        endpoint: String,
        /// It runs without root.
        rootless: bool,
    },
    /// It does not, with its own words on why and what to do.
    Fails(String),
}

/// All that was found.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// The host.
    pub host: &'a HostView,
    /// Its GPUs at this moment, in their order.
    pub conditions: &'a [Condition],
    /// Its settings; none where they were not read.
    pub settings: Option<&'a Settings>,
    /// The engine.
    pub engine: EngineFound,
    /// Disks that a run writes to.
    pub disks: Vec<Disk>,
    /// What the recipe asks, if one is asked about.
    pub requires: Option<&'a Requires>,
    /// What the image has.
    pub image: ImageContent,
    /// The GPUs that a container would get, and how.
    pub assigned: Option<&'a AssignedGpus>,
    /// `--gpus` chose them.
    pub chosen: bool,
    /// Runs that have GPUs of this engine: `GPU 0000:05:00.0 by run … of …`.
    pub claims: Vec<String>,
    /// Models of the hub that are asked for.
    pub models: Vec<ModelSeen>,
    /// Hosts that the recipe's commands connect to.
    pub hosts: HostsSeen,
    /// Ports of this host on which somebody listens.
    pub listening: Vec<u16>,
}

impl<'a> Facts<'a> {
    /// The host alone: nothing else was asked.
    #[must_use]
    pub fn of(host: &'a HostView) -> Self {
        Self {
            host,
            conditions: &[],
            settings: None,
            engine: EngineFound::NotAsked,
            disks: Vec::new(),
            requires: None,
            image: ImageContent::default(),
            assigned: None,
            chosen: false,
            claims: Vec::new(),
            models: Vec::new(),
            hosts: HostsSeen::default(),
            listening: Vec::new(),
        }
    }

    pub(super) fn request(&self) -> Option<&'a GpuRequest> {
        self.requires?.gpus.as_ref()
    }
}
