//! What was found of a host, before it is judged.

use std::fmt;

use super::image::ImageContent;
use crate::format::{count, size};
use crate::host::assign::AssignedGpus;
use crate::host::model::{Condition, HostView, Settings};
use retrial_recipe::model::{GpuRequest, Requires};

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

/// A model of the hub that a run would fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSeen {
    /// `owner/name`
    pub repository: String,
    /// What the hub said.
    pub access: Access,
}

/// Whether a model can be fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// The hub serves it: what it has, if it told in time.
    Granted(Option<ModelSize>),
    /// It is in the cache, or nothing may be asked.
    NotAsked(String),
    /// The hub refuses it, with its words and what to do.
    Refused(String),
    /// It does not answer.
    Silent(String),
}

/// How large a model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelSize {
    /// Its selected files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that are not in the cache.
    pub missing: u64,
}

impl fmt::Display for ModelSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = count(self.files, "file");
        let bytes = size(self.bytes);
        match self.missing {
            0 => write!(formatter, "{files}, {bytes}, all of it cached"),
            missing if missing == self.bytes => write!(formatter, "{files}, {bytes}"),
            missing => write!(formatter, "{files}, {bytes}, {} to fetch", size(missing)),
        }
    }
}

/// Hosts that commands of a recipe connect to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostsSeen {
    /// Each of them.
    pub hosts: Vec<HostSeen>,
    /// They were asked from a container of the recipe's image, in its network.
    pub from_container: bool,
}

/// A host that commands of a recipe connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSeen {
    /// Its name.
    pub name: String,
    /// Why it was not asked: a proxy is between.
    pub unknown: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
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
