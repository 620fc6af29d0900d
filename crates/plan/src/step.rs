//! The plan and its steps.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use itertools::join;
use serde::{Deserialize, Serialize};

use super::access::HostAccess;
use super::cached_directory::PopulateStep;
use super::download::PlannedDownload;
pub use super::exec::{CommandPurpose, ExecStep};
use super::measurement::MeasurementPlan;
use super::model::ModelFetch;
use super::options::{KeepContainer, PlanOptions, PullPolicy};
use super::privilege::Privilege;
pub use super::recipe_files::RECIPE_DIRECTORY;
use super::service::{ServiceStep, StopStep};
use retrial_container::ContainerSpec;
use retrial_host::assign::AssignedGpus;
use retrial_host::checks::HostCheck;
use retrial_mlperf::ScenarioName;
use retrial_recipe::model::{
    BaseRecipe, FigureClaim, HostRequirements, JudgeRules, Nodes, ParamValue, Placement,
    StepLocation, Submission,
};
use retrial_telemetry::rate::SamplingInterval;

/// All steps of a run, decided before it starts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line, or a fact of its own"
)]
pub struct Plan {
    /// Version of this format.
    pub schema: u32,
    /// The recipe's name or path.
    pub recipe: String,
    /// SHA-256 of the resolved recipe.
    pub recipe_hash: String,
    /// The recipe is built in: what it leaves for later runs is never mixed with that of other recipes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub built_in: bool,
    /// The recipe's title in one line.
    pub title: String,
    /// The duration on the published hardware, without downloads.
    #[serde(default)]
    pub expected_duration: Option<Duration>,
    /// The recipe's measurements that the command line excludes: `Server performance`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<String>,
    /// Scenarios that are measured without the accuracy that the recipe has for them (`--mode performance`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded_accuracy: Vec<ScenarioName>,
    /// The published result that the recipe repeats.
    pub submission: Submission,
    /// The values of the recipe's params, by name.
    pub params: BTreeMap<String, ParamValue>,
    /// The chosen value of each variant axis.
    pub variant: BTreeMap<String, String>,
    /// Parameters that `--set` changed.
    pub modified: Vec<String>,
    /// Params without a default that `--set` gave a value, without which the recipe cannot be planned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given_params: Vec<String>,
    /// What `--image` and `--build-arg` replaced, by the setting's name: an image, an argument's value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub replaced: BTreeMap<String, String>,
    /// The recipe that the plan's recipe extends, whose figures it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<BaseRecipe>,
    /// The image of the published figures, where a variant has another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_image: Option<String>,
    /// Versions of what the image contains, by the recipe: `rocm`, `torch`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub image_contents: BTreeMap<String, String>,
    /// It only shows that everything starts: its figures are compared with no published ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub smoke_test: bool,
    /// Options that changed the recipe's own plan so that a figure may differ: `--skip setup-clocks`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The options that it was made with, by which it can be derived again from its recipe.
    #[serde(default, skip_serializing_if = "is_default")]
    pub options: PlanOptions,
    /// The batch that this run is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchPosition>,
    /// Requirements of the host; of several machines, for each.
    pub requires: HostRequirements,
    /// The machines, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Nodes>,
    /// The recipe's directory, absolute, if any of its files are needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Paths in that directory that the recipe names as paths of the host: they are mounted, and not copied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_place: Vec<String>,
    /// SHA-256 of the copy of these files that the run uses; none if there are none, or if the plan is not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub companions: Option<String>,
    /// The home directory that a mount of the recipe is below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// GPUs that were chosen; all where empty.
    pub gpus: Vec<String>,
    /// GPUs assigned to the container, and how; none if the recipe requires none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned_gpus: Option<AssignedGpus>,
    /// The directory that stood for the host's files, if that was not `/`: its GPUs are not this machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated_host: Option<String>,
    /// Warnings of the checks before the run, for its verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Differences between the machines of the run, or from the recipe, allowed by `--force`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node_differences: Vec<String>,
    /// A GPU in use by another run is an error; the run does not wait.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_wait: bool,
    /// Privileges that `--least-privilege` removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed_privileges: Vec<Privilege>,
    /// Requirements that the host does not meet.
    pub unmet: Vec<HostCheck>,
    /// Everything of this machine that containers, builds and commands can use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access: Vec<HostAccess>,
    /// The part of the access that needs approval: root-equivalent privileges, and secrets.
    pub privileges: Vec<Privilege>,
    /// The image that is launched: a reference, `repository@digest`, or the tag of a build.
    pub image: String,
    /// The image is pinned by digest.
    pub pinned: bool,
    /// The container, except for per-run settings (name, labels, control mount).
    pub container: ContainerSpec,
    /// Each selected scenario in each selected mode.
    pub measurements: Vec<MeasurementPlan>,
    /// Versions of Python packages that the published run had, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub packages: BTreeMap<String, String>,
    /// What was claimed of two figures of the run, as far as both are measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<FigureClaim>,
    /// The margin, noise and confidence by which figures are judged.
    pub judge: JudgeRules,
    /// The host is the published system's SKU, by its name.
    #[serde(default)]
    pub same_sku: bool,
    /// Performance without accuracy is inconclusive.
    #[serde(default)]
    pub require_accuracy: bool,
    /// This machine's cache directory.
    #[serde(default)]
    pub cache: String,
    /// Cached directories are verified byte by byte before they are used.
    #[serde(default)]
    pub verify_cache: bool,
    /// The sampling interval of GPUs and container during measurements.
    #[serde(default)]
    pub telemetry: SamplingInterval,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<FollowedLock>,
    /// Downloads, as far as the recipe states them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub downloads: Vec<PlannedDownload>,
    /// Deviations from the guide: those of the recipe, and those of every run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
    /// The names of the environment variables that commands may use as secrets.
    pub secrets: Vec<String>,
    pub steps: Vec<Step>,
    /// Notes to read before running.
    pub notes: Vec<String>,
}

/// Whether options are those of a command line without any.
fn is_default(options: &PlanOptions) -> bool {
    *options == PlanOptions::default()
}

/// The position of a run in its batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchPosition {
    /// The id of the batch: the name of its directory.
    pub id: String,
    /// The cell, by its axes and values.
    pub cell: String,
    /// The trial of that cell, from 1.
    pub trial: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowedLock {
    pub path: String,
    /// The differences between the lock and the recipe, a sentence each.
    pub differs: Vec<String>,
}

/// One step, executed once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The position in the plan, from 1.
    pub number: u32,
    /// Unique in the plan.
    pub name: String,
    /// The machines that execute it, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Placement>,
    /// The container, for steps that need one.
    pub container: Option<String>,
    /// Decided during execution: an image that is present is not pulled.
    pub when: StepCondition,
    /// What the step does, with its settings.
    #[serde(flatten)]
    pub action: Action,
}

impl Step {
    /// The command of the recipe that it runs on this machine, if it does.
    pub fn host_command(&self) -> Option<&ExecStep> {
        match &self.action {
            Action::Host(command) => Some(command),
            Action::Populate(populate_step) if populate_step.location == StepLocation::Host => {
                Some(&populate_step.command)
            }
            _ => None,
        }
    }

    /// The machines that execute it, as a fragment, if there are several.
    pub fn describe_machines(&self) -> Option<&'static str> {
        self.on.map(|on| match on {
            Placement::Head => "on the head",
            Placement::All => "on all nodes",
            Placement::Others => "on all nodes but the head",
        })
    }

    /// Whether the first, or only, machine executes it.
    pub fn runs_on_head(&self) -> bool {
        self.on.is_none_or(Placement::includes_head)
    }

    /// Whether machines other than the first execute it.
    pub fn runs_on_others(&self) -> bool {
        self.on.is_some_and(Placement::includes_others)
    }

    /// Whether `--skip` or `--from` skips it.
    pub fn is_skipped(&self) -> bool {
        matches!(self.when, StepCondition::Skipped { .. })
    }

    /// The command of the recipe that it runs, if it does.
    pub fn recipe_command(&self) -> Option<&ExecStep> {
        match &self.action {
            Action::Exec(command) | Action::Host(command) => Some(command),
            Action::Populate(populate) => Some(&populate.command),
            Action::StartService(service) => Some(&service.command),
            _ => None,
        }
    }

    /// `04-offline-performance`: the step's directory in a run.
    pub fn directory_name(&self) -> String {
        format!("{:02}-{}", self.number, self.name)
    }
}

/// A declared condition that is decided during execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepCondition {
    /// It is executed in every run.
    Always,
    /// Unless the engine has the image.
    UnlessPresent,
    /// Unless an earlier run populated the cached directory.
    UnlessCached {
        /// The name of the cached directory.
        key: String,
    },
    /// Until the evidence of the trials so far decides; evaluated after these numbers of trials.
    UntilDecided {
        /// The numbers of trials after which it is evaluated.
        stages: Vec<u32>,
    },
    /// At the end, depending on `--keep`.
    Unless {
        /// `--keep`: when the container remains.
        keep: KeepContainer,
    },
    /// Skipped by `--skip` or `--from`.
    Skipped {
        /// The option and its value: `--skip setup-clocks`.
        option: String,
    },
}

impl fmt::Display for StepCondition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Always | Self::Unless { keep: KeepContainer::Never } => Ok(()),
            Self::UnlessPresent => formatter.write_str("unless the engine has it"),
            Self::UnlessCached { key } => write!(formatter, "unless cached as {key}"),
            Self::UntilDecided { stages } => {
                write!(formatter, "until decided, stages {}", join(stages, " "))
            }
            Self::Unless { keep: KeepContainer::OnFailure } => {
                formatter.write_str("unless a step failed")
            }
            Self::Unless { keep: KeepContainer::Always } => {
                formatter.write_str("never: --keep always")
            }
            Self::Skipped { option } => write!(formatter, "skipped by {option}"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// Pulls an image from its registry.
    Pull {
        /// The image's reference, with the digest if it is pinned.
        reference: String,
        /// Whether a present image is pulled again.
        policy: PullPolicy,
    },
    /// Builds an image from a Dockerfile.
    Build(BuildStep),
    /// Fetches a model from the hub.
    FetchModel(ModelFetch),
    /// Copies a path out of the image, for steps on the host.
    CopyOut {
        /// The absolute path in the image.
        path: String,
        /// The path below the run's directory for host files.
        to: String,
    },
    /// Populates a cached directory.
    Populate(PopulateStep),
    /// Creates and starts the recipe's container.
    Create,
    /// Runs a command in the container.
    Exec(ExecStep),
    /// Runs a command on the host.
    Host(ExecStep),
    /// Starts a service, and waits until it is ready.
    StartService(Box<ServiceStep>),
    /// Ends the processes of a service, after the last step that needs it.
    StopService(StopStep),
    /// Collects the results of a trial from the container.
    Collect {
        /// The index of the measurement in the plan.
        measurement: usize,
        /// The number of the trial, from 1.
        trial: u32,
        /// The number of the step that created the results.
        of: u32,
        /// The path of the results in the container, or a glob.
        path: String,
        /// The maximum size of the results, bytes; none: the runner's default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_bytes: Option<u64>,
    },
    /// Judges the results of all measurements.
    Judge,
    /// Removes the run's container, unless it is kept.
    Remove,
}

/// The settings of `docker build`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildStep {
    /// The directory of the build, absolute, on this machine.
    pub context: String,
    /// The Dockerfile, relative to the context.
    pub dockerfile: String,
    /// Build arguments, by name.
    pub args: BTreeMap<String, String>,
    /// The reference under which the image is stored.
    pub tag: String,
    /// SHA-256 of the Dockerfile and the context, if they could be read: a part of the tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}
