//! What happens in a run, as every reporter sees it and the journal keeps it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::reason::AbortReason;
use super::step_end::StepEnd;
use crate::plan::step::Step;
use crate::telemetry::Live;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub time: Timestamp,
    /// On which machine.
    pub node: String,
    /// In which container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// In which step, by number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The step's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

impl Event {
    /// Something that happens now, in a step or in none.
    pub fn new(node: &str, step: Option<&Step>, what: What) -> Self {
        Self {
            time: Timestamp::now(),
            node: node.to_owned(),
            container: step.and_then(|step| step.container.clone()),
            step: step.map(|step| step.number),
            name: step.map(|step| step.name.clone()),
            what,
        }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// A process took up the run: the first time or again.
    RunBegan {
        /// The run's id.
        run: String,
        /// Steps in all.
        steps: usize,
        /// The process.
        pid: u32,
        /// Steps that are already complete and are not executed again.
        completed_steps: Vec<u32>,
        /// The tool's version.
        tool: String,
        /// When an earlier process started the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Timestamp>,
    },
    /// A job is about to be submitted that executes the run.
    Submitting {
        /// The site.
        site: String,
        /// The job's name.
        job: String,
    },
    /// The terminal is gone; the run goes on.
    Detached {
        /// How to come back.
        resume: String,
    },
    /// A step begins.
    StepBegan {
        /// Its command, or what it does, in one line.
        summary: String,
        /// The longest time it may take, seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_s: Option<u64>,
    },
    /// A step that was running when the tool was killed is followed again.
    StepFollowed {
        /// Its command in one line.
        #[serde(default)]
        summary: String,
        /// When it began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        started: Option<Timestamp>,
        /// The longest time it may take since then, seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_s: Option<u64>,
    },
    /// A step ended.
    StepEnded {
        /// How.
        #[serde(flatten)]
        end: StepEnd,
        /// How long it took, seconds.
        seconds: f64,
    },
    /// A check that ended is to be run again.
    CheckReset,
    /// A declared condition fell one way or the other.
    Decided {
        /// Which way, and why.
        decision: String,
    },
    /// The image that is launched.
    Image {
        /// Its id.
        id: String,
        /// The registry's digests.
        digests: Vec<String>,
        /// Bytes.
        size: u64,
    },
    /// A machine has another image than the first one, which was allowed.
    ImageDiffers(ImageDifference),
    /// The commit that a model's revision is, before anything of it is fetched.
    ModelResolved {
        /// Its key in the recipe.
        model: String,
        /// `owner/name`
        repository: String,
        /// Branch, tag or commit.
        revision: String,
        /// The commit.
        commit: String,
    },
    /// A model whose files are all here, each checked.
    Model {
        /// Its key in the recipe.
        model: String,
        /// `owner/name`
        repository: String,
        /// The commit.
        commit: String,
        /// The commit's directory in the hub's cache.
        directory: String,
        /// Files.
        files: usize,
        /// Bytes in all.
        bytes: u64,
        /// Bytes that had to come.
        bytes_fetched: u64,
    },
    /// The container that was made.
    ContainerCreated {
        /// Its id.
        id: String,
        /// Its name. The event's own `name` is the step's: two of them could not be read back.
        #[serde(rename = "container_name")]
        name: String,
        /// It is a service's own.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        service: bool,
    },
    /// A directory that is kept for later runs was mounted.
    CacheMounted(CacheMounted),
    /// The container that was removed.
    ContainerRemoved {
        /// Its id.
        id: String,
    },
    /// A service is ready.
    ServiceReady {
        /// Its key in the recipe.
        service: String,
        /// The engine's name for its process, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exec: Option<String>,
    },
    /// A service has ended, or was stopped.
    ServiceEnded {
        /// Its key in the recipe.
        service: String,
        /// The step that started it.
        of: u32,
        /// Its exit code, if it wrote one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
    },
    /// Processes that a step left running, which were ended.
    LeftRunning {
        /// `pid name` of each.
        processes: Vec<String>,
    },
    /// Results that were fetched.
    Collected {
        /// From where in the container.
        from: String,
        /// To where in the run's directory.
        to: String,
        /// Files.
        files: usize,
        /// Bytes.
        bytes: u64,
        /// What was left out, and why.
        omitted: Vec<String>,
    },
    /// Something to know.
    Warning {
        /// The sentence.
        text: String,
    },
    /// The verdict stands.
    Judged {
        /// The outcome's word.
        outcome: String,
        /// One sentence.
        sentence: String,
    },
    /// The run is over.
    RunEnded {
        /// The exit code of the tool.
        exit_code: u8,
        /// Why it ended early, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<AbortReason>,
    },

    // What follows is shown and not kept.
    /// Progress of a layer of an image, or of a file of a model.
    Transfer(Transfer),
    /// What a trial gave, for whoever watches; the verdict reads it again.
    Measured {
        /// `trial 2 of 5`; empty if there is one only.
        trial: String,
        /// Its first figures: name, value and unit.
        figures: Vec<(String, f64, String)>,
    },
    /// A look at the GPUs and the container while a step measures.
    Telemetry {
        /// What was seen.
        live: Live,
    },
    /// Output of a step, a build or a pull.
    Output {
        /// One line, made harmless for terminals.
        line: String,
    },
}

impl What {
    /// Whether the journal keeps it.
    pub fn is_kept(&self) -> bool {
        !matches!(
            self,
            Self::Transfer(_)
                | Self::Measured { .. }
                | Self::Telemetry { .. }
                | Self::Output { .. }
        )
    }
}

/// A cache mount of a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheMounted {
    /// The container's id.
    #[serde(rename = "container_id")]
    pub container: String,
    /// Its name in the recipe.
    pub mount: String,
    /// Where it is in the container.
    pub path: String,
    /// The name of its directory, below that of the mount.
    pub directory: String,
    /// The run whose files were in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reused_from: Option<String>,
}

impl std::fmt::Display for CacheMounted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { mount, path, .. } = self;
        match &self.reused_from {
            Some(run) => write!(
                formatter,
                "cache mount {mount}: compiled kernels of run {run} were reused ({path})"
            ),
            None => write!(formatter, "cache mount {mount}: nothing to reuse ({path})"),
        }
    }
}

/// An image that is not the same on two machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageDifference {
    /// As the recipe names it.
    pub reference: String,
    /// The machine that has another one.
    #[serde(rename = "machine")]
    pub node: String,
    /// Which: a registry's digest, or the image's id.
    pub digest: String,
    /// The machine that is compared with, the head if it has the image.
    pub first: String,
    /// The image of that one.
    pub first_digest: String,
}

impl std::fmt::Display for ImageDifference {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            reference,
            node,
            digest,
            first,
            first_digest,
        } = self;
        write!(
            formatter,
            "{node} has a different image {reference} than {first}: {digest}, not {first_digest}"
        )
    }
}

/// Progress of a layer of an image, or of a file of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Layer or file.
    pub unit: TransferUnit,
    /// The layer's short id, or the file's path in the repository.
    pub part: String,
    /// Its state.
    pub state: TransferState,
    /// Bytes done, if they are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<u64>,
    /// Bytes in all, once known; of a layer compressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// What is transferred.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransferUnit {
    /// A layer of an image.
    #[default]
    Layer,
    /// A file of a model.
    File,
}

/// The state of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransferState {
    /// Not started.
    Waiting,
    /// Bytes arrive.
    Downloading,
    /// All bytes arrived.
    Downloaded,
    /// Its bytes are hashed.
    Verifying,
    /// A layer is unpacked.
    Extracting,
    /// It arrived, is unpacked and matches its hash.
    Done,
    /// It was there before.
    Cached,
}
