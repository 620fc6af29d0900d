//! The checked recipe: what is meant, once variants are chosen and templates are merged.
//!
//! Strings in which `${{ … }}` may stand are [`Template`]s; the plan renders them for each
//! scenario, mode and trial. Everything else was evaluated when the recipe was resolved.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod container;
mod figures;
mod measurement;

pub use container::{Container, Entrypoint, GpuAccess, MountRequest};
pub use figures::{
    Aggregate, Better, Claim, CsvCell, Expectation, ExpectationKind, FigureSource, Find, Limit,
    MllogFigure, ReferenceConvergence, Take,
};
pub use measurement::{Measurement, MeasurementCommand, Mode, Scenario, Trials};

/// An ordered map, in the order of the file.
pub type Ordered<V> = Vec<(String, V)>;

/// Text in which expressions (`${{ params.x }}`) may stand.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Template(pub String);

impl fmt::Display for Template {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A resolved recipe: one submission on one kind of system, variants chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Built-in name, or the path that the user gave.
    pub name: String,
    /// One line: what it is.
    pub title: String,
    /// Longer text, if any.
    pub description: Option<String>,
    /// How long all scenarios and modes take on the published hardware, besides downloads.
    pub expected_duration: Option<Duration>,
    /// Changes that the guide makes to the host and the recipe only mentions.
    pub host_notes: Vec<String>,
    /// Where the recipe deviates from the guide or the published run, and why.
    pub deviations: Vec<String>,
    /// What was published.
    pub submission: Submission,
    /// Values of the parameters, after `--set`.
    pub params: BTreeMap<String, ParamValue>,
    /// Chosen value of each variant axis.
    pub variant: BTreeMap<String, String>,
    /// Names of params that `--set` changed from the recipe's own value.
    pub modified: Vec<String>,
    /// The image to run.
    pub image: Image,
    /// What is asked of the host.
    pub requires: Requires,
    /// How the container is made.
    pub container: Container,
    /// Scripts beside the recipe, mounted read-only.
    pub files: Vec<Companion>,
    /// Directories taken out of the image, for steps on the host.
    pub copy_from_image: Vec<CopyFromImage>,
    /// Models.
    pub models: Ordered<Model>,
    /// Datasets.
    pub datasets: Ordered<Setup>,
    /// Setup steps, in order, after the datasets.
    pub setup: Ordered<Setup>,
    /// Commands that several scenarios share.
    pub commands: Ordered<SharedCommand>,
    /// What is measured.
    pub scenarios: Ordered<Scenario>,
    /// How it is judged.
    pub judge: JudgeRules,
    /// Environment variables of the host that steps may name (`HF_TOKEN` only, unless `--secret`).
    pub secrets: Vec<String>,
}

/// A published result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Submission {
    /// Suite, for example `mlperf-inference`.
    pub suite: String,
    /// Round, for example `v6.0`.
    pub round: Option<String>,
    /// `closed` or `open`.
    pub division: Option<String>,
    /// Who submitted.
    pub submitter: Option<String>,
    /// The system's name as published.
    pub system: Option<String>,
    /// The benchmark as published, for example `llama2-70b-99`.
    pub benchmark: String,
    /// Where it was published.
    #[serde(default)]
    pub sources: Vec<String>,
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ParamValue {
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `string`, `path` and `enum`
    Text(String),
}

impl fmt::Display for ParamValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(formatter),
            Self::Int(value) => value.fmt(formatter),
            Self::Text(value) => value.fmt(formatter),
        }
    }
}

/// Where the image comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Image {
    /// Pulled from a registry; with a digest it is exactly that image.
    Pull {
        /// `rocm/amd-mlperf:tag`
        reference: String,
        /// `sha256:…`
        digest: Option<String>,
    },
    /// Built from a Dockerfile in the recipe's directory.
    Build {
        /// The context, relative to the recipe's directory.
        context: String,
        /// The Dockerfile, relative to the context.
        dockerfile: String,
        /// Build arguments.
        args: BTreeMap<String, String>,
    },
}

/// What a recipe asks of the host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requires {
    /// GPUs.
    pub gpus: Option<GpuRequest>,
    /// A range of `ROCm` releases, for example `>=7.1.0`.
    pub rocm: Option<String>,
    /// Free disk, bytes.
    pub disk: Option<u64>,
    /// Memory, bytes.
    pub memory: Option<u64>,
    /// Ports of the host that the container listens on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u16>,
}

/// GPUs that a recipe asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuRequest {
    /// `amd` or `nvidia`.
    pub vendor: GpuVendor,
    /// Models that the figure was published on, for example `MI355X`.
    pub models: Vec<String>,
    /// How many.
    pub count: u32,
    /// Partition mode, for example `CPX`.
    pub partition: Option<String>,
}

impl GpuRequest {
    /// Whether the figure was published on this model.
    #[must_use]
    pub fn takes(&self, model: &str) -> bool {
        let same = |wanted: &String| wanted.eq_ignore_ascii_case(model);
        self.models.is_empty() || self.models.iter().any(same)
    }
}

/// Who made a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GpuVendor {
    /// AMD
    Amd,
    /// NVIDIA
    Nvidia,
}

impl GpuVendor {
    /// Returns the name as the vendor writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Amd => "AMD",
            Self::Nvidia => "NVIDIA",
        }
    }
}

/// A script beside the recipe, mounted read-only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Companion {
    /// Relative to the recipe's directory.
    pub source: String,
    /// In the container, absolute.
    pub target: String,
}

/// A path taken out of the image to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyFromImage {
    /// In the image, absolute.
    pub path: String,
    /// Relative to the run's directory for host files.
    pub to: String,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// Where it comes from.
    pub source: ModelSource,
    /// In the container, absolute.
    pub mount: Option<Template>,
    /// Mount the hub's cache instead, for programs that load by hub id.
    pub hub_cache: bool,
    /// Sub-directories that a setup step writes into.
    pub writable: Vec<String>,
}

/// Where a model comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelSource {
    /// The Hugging Face hub.
    Hub {
        /// `owner/name`
        repository: String,
        /// Branch, tag or commit.
        revision: String,
        /// Globs of files to fetch; all if empty.
        allow: Vec<String>,
        /// Globs of files to leave.
        ignore: Vec<String>,
        /// What its files must hash to, by path, as a lock says; nothing without one.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        locked: BTreeMap<String, String>,
    },
    /// A directory of the host.
    Path(Template),
    /// A command in the container that fills the mount.
    Run(Template),
}

/// What every command may say besides its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandOptions {
    /// Longest time.
    pub timeout: Option<Duration>,
    /// Longest time without output.
    pub silence: Option<Duration>,
    /// Environment of this step.
    pub env: Ordered<Template>,
    /// Working directory.
    pub workdir: Option<Template>,
    /// User.
    pub user: Option<String>,
    /// Shell.
    pub shell: Option<Vec<String>>,
}

/// Whether a revision of the hub is a commit, which nobody can move.
#[must_use]
pub fn is_commit(revision: &str) -> bool {
    revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A dataset or a setup step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The command.
    pub run: Template,
    /// Whether it runs in the container or on the host.
    pub on: Place,
    /// A directory that later runs reuse.
    pub cache: Option<CacheRequest>,
    /// What its commands may say besides their text.
    #[serde(flatten)]
    pub options: CommandOptions,
    /// The cached directory stays writable afterwards.
    pub writable: bool,
}

/// Where a step runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// In the container.
    #[default]
    Container,
    /// On the host: needs `--allow host`.
    Host,
}

/// A directory that is populated once and reused by later runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheRequest {
    /// In the container, absolute.
    pub path: Template,
    /// The key under which it is cached.
    pub key: Template,
    /// Files that must be there in the end: name, bytes, sha256.
    pub files: Ordered<CachedFile>,
}

/// A file of a cached directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CachedFile {
    /// Bytes.
    pub size: Option<u64>,
    /// Hexadecimal SHA-256.
    pub sha256: Option<String>,
}

/// A command that several scenarios share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedCommand {
    /// The command.
    pub run: Template,
    /// What its commands may say besides their text.
    #[serde(flatten)]
    pub options: CommandOptions,
}

/// How figures are judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgeRules {
    /// Margin as a fraction; none: 5 %, or 2 % on the same SKU.
    pub margin: Option<f64>,
    /// Assumed noise of one trial as a fraction; none: 0.8 % for `LoadGen`'s performance figures.
    pub noise: Option<f64>,
    /// Confidence, one-sided.
    pub confidence: f64,
    /// The script is ours: the workload's own was never published.
    pub reimplemented: bool,
}

impl Default for JudgeRules {
    fn default() -> Self {
        Self {
            margin: None,
            noise: None,
            confidence: 0.95,
            reimplemented: false,
        }
    }
}
