//! What the command line asks for: options of every command, and requests for a plan and for its
//! execution. Help texts and completions derive from the doc comments.

mod results;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, ValueEnum};
use serde::{Deserialize, Serialize};

pub use results::{
    CompareRequest, JudgeRequest, ReportContent, ReportRequest, TreeRequest, VerifyRequest,
};

use crate::app::log::LogFilter;
use retrial_mlperf::Division;
use retrial_plan::PlanOptions;
use retrial_plan::privilege;
use retrial_recipe::ParamSetting;
use retrial_rocm::ReleaseTable;
use retrial_store::Home;
use retrial_store::cache::standard_cache;
use retrial_telemetry::rate::SamplingInterval;

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct GlobalOptions {
    /// Connect to this engine: `unix:///path` or `tcp://host:port` (default: `DOCKER_HOST`, else
    /// the current Docker context, else the default socket)
    #[arg(long, global = true, value_name = "URL")]
    pub engine: Option<String>,
    /// Store runs in this directory (default: `$XDG_DATA_HOME/retrial`)
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "RETRIAL_HOME",
        default_value_os_t = Home::default_home(),
        hide_default_value = true,
        value_parser = PathBufValueParser::new().try_map(|path| std::path::absolute(path).map(Home::from_root))
    )]
    pub home: Home,
    /// Store cached datasets and directories in this directory (default: `$XDG_CACHE_HOME/retrial`)
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "RETRIAL_CACHE",
        default_value_os_t = standard_cache(),
        hide_default_value = true,
        value_parser = PathBufValueParser::new().try_map(std::path::absolute)
    )]
    pub cache: PathBuf,
    /// Set the format of the result on standard output
    #[arg(
        id = "output",
        long,
        global = true,
        value_name = "OUTPUT",
        value_enum,
        default_value_t = ReportFormat::Text
    )]
    pub report_format: ReportFormat,
    /// The same, as commands other than `report` have it.
    #[arg(skip)]
    pub output: OutputFormat,
    /// Whether `--output` was given. Without it, a report is an HTML page.
    #[arg(skip)]
    pub is_output_given: bool,
    /// The privileges of all recipes below a directory, by the configuration of this moment: no batch keeps them.
    #[arg(skip)]
    pub allow_below: BTreeMap<String, Vec<String>>,
    /// The table of ROCm's releases with the user's additions, if there are any.
    #[arg(skip)]
    pub rocm_releases: Option<Arc<ReleaseTable>>,
    /// The command of `--notify`, of the commands that execute a run or a batch.
    #[arg(skip)]
    pub notify: Option<String>,
    /// Print only the result, warnings and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print more: the steps' output, and every figure and sentence of a verdict
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Log requests and the states of steps to standard error: error, warn, info, debug, trace, or
    /// directives such as `retrial_hub=trace`
    #[arg(long, global = true, value_name = "LEVEL", env = "RETRIAL_LOG")]
    pub log: Option<LogFilter>,
    /// Read the host's GPUs and settings from this directory instead of /
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        default_value = "/",
        hide_default_value = true,
        value_parser = PathBufValueParser::new().try_map(std::path::absolute)
    )]
    pub root: PathBuf,
}

impl GlobalOptions {
    pub fn rocm_releases(&self) -> &ReleaseTable {
        self.rocm_releases.as_deref().unwrap_or_else(|| ReleaseTable::built_in())
    }
}

/// The absolute path of an existing file or directory.
pub(super) fn existing_path(path: PathBuf) -> std::io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    path.metadata()?;
    Ok(path)
}

/// Reads the name of a division.
pub(super) fn division_parser() -> impl TypedValueParser<Value = Division> {
    let names = PossibleValuesParser::new(Division::BY_NAME.map(Division::word));
    names.try_map(|name| name.parse::<Division>())
}

/// The format of a result, as the command line asks for it. Reports have all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Text for a terminal
    Text,
    /// JSON for programs
    Json,
    /// XML test suites for CI (verdicts and comparisons)
    Junit,
    /// Markdown for a CI job's summary (verdicts and comparisons)
    Markdown,
    /// A self-contained HTML page (reports)
    Html,
    /// CSV with a row for each figure of each trial (reports)
    Csv,
}

/// The format of what commands other than `report` print. All have text and JSON, those with a verdict the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutputFormat {
    #[default]
    Text,
    Json,
    Junit,
    Markdown,
}

impl ReportFormat {
    /// Returns the format of what other commands print; none for one that only reports have.
    pub fn to_output(self) -> Option<OutputFormat> {
        match self {
            Self::Text => Some(OutputFormat::Text),
            Self::Json => Some(OutputFormat::Json),
            Self::Junit => Some(OutputFormat::Junit),
            Self::Markdown => Some(OutputFormat::Markdown),
            Self::Html | Self::Csv => None,
        }
    }
}

/// A recipe and its settings.
#[derive(Debug, Clone, Args)]
pub struct RecipeRequest {
    /// A built-in name (`retrial list`) or a path (./mine.yaml, ./directory)
    pub recipe: String,
    /// Variants, params and images.
    #[command(flatten)]
    pub settings: RecipeSettings,
}

/// Settings of a recipe.
#[derive(Debug, Clone, Default, PartialEq, Args)]
pub struct RecipeSettings {
    /// Select a variant of the recipe or set a parameter
    #[arg(long = "set", value_name = "NAME=VALUE", requires = "recipe")]
    settings: Vec<ParamSetting>,
    /// Use this image in place of the recipe's, or of a service's with an image of its own
    #[arg(long = "image", value_name = "[SERVICE=]IMAGE", requires = "recipe", value_parser = ParamSetting::parse_image)]
    images: Vec<ParamSetting>,
    /// Set an argument of the image's build
    #[arg(long = "build-arg", value_name = "NAME=VALUE", requires = "recipe", value_parser = ParamSetting::parse_build_arg)]
    build_args: Vec<ParamSetting>,
}

impl RecipeSettings {
    /// Returns all settings.
    pub fn to_vec(&self) -> Vec<ParamSetting> {
        [&self.settings[..], &self.images, &self.build_args].concat()
    }
}

impl From<Vec<ParamSetting>> for RecipeSettings {
    fn from(settings: Vec<ParamSetting>) -> Self {
        Self { settings, ..Self::default() }
    }
}

/// A plan of a recipe.
#[derive(Debug, Clone, Args)]
pub struct PlanRequest {
    /// The recipe and its settings.
    #[command(flatten)]
    pub recipe: RecipeRequest,
    /// Options that change the plan.
    #[command(flatten)]
    pub options: PlanOptions,
    /// The lock file and the files of rules.
    #[command(flatten)]
    pub files: PlanFiles,
}

/// Files next to a recipe that a plan follows.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
pub struct PlanFiles {
    /// Use this lock file instead of the recipe's own, or none (`none`)
    #[arg(long, value_name = "FILE", value_parser = parse_lock_path)]
    pub lock: Option<String>,
    /// Add the rules of a round from this file, replacing a built-in round of that name
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(existing_path))]
    pub rules: Vec<PathBuf>,
}

/// A lock file, wherever a batch is resumed; or `none`.
fn parse_lock_path(text: &str) -> Result<String, std::io::Error> {
    if text == "none" {
        return Ok(text.to_owned());
    }
    std::path::absolute(text).map(|path| path.display().to_string())
}

impl PlanRequest {
    /// Requests a whole recipe, unchanged.
    pub fn whole_recipe(recipe: RecipeRequest) -> Self {
        Self { recipe, options: PlanOptions::default(), files: PlanFiles::default() }
    }
}

/// How a plan is executed.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct RunRequest {
    /// Approve a root-equivalent privilege that the recipe needs (`retrial show` lists them)
    #[arg(
        long,
        value_name = "PRIVILEGE",
        value_delimiter = ',',
        action = ArgAction::Append,
        value_parser = PossibleValuesParser::new(privilege::PRIVILEGE_NAMES)
    )]
    pub allow: Vec<String>,
    /// Sample GPUs and container at this interval during measurements: 500ms, 1s, off
    #[arg(long, value_name = "INTERVAL", default_value = "1s", value_parser = SamplingInterval::parse)]
    pub telemetry: SamplingInterval,
    /// Run even if the host does not meet the recipe's requirements
    #[arg(long)]
    pub force: bool,
    /// Exit with 3 instead of waiting for GPUs that another run uses
    #[arg(long)]
    pub no_wait: bool,
    /// Judge performance without accuracy as inconclusive (exit code 5)
    #[arg(long)]
    pub require_accuracy: bool,
    /// Verify every byte of cached directories before use
    #[arg(long)]
    pub verify_cache: bool,
}
