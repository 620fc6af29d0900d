//! The facts of a host, input of the checks.

use std::fmt;

use super::image::ImageContent;
use crate::assign::AssignedGpus;
use crate::model::{GpuCondition, HostSettings, HostView};
use retrial_document::ErrorText;
use retrial_document::measures::format::{format_bytes, format_count};
use retrial_recipe::model::{GpuRequest, HostRequirements};
use retrial_rocm::RecipeUse;

/// Free space of one disk, and its use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiskSpace {
    /// `runs`, `images`, `models`, …
    pub purpose: String,
    pub path: String,
    /// Free bytes; none if unknown.
    pub free: Option<u64>,
    /// The required space, bytes, if the recipe states it for this part alone.
    pub needed: Option<u64>,
    /// Its network file system, if it is on one.
    pub network: Option<String>,
    /// We may write there; we may not on the engine's own disk.
    pub writable: bool,
    /// The file system's device number, which identifies directories of one disk.
    pub device: Option<u64>,
}

/// The engine, as far as it could be queried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineStatus {
    NotQueried,
    /// It responds: product, version, API version, and address.
    Answers {
        /// `Docker Engine 28.2.2`
        product: String,
        /// `1.50`
        api: String,
        /// The address, and how it was chosen.
        endpoint: String,
        /// It runs without root.
        rootless: bool,
    },
    /// It does not respond, with its message on the reason and the fix.
    Fails(ErrorText),
}

/// A model of the hub that a run would fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelStatus {
    /// The repository on the hub, `owner/name`.
    pub repository: String,
    /// Whether the hub serves it to this account.
    pub access: ModelAccess,
}

/// Whether a model can be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelAccess {
    /// The hub serves it: its size, if reported in time.
    Granted(Option<ModelSize>),
    /// It is in the cache, or queries are not allowed.
    NotQueried(String),
    /// The hub refuses it, with its message and the fix.
    Refused(ErrorText),
    /// It does not respond.
    NoResponse(ErrorText),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelSize {
    /// The number of its selected files.
    pub files: usize,
    pub bytes: u64,
    /// Bytes that are not in the cache.
    pub missing_bytes: u64,
}

impl fmt::Display for ModelSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = format_count(self.files, "file");
        let bytes = format_bytes(self.bytes);
        match self.missing_bytes {
            0 => write!(formatter, "{files}, {bytes}, all of it cached"),
            missing if missing == self.bytes => write!(formatter, "{files}, {bytes}"),
            missing => write!(formatter, "{files}, {bytes}, {} to fetch", format_bytes(missing)),
        }
    }
}

/// Hosts that commands of a recipe connect to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostStatuses {
    /// The hosts, and whether each answered.
    pub hosts: Vec<HostStatus>,
    /// They were queried from a container of the recipe's image, in its network.
    pub from_container: bool,
}

/// A host that commands of a recipe connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostStatus {
    /// The host's name: `pypi.org`.
    pub name: String,
    /// Why it was not queried, if it was not: a proxy is in between.
    pub unknown: Option<String>,
    /// Why the connection failed, if it did.
    pub error: Option<String>,
}

/// The GPU memory that a scenario needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioMemory {
    /// The scenario's key in the recipe.
    pub scenario: String,
    /// The free memory that it needs on each of its GPUs, bytes.
    pub bytes: u64,
}

/// Everything that the checks depend on, as it was read or queried before.
#[derive(Debug, Clone)]
pub struct HostFacts<'a> {
    /// The host as a plan sees it.
    pub host: &'a HostView,
    /// The current condition of its GPUs, in their order.
    pub conditions: &'a [GpuCondition],
    /// Its settings; none if they were not read.
    pub settings: Option<&'a HostSettings>,
    /// The response of the container engine, if it was queried.
    pub engine: EngineStatus,
    /// Disks that a run writes to.
    pub disks: Vec<DiskSpace>,
    /// Whether the image or a model of the recipe is still to be fetched, if this is known.
    pub is_fetch_pending: Option<bool>,
    /// The recipe's requirements, if there is a recipe.
    pub requires: Option<&'a HostRequirements>,
    /// The GPU memory that its scenarios need, where they state it.
    pub scenario_memory: Vec<ScenarioMemory>,
    pub image: ImageContent,
    /// `HSA_OVERRIDE_GFX_VERSION` of the container, the target for which `ROCm` loads its code: `10.3.0`.
    pub target_override: Option<&'a str>,
    /// What the recipe does, as far as known issues of `ROCm` depend on it.
    pub recipe_use: RecipeUse<'a>,
    /// The GPUs that would be assigned to a container, and how.
    pub assigned: Option<&'a AssignedGpus>,
    /// Whether `--gpus` selected the assigned GPUs.
    pub has_chosen_gpus: bool,
    /// Runs that have GPUs of this engine: `GPU 0000:05:00.0 by run … of …`.
    pub claims: Vec<String>,
    /// Required models of the hub.
    pub models: Vec<ModelStatus>,
    /// Hosts that the recipe's commands connect to.
    pub hosts: HostStatuses,
    pub listening: Vec<u16>,
    /// Secrets that the recipe names and the environment lacks.
    pub unset_secrets: Vec<String>,
}

impl<'a> HostFacts<'a> {
    /// The host alone: nothing else was queried.
    pub fn from_host(host: &'a HostView) -> Self {
        Self {
            host,
            conditions: &[],
            settings: None,
            engine: EngineStatus::NotQueried,
            disks: Vec::new(),
            is_fetch_pending: None,
            requires: None,
            scenario_memory: Vec::new(),
            image: ImageContent::default(),
            target_override: None,
            recipe_use: RecipeUse::default(),
            assigned: None,
            has_chosen_gpus: false,
            claims: Vec::new(),
            models: Vec::new(),
            hosts: HostStatuses::default(),
            listening: Vec::new(),
            unset_secrets: Vec::new(),
        }
    }

    pub(super) fn gpu_request(&self) -> Option<&'a GpuRequest> {
        self.requires?.gpus.as_ref()
    }
}
