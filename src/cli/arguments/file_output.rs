//! Arguments of the commands that write files and schemas: `new`, `lock` and `schema`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::app::curves::CurveRequest;
use crate::app::published::ImportRequest;
use retrial_container::{ImageRef, InvalidImageRef};
use retrial_recipe::ParamSetting;

/// Where a recipe is written, and what it is made of.
#[derive(Debug, Clone, Args)]
pub struct NewArguments {
    /// The file to create, ending in .yaml, or a directory
    pub name: PathBuf,
    /// The published result that the recipe is made of.
    #[command(flatten)]
    pub results: ImportRequest,
    /// Convert a guide: 'docker run …', a file of commands, a page in Markdown, or - for standard input; a line
    /// behind the file's name chooses a command of it
    #[arg(long, value_name = "COMMAND|FILE[:LINE]|-", conflicts_with = "from_results")]
    pub from: Option<String>,
    /// Choose a command of a page by its number in the list that `--from FILE` prints
    #[arg(long, value_name = "N", requires = "from")]
    pub step: Option<usize>,
    /// Extend a built-in recipe by a file to edit
    #[arg(long, value_name = "BUILTIN", conflicts_with_all = ["from", "from_results"])]
    pub from_recipe: Option<String>,
    /// Published rows of a serving curve, as a recipe.
    #[command(flatten)]
    pub curve: CurveRequest,
    /// How a figure is read: `speed='speed: ${number}'`, a pattern of the output, or in a file, `p99='json:out.json:$.p99'`
    /// or `rate='csv:out.csv:COLUMN'`
    #[arg(long = "figure", value_name = "NAME=PATTERN", requires = "from")]
    pub figures: Vec<String>,
    /// The published value of a figure: `speed=42.0`, or with its unit, `speed='42.0 items/s'`; `none` without one
    #[arg(long = "expect", value_name = "NAME=VALUE[UNIT]", requires = "from")]
    pub expected: Vec<String>,
    /// Where it was published: an address or a title (default: the guide)
    #[arg(long, value_name = "TEXT", requires = "expected")]
    pub source: Option<String>,
    /// The command in the container that is measured, instead of the one in the block
    #[arg(long, value_name = "COMMAND", requires = "from")]
    pub measure: Option<String>,
    /// The default of a param that the block does not state: `gpus=8`
    #[arg(long = "set", value_name = "NAME=VALUE", requires = "from")]
    pub settings: Vec<ParamSetting>,
    /// Do not ask in a terminal: write missing items into `incomplete`
    #[arg(long)]
    pub no_input: bool,
}

/// Which recipe is locked, and where its lock is written.
#[derive(Debug, Clone, Args)]
pub struct LockArguments {
    /// A built-in name (`retrial list`) or a path (./mine.yaml, ./directory)
    pub recipe: String,
    /// Write to this file (default: `mine.lock.yaml` next to ./mine.yaml, or a file in the home for
    /// a built-in recipe)
    #[arg(short = 'o', long = "to", value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Lock this image, too, which runs and batches are given with --image
    #[arg(long = "image", value_name = "IMAGE", value_parser = parse_image)]
    pub images: Vec<String>,
    /// Compare with the registry and the hub instead of writing; exit with 1 if the lock is out of
    /// date
    #[arg(long)]
    pub check: bool,
}

/// Checks the reference of an image, and returns it as it is written.
fn parse_image(text: &str) -> Result<String, InvalidImageRef> {
    ImageRef::parse(text).map(|_| text.to_owned())
}

/// The subjects of `schema`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaSubject {
    /// Recipes and templates
    Recipe,
    /// The verdict: verdict.json, and `run` and `judge` with --output json
    Verdict,
    /// A comparison: `compare --output json`
    Comparison,
    /// A report on runs and folders of results: `report --output json`
    Report,
    /// Comparisons over the history: `compare --by AXIS --output json`
    Comparisons,
    /// Verdicts on a submission tree: `judge --output json`
    Tree,
    /// Batches
    Batch,
    /// The verdict on a batch: its verdict.json, and `batch` with --output json
    BatchVerdict,
    /// What `verify` finds: `verify --output json`
    Verification,
    /// Sites
    Site,
}
