//! Events of a run, for reporters and the journal.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::reason::AbortReason;
use super::step_end::StepEnd;
use super::transfer::Transfer;
use crate::clock::{BootMoment, Moment};
use crate::process::ProcessIdentity;
use retrial_plan::step::Step;
use retrial_telemetry::LiveSample;

/// An event of a run: what happened, when, on which machine and in which step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The time on the wall clock.
    pub time: Timestamp,
    /// The time on the clock of its machine's boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_boot: Option<BootMoment>,
    /// The name of the machine where it happened; `local` in a run of one machine.
    pub node: String,
    /// The container in which the step runs, as the plan names it; none on the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// The step, by number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The name of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The kind of event, with its data.
    #[serde(flatten)]
    pub what: EventKind,
}

impl Event {
    /// An event of the current time, in a step or in none.
    pub fn new(node: &str, step: Option<&Step>, kind: EventKind) -> Self {
        let Moment { time, since_boot } = Moment::now();
        Self {
            time,
            since_boot,
            node: node.to_owned(),
            container: step.and_then(|step| step.container.clone()),
            step: step.map(|step| step.number),
            name: step.map(|step| step.name.clone()),
            what: kind,
        }
    }

    /// The same event at this moment.
    #[must_use]
    pub fn with_current_time(&self) -> Self {
        let Moment { time, since_boot } = Moment::now();
        Self { time, since_boot, ..self.clone() }
    }

    /// Returns when it happened, on both clocks.
    pub fn moment(&self) -> Moment {
        Moment { time: self.time, since_boot: self.since_boot.clone() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// A process started or resumed the run.
    RunStarted {
        /// The id of the run, the name of its directory.
        run: String,
        steps: usize,
        /// The process that executes the run from here on.
        #[serde(default)]
        process: ProcessIdentity,
        /// Steps that are already complete and are not executed again.
        completed_steps: Vec<u32>,
        /// The version of Retrial: `1.4.0`.
        tool: String,
        /// The time at which an earlier process started the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Timestamp>,
    },
    /// A job that executes the run is about to be submitted.
    Submitting {
        /// The name of the site.
        site: String,
        /// The name of the Slurm job, by which it is found again.
        job: String,
    },
    /// The terminal was detached; the run continues.
    Detached {
        /// The command that reattaches to the run.
        resume: String,
    },
    StepStarted {
        /// Its command or action, in one line.
        summary: String,
        /// The longest time it may take, seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_s: Option<u64>,
    },
    /// A step that was running when the tool was killed was reattached.
    StepReattached {
        /// Its command in one line.
        #[serde(default)]
        summary: String,
        /// When an earlier process started it, on the current setting of the clock.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        started: Option<Timestamp>,
        /// The longest time it may take since then, seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_s: Option<u64>,
    },
    /// A step succeeded, failed, was skipped or was stopped.
    StepEnded {
        /// The result, with its reason.
        #[serde(flatten)]
        end: StepEnd,
        /// The step's duration, seconds.
        seconds: f64,
    },
    /// The processes of a step are about to be ended, since the run is stopped: how it ends is not its own doing.
    StepStopping,
    /// A check that ended must be rerun.
    CheckReset,
    /// A declared condition was decided.
    Decided {
        /// The decision, and why.
        decision: String,
    },
    /// The image that is launched.
    Image {
        /// The image's id: `sha256:…`.
        id: String,
        /// The registry's digests of the image: `repository@sha256:…`.
        digests: Vec<String>,
        /// The image's size on disk, bytes.
        size: u64,
    },
    /// A machine has another image than the first one, allowed by `--force`.
    ImageDiffers(ImageDifference),
    /// The commit of a model's revision, before it is fetched.
    ModelResolved {
        /// Its key in the recipe.
        model: String,
        /// The repository on the hub, `owner/name`.
        repository: String,
        /// Branch, tag or commit.
        revision: String,
        /// The commit to which the revision was resolved.
        commit: String,
    },
    /// A model with all files present and verified.
    Model {
        /// Its key in the recipe.
        model: String,
        /// The repository on the hub, `owner/name`.
        repository: String,
        commit: String,
        /// The commit's directory in the hub's cache.
        directory: String,
        files: usize,
        /// Bytes of all its files.
        bytes: u64,
        /// Bytes that this fetch downloaded; the rest was in the cache.
        bytes_fetched: u64,
    },
    ContainerCreated {
        /// The id that the engine gave the container.
        id: String,
        /// Its name. The event's own `name` is the step's: a second field of that name could not be
        /// deserialized.
        #[serde(rename = "container_name")]
        name: String,
        /// Whether it is a service's own container.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        service: bool,
    },
    /// The step's cached directory is ready: populated, or by an earlier run.
    Cached(CacheIdentity),
    /// A cache mount's directory was mounted.
    CacheMounted(CacheMount),
    ContainerRemoved {
        /// The id that the engine gave the container.
        id: String,
    },
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
    /// Leftover processes of a step, which were terminated.
    LeftoverProcesses {
        /// `pid name` of each.
        processes: Vec<String>,
    },
    /// The results of a trial were copied out of the container.
    Collected {
        /// The path in the container.
        from: String,
        /// The path in the run's directory.
        to: String,
        files: usize,
        bytes: u64,
        /// Omitted files, and why.
        omitted: Vec<String>,
        /// Files, below `to`, that were last written before the step that measured.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        older: Vec<String>,
    },
    /// Something that the user should know, and that fails nothing.
    Warning {
        /// The sentence that is shown, without a full stop.
        text: String,
    },
    /// Something that failed no step, and may have changed a figure: the verdict repeats it.
    Incident {
        /// The sentence that is shown, without a full stop.
        text: String,
    },
    Judged {
        /// The outcome with its qualifiers: `reproduced (modified)`.
        outcome: String,
        /// The verdict's sentence, without markup.
        sentence: String,
    },
    /// The run ended; `retrial resume` may still continue it.
    RunEnded {
        /// The exit code of the tool.
        exit_code: u8,
        /// The reason, if it ended early.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<AbortReason>,
    },

    /// Shown to whoever watches now, and not in the journal.
    #[serde(untagged, skip_deserializing)]
    Live(LiveEvent),
}

impl EventKind {
    /// Returns whether it is stored in the journal.
    pub fn is_stored(&self) -> bool {
        !matches!(self, Self::Live(_))
    }
}

/// An event of the moment: whoever attaches later is not told.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LiveEvent {
    /// A question to whoever sits at the terminal of this process, or what they should know.
    Notice {
        /// The sentence that is shown, without a full stop.
        text: String,
    },
    /// The step has waited for some seconds without any progress.
    Waiting {
        /// Who must answer, as a noun: `the hub`.
        on: String,
    },
    /// Progress of a layer of an image, or of a file of a model.
    Transfer(Transfer),
    /// The figures of a trial, for display; the verdict reads them again.
    Measured {
        /// `trial 2 of 5`; empty if there is one only.
        trial: String,
        /// Its first figures: name, value and unit.
        figures: Vec<(String, f64, String)>,
    },
    /// A sample of the GPUs and the container during a measurement.
    Telemetry {
        /// The sums and means of all GPUs at this moment.
        live: LiveSample,
    },
    /// Output of a step, a build or a pull.
    Output {
        /// One line, sanitized for terminals.
        line: String,
    },
}

impl From<LiveEvent> for EventKind {
    fn from(event: LiveEvent) -> Self {
        Self::Live(event)
    }
}

/// The directory that a step's cached directory is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheIdentity {
    /// The name of its directory, below that of its key.
    pub directory: String,
    /// Its whole identity: SHA-256, hexadecimal.
    pub identity: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheMount {
    /// The id of the container.
    #[serde(rename = "container_id")]
    pub container: String,
    /// Its name in the recipe.
    pub mount: String,
    /// Its path in the container.
    pub path: String,
    /// The name of its directory, below that of the mount.
    pub directory: String,
    /// Its whole identity: SHA-256, hexadecimal.
    pub identity: String,
    /// The run whose files it contained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reused_from: Option<String>,
}

impl std::fmt::Display for CacheMount {
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

/// An image that differs between two machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageDifference {
    /// Its reference in the recipe.
    pub reference: String,
    /// The machine with the other one.
    #[serde(rename = "machine")]
    pub node: String,
    /// Its registry digest, or its id.
    pub digest: String,
    /// The reference machine, the head if it has the image.
    pub first: String,
    /// The image of the reference machine.
    pub first_digest: String,
}

impl std::fmt::Display for ImageDifference {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { reference, node, digest, first, first_digest } = self;
        write!(
            formatter,
            "{node} has a different image {reference} than {first}: {digest}, not {first_digest}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs read it next to the others; a journal that has it was not written by this program.
    #[test]
    fn a_live_event_is_printed_and_not_read() {
        let waiting = EventKind::from(LiveEvent::Waiting { on: "the hub".to_owned() });
        assert!(!waiting.is_stored());
        let text = serde_json::to_string(&Event::new("local", None, waiting)).unwrap();
        assert!(text.contains(r#""event":"waiting","on":"the hub""#), "{text}");
        assert!(serde_json::from_str::<Event>(&text).is_err());
        let warning = EventKind::Warning { text: "slow".to_owned() };
        let text = serde_json::to_string(&Event::new("local", None, warning)).unwrap();
        assert!(serde_json::from_str::<Event>(&text).unwrap().what.is_stored());
    }
}
