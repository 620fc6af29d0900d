//! The checked recipe, once variants are chosen and templates are merged.
//!
//! Strings in which `${{ … }}` may stand are [`Template`]s; the plan renders them for each
//! scenario, mode and trial. Everything else was evaluated when the recipe was resolved. Each type
//! declares its keys as well (`object!`): the check, the JSON schema, the defaults and the reading
//! derive from it.

use retrial_document::formats::is_hexadecimal;
use retrial_document::{FieldType as T, Node, object};
use retrial_mlperf::Division;
use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expression::ExpressionScope;
use crate::formats;
use measurement::read_scenarios;
use steps::read_companions;

mod command;
mod container;
mod download;
mod failure;
mod figure_claim;
mod figures;
mod host;
mod image;
mod judge;
mod load_client;
mod measurement;
mod mode;
mod nodes;
mod params;
mod services;
mod steps;

pub use command::CommandOptions;
pub use container::{Container, Entrypoint, GpuAccess, MountRequest};
pub use download::Download;
pub use failure::{FailurePattern, ProgressRule};
pub use figure_claim::{ClaimedFigure, FigureClaim};
pub use figures::{
    Aggregate, Better, Claim, CsvCell, Expectation, ExpectationKind, FigureLocator, FigureSource,
    Limit, MatchSelection, MllogFigure, ReferenceConvergence, ReferenceFigures, RequiredValue,
    entry_name, figure_name,
};
pub use host::{GpuRequest, GpuVendor, HostRequirements};
pub use image::{Image, ImageBuild};
pub(crate) use image::{ReplacedImage, image_contents, other_published_image, replaced_images};
pub use judge::{InvalidMarker, JudgeRules};
pub use load_client::LoadClient;
pub use measurement::{
    CONCURRENCY, MAX_WARMUP_TRIALS, Measurement, MeasurementCommand, Scenario, SweepPoint, Trials,
    loadgen_name,
};
pub use mode::Mode;
pub use nodes::{Nodes, Placement};
pub use services::{
    ReadyRule, ReadyWhen, SHARED_NETWORK_KEYS, Service, ServiceContainer, ServiceScope, StopRule,
    StopSignal,
};
pub use steps::{
    CacheRequest, CachedFile, Companion, CopyFromImage, Model, ModelSource, Setup, SetupPlace,
    SharedCommand, StepLocation,
};

pub use crate::expression::{ParamValue, Template};
pub use retrial_document::OrderedMap;

/// Returns whether a revision of the hub is a commit, which cannot be moved.
pub fn is_commit(revision: &str) -> bool {
    is_hexadecimal(revision, 40)
}

object! {
    /// A resolved recipe: one submission on one kind of system, variants chosen.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Recipe: "a recipe";
    fields {
        /// Built-in name, or the path that the user gave.
        name: String = read_default,
        /// Chosen value of each variant axis.
        variant: BTreeMap<String, String> = read_default,
        /// Names of params that `--set` changed from the recipe's own value.
        modified: Vec<String> = read_default,
        /// Names of params without a default that `--set` gave a value.
        given_params: Vec<String> = read_default,
        /// What `--image` and `--build-arg` replaced, by the setting's name: an image, an argument's value.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        replaced: BTreeMap<String, String> = read_default,
        /// The image of the published figures, where a variant has another.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        published_image: Option<String> = read_default,
        /// Versions of what the image contains, by name: `rocm`, `torch`.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        image_contents: BTreeMap<String, String> = read_default,
    }
    keys {
        /// The version of the recipe's language: 1.
        #[serde(skip)]
        schema: () [required, read = read_default] = T::Integer(1, i64::MAX),
        /// One line: submitter, benchmark and system.
        title: String [required] = T::Text(formats::LINE),
        /// A description of more than one line.
        description: Option<String>,
        /// How long all its scenarios and modes take on the published hardware, without downloads.
        expected_duration: Option<Duration>,
        /// Changes that the guide makes to the host and this recipe only mentions: clocks, partitions, kernel settings.
        host_notes: Vec<String> = T::List(&T::Text(formats::FILLED), 0),
        /// Where the recipe deviates from the guide or the published run, and why.
        deviations: Vec<String> = T::List(&T::Text(formats::FILLED), 0),
        /// Work that remains before the recipe can run, a line each: `check` names each, and `run` refuses.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        incomplete: Vec<String> = T::List(&T::Text(formats::FILLED), 0),
        /// Templates that this file extends, by name, or one built-in recipe; later ones are merged over earlier ones, and
        /// this file over all.
        #[serde(skip)]
        extends: () [read = read_default] = T::Either(&[T::Text(formats::FILLED), T::List(&T::Text(formats::FILLED), 0)]),
        /// The recipe that this file extends, and the keys that it changes. Written by retrial.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<BaseRecipe>,
        /// The published result.
        submission: Submission [required],
        /// Values that a user may set with `--set name=value`, named in expressions as `params.name`.
        params: BTreeMap<String, ParamValue> [read = read_default] = T::Map(formats::NAME, &T::Object(&params::PARAM_OBJECT)),
        /// Overlays on this recipe, by axis and value: {rocm: {"7.1.1": {image: …}}}.
        #[serde(skip)]
        variants: () [read = read_default] = T::Map(formats::NAME, &T::Map(formats::FILLED, &T::Overlay)),
        /// The value of each variant axis that is chosen without `--set`.
        #[serde(skip)]
        default: () [read = read_default] = T::Map(formats::NAME, &T::Text(formats::ANY)),
        /// Combinations of variants that are not supported, each with a `reason`; a list of values is any of them.
        #[serde(skip)]
        unsupported: () [read = read_default] = T::List(&T::Map(formats::NAME, &T::Either(&[T::Text(formats::ANY), T::List(&T::Text(formats::ANY), 1)])), 0),
        /// An overlay on this recipe for `run --smoke-test`: a run of minutes that shows that everything starts. Only
        /// performance is measured, once. `true`, once it is applied: written by retrial into a run's recipe.yaml.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        smoke_test: bool = T::Either(&[T::Bool, T::Overlay]),
        /// The image: a reference, {ref, digest}, or {build}.
        image: Image [required],
        /// Requirements of the host; with several machines, of each.
        requires: HostRequirements,
        /// The number of machines, if the benchmark runs on several.
        nodes: Option<Nodes>,
        /// How the container is made, in the words of Docker and Compose.
        container: Container,
        /// Scripts next to the recipe, mounted read-only: {script.sh: /in/the/container.sh}.
        files: Vec<Companion> [read = read_companions] = T::Map(formats::RELATIVE_PATH, &T::Text(formats::MOUNT_TARGET)),
        /// Paths that are copied out of the image for steps on the host.
        copy_from_image: Vec<CopyFromImage>,
        /// Models, by name.
        models: OrderedMap<Model>,
        /// Datasets, by name: a command, and the directory that it populates.
        datasets: OrderedMap<Setup>,
        /// Setup steps after the datasets, by name, in this order.
        setup: OrderedMap<Setup>,
        /// Commands that several scenarios share: they name them with `from`.
        commands: OrderedMap<SharedCommand>,
        /// Long-lived commands, by name: measurements name those that they need with `needs`.
        services: OrderedMap<Service>,
        /// Patterns of failures for all measurements and services that have no `fail_on` of their own.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fail_on: Vec<FailurePattern>,
        /// The limit on dead child processes for all measurements and services that have no `dead_child` of their own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dead_child: Option<Duration>,
        /// The limit on missing child processes for all measurements and services that have no `missing_child` of their own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing_child: Option<Duration>,
        /// What is measured: MLPerf's scenarios, or cases with names of your own.
        scenarios: OrderedMap<Scenario> [required, read = read_scenarios] = measurement::SCENARIOS_TYPE,
        /// Versions of Python packages that the published run had, by name: {torch: "2.9.0"}. Another version is a warning in the verdict.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        packages: BTreeMap<String, String> = T::Map(formats::FILLED, &T::Text(formats::FILLED)),
        /// What was claimed of two figures of one run: F.linear is faster than matmul.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        claims: Vec<FigureClaim>,
        /// The margin, noise and confidence by which figures are judged.
        judge: JudgeRules,
        /// Environment variables of the host that commands may use: `HF_TOKEN` only; others are given with `--secret`.
        secrets: Vec<String> = T::List(&T::Text(formats::FILLED), 0),
    }
}

impl Recipe {
    /// Returns the recipe's own values for expressions: params, variants, the number of GPUs that it requires.
    pub fn expression_scope(&self) -> ExpressionScope {
        ExpressionScope {
            params: self.params.clone(),
            variant: self.variant.clone(),
            gpus: self.requires.gpus.as_ref().map(|gpus| gpus.count),
            ..ExpressionScope::default()
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "a reader")]
fn read_default<T: Default>(_: &Node) -> Option<T> {
    Some(T::default())
}

object! {
    /// A recipe that another one extends.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct BaseRecipe: "a base";
    keys {
        /// Its name.
        recipe: String [required] = T::Text(formats::LINE),
        /// The keys that are changed, and the templates that are merged over it.
        changes: Vec<String> = T::List(&T::Text(formats::FILLED), 0),
    }
}

impl BaseRecipe {
    /// Returns what is another than in the recipe that is extended: `extends gemm, changing image`; none if nothing is.
    pub fn describe_changes(&self) -> Option<String> {
        let changes = self.changes.join(", ");
        (!changes.is_empty()).then(|| format!("extends {}, changing {changes}", self.recipe))
    }
}

object! {
    /// The published result that a recipe repeats.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct Submission: "a submission";
    keys {
        /// Suite, for example `mlperf-inference`.
        suite: String [required] = T::Text(formats::LINE),
        /// Round, for example `v6.0`.
        round: Option<String> = T::Text(formats::LINE),
        /// The division of the submission.
        division: Option<Division>,
        /// The organisation that submitted the result.
        submitter: Option<String> = T::Text(formats::LINE),
        /// The system's name as published.
        system: Option<String> = T::Text(formats::LINE),
        /// The benchmark as published, for example `llama2-70b-99`.
        benchmark: String [required] = T::Text(formats::LINE),
        /// Addresses of the publication: results, guide, code.
        #[serde(default)]
        sources: Vec<String>,
    }
}
