//! A batch file as written, before any recipe is read: types and keys in one declaration.

use retrial_document::{
    Diagnostics, Field, FieldType, Key, Keys as _, Node, OrderedMap, Scope, Span, Word,
    declare_key, declare_word, formats, object,
};
use serde::{Deserialize, Serialize};

use super::NamedValues;
use retrial_recipe::model::Mode;

pub use retrial_document::Spanned;

const TEXT: FieldType = FieldType::Text(formats::FILLED);
const LINE: FieldType = FieldType::Text(formats::LINE);
const VALUE: FieldType = FieldType::Scalar(Scope::DOCUMENT);
const TEXTS: FieldType = FieldType::List(&TEXT, 1);
const VALUES: FieldType = FieldType::Map(formats::NAME, &VALUE);
const NAMED_VALUES: FieldType = FieldType::Map(formats::FILLED, &VALUE);
const AXES: FieldType =
    FieldType::Map(formats::NAME, &FieldType::Either(&[FieldType::List(&VALUE, 1), NAMED_VALUES]));
const CLAIMS: FieldType = FieldType::List(&FieldType::Either(&[LINE, WrittenClaim::TYPE]), 1);
const EXTERNAL_RUNS: FieldType = FieldType::Map(formats::NAME, &ExternalRuns::TYPE);
const COMBINATIONS: FieldType = FieldType::List(&VALUES, 1);

/// The modes, as batches explain them.
const MODES: &[Word] = &[
    declare_word("performance", "How fast."),
    declare_word("accuracy", "Accuracy; measured in the first trial."),
    declare_word("compliance", "Compliance tests; run in the first trial."),
];

/// Keys from which [`Batch`] has nothing, or its recipes.
const RECIPE_KEYS: &[Key] = &[
    declare_key("schema", FieldType::Integer(1, 1), "The version of the batch format: 1.")
        .required(),
    declare_key(
        "recipe",
        TEXT,
        "The recipe: a built-in name, or a path (./mine.yaml) from this file.",
    ),
    declare_key(
        "recipes",
        FieldType::Either(&[FieldType::Map(formats::NAME, &TEXT), TEXTS]),
        "Several recipes: a list, or a map from the names that cells and claims use.",
    ),
];

object! {
    /// A batch as it was written.
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct Batch: "a batch", one of "recipe", "recipes", first RECIPE_KEYS, last BatchExecution::KEYS;
    fields {
        /// What is run, in order; at least one. Without a name until the others are known.
        recipes: Vec<BatchRecipe> = read_recipes,
        /// How it is executed.
        execution: BatchExecution = BatchExecution::from_keys,
    }
    keys {
        /// One line: what is compared, and on which system.
        title: String [required, read = read_title] = LINE,
        /// A longer description.
        description: Option<String> = TEXT,
        /// Axes and their values: each an axis of the recipes' variants, a param, or `image`. A list of values, or a map
        /// from names for them, which cells and claims use: {rocm-7.2: rocm/pytorch:…}.
        vary: Vec<WrittenAxis> [read = read_axes] = AXES,
        /// Combinations that are excluded: {rocm: "7.1.1", backend: rocm, reason: why}.
        exclude: Vec<Combination> = COMBINATIONS,
        /// Combinations in addition to the product of the axes. Axes that are not named have the recipe's default.
        include: Vec<Combination> = COMBINATIONS,
        /// Variants and params that are the same in all cells.
        set: OrderedMap<Spanned<String>> = VALUES,
        /// Only these scenarios of the recipes.
        scenarios: Vec<Spanned<String>> = TEXTS,
        /// Only these modes.
        modes: Vec<Mode> = FieldType::List(&FieldType::Words(MODES), 1),
        /// The baseline of each cell: the cell with these values that is equal in all other axes. Default: the first cell of each recipe.
        baseline: Option<Combination> = FieldType::Either(&[TEXT, VALUES]),
        /// The claims, in sentences (docs/batches.md has the grammar).
        claims: Vec<WrittenClaim> [read = read_claims] = CLAIMS,
        /// Runs of other hosts, by the name that claims use for them.
        external_results: OrderedMap<ExternalRuns> [key = "others"] = EXTERNAL_RUNS,
    }
}

object! {
    /// How a batch is executed.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct BatchExecution: "the execution of a batch";
    keys {
        /// The number of trials of each cell. Each is a separate run, in a fresh container. Default: the largest number
        /// that the recipes state.
        trials: Option<u32> = FieldType::Integer(1, 1000),
        /// The order of trials: interleaved goes through the cells forwards and backwards (A B C, C
        /// B A, …).
        order: RunOrder [default = "interleaved"],
        /// Whether other runs continue after a failed one.
        on_failure: OnFailure [default = "keep-going"],
        /// How often a run is retried after the host or its services failed (exit code 3). A benchmark's own failure is a result.
        retries: u32 [default = "1"] = FieldType::Integer(0, 100),
        /// The number of concurrent runs, each on GPUs of its own.
        parallel: u32 [default = "1"] = FieldType::Integer(1, 64),
        /// When images are pulled.
        pull_ahead: PullAhead [default = "between"],
        /// Whether an image that the batch pulled is removed after its last trial. Nothing is pulled ahead then.
        remove_images: bool [default = "false"],
        /// Only these GPUs of the host: index, GPU-… or PCI address.
        gpus: Vec<String> = FieldType::List(&VALUE, 1),
        /// Confidence of comparisons and claims.
        confidence: f64 [default = "95%"] = FieldType::Fraction,
    }
}

impl Default for BatchExecution {
    fn default() -> Self {
        Self {
            trials: None,
            order: RunOrder::default(),
            on_failure: OnFailure::default(),
            retries: 1,
            parallel: 1,
            pull_ahead: PullAhead::default(),
            remove_images: false,
            gpus: Vec::new(),
            confidence: 0.95,
        }
    }
}

retrial_document::words! {
    /// The order of the trials.
    #[derive(Default, schemars::JsonSchema, clap::ValueEnum)]
    pub enum RunOrder {
        /// Round by round, with one trial of every cell in each
        #[default]
        Interleaved = "interleaved",
        /// All trials of a cell, then the next cell
        Grouped = "grouped",
    }
}

retrial_document::words! {
    /// What happens after a failed run.
    #[derive(Default, clap::ValueEnum)]
    pub enum OnFailure {
        /// Continue with all cells, including the failed one
        #[default]
        KeepGoing = "keep-going",
        /// Start no further run
        FailFast = "fail-fast",
    }
}

retrial_document::words! {
    /// When images of later runs are pulled.
    #[derive(Default, clap::ValueEnum)]
    pub enum PullAhead {
        /// Between measurements, during setup or collection
        #[default]
        Between = "between",
        /// Also during measurements
        During = "during",
        /// Not ahead: each run pulls its own image
        Never = "never",
    }
}

/// An axis of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenAxis {
    /// An axis of the recipes' variants, or a param.
    pub name: Spanned<String>,
    /// Its values in order, or the names of values.
    pub values: Vec<Spanned<String>>,
    /// The value that the recipe is given, by its name; empty for values without names.
    pub named: NamedValues,
}

impl WrittenAxis {
    /// Returns the value that the recipe is given.
    pub(super) fn setting<'a>(&'a self, value: &'a str) -> &'a str {
        self.named.get(value).unwrap_or(value)
    }
}

impl Batch {
    /// Returns the value that a recipe is given for a value of an axis, which may be a name.
    pub(super) fn setting<'a>(&'a self, name: &str, value: &'a str) -> &'a str {
        let axis = self.vary.iter().find(|axis| axis.name.value == name);
        axis.map_or(value, |axis| axis.setting(value))
    }
}

/// Values of some axes; `recipe` names one of the recipes.
#[derive(Debug, Clone, PartialEq)]
pub struct Combination {
    /// The axes with their values.
    pub values: Vec<(Spanned<String>, Spanned<String>)>,
    /// The reason that the batch states for it.
    pub reason: Option<String>,
    /// Its place in the batch file.
    pub span: Span,
}

impl Combination {
    /// Creates a combination without a reason.
    pub(super) fn new(values: Vec<(Spanned<String>, Spanned<String>)>, span: Span) -> Self {
        Self { values, reason: None, span }
    }

    /// Returns the values without their places.
    pub fn to_values(&self) -> NamedValues {
        let pairs = self.values.iter();
        pairs.map(|(name, value)| (name.value.clone(), value.value.clone())).collect()
    }
}

impl Field for Combination {
    const TYPE: FieldType = VALUES;

    /// A text is read as far as it can be; `Combination::of_text` reports what is wrong with it.
    fn from_node(node: &Node, _: &FieldType) -> Option<Self> {
        let span = node.span.clone();
        if node.text().is_some() {
            let read = Self::parse(&Spanned::from_node(node, &TEXT)?, &mut Diagnostics::default());
            return Some(read.unwrap_or_else(|| Self::new(Vec::new(), span)));
        }
        let (reason, values): (Vec<_>, Vec<_>) =
            Vec::<(Spanned<String>, Spanned<String>)>::from_node(node, &VALUES)?
                .into_iter()
                .partition(|(name, _)| name.value == "reason");
        Some(Self {
            reason: reason.into_iter().next().map(|(_, reason)| reason.value),
            ..Self::new(values, span)
        })
    }
}

/// A recipe of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchRecipe {
    /// Its short name in cells and claims.
    pub name: String,
    /// A built-in name or a path, as `retrial run` takes it (relative paths made so that they mean
    /// the same from here).
    pub recipe: Spanned<String>,
}

object! {
    // A `BatchClaim` is resolved: here its place is needed for problems, and its cells are not known.
    /// A claim as it was written.
    #[derive(Debug, Clone, PartialEq)]
    pub struct WrittenClaim: "a claim";
    keys {
        /// The sentence: 7.1.1 + migraphx is faster than 6.4.1 + migraphx.
        text: Spanned<String> [key = "claim", required] = LINE,
        /// Where it was published.
        source: Option<String> = TEXT,
    }
}

object! {
    // An `ExternalResult` is stored: here places are needed, to make paths those from here.
    /// Runs of another host.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ExternalRuns: "runs of another host";
    keys {
        /// Ids of imported runs, and paths (./rtx4090) from this file: run directories, folders of them, or folders of results.
        runs: Vec<Spanned<String>> [required] = TEXTS,
        /// The cells that they measured, by values of axes: {gpu: w7900}. These cells are not run here. Without it the runs are a system of its own.
        cells: Option<Combination>,
    }
}

/// Runs that were made elsewhere, as the batch's plan stores them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalResult {
    /// Its name in claims: `rtx4090`.
    pub name: String,
    /// Ids of runs, run directories, folders of them, or folders of results; paths as from the working directory.
    pub runs: Vec<String>,
    /// The values of the cells that they measured; without any they are a system of its own.
    #[serde(default, skip_serializing_if = "NamedValues::is_empty")]
    pub cells: NamedValues,
}

#[expect(clippy::unnecessary_wraps, reason = "the declaration's signature")]
fn read_title(node: &Node) -> Option<String> {
    // A batch without a title is still checked for everything else.
    Some(node.text().unwrap_or_default().to_owned())
}

fn read_recipes(node: &Node) -> Option<Vec<BatchRecipe>> {
    let several = node.get("recipes");
    let named = match several {
        Some(several) => OrderedMap::<Spanned<String>>::from_node(several, &VALUES)?,
        None => Vec::new(),
    };
    let several_items = several.map_or(&[][..], Node::items).iter();
    let listed_nodes = several_items.chain(node.get("recipe"));
    let listed = listed_nodes.filter_map(|recipe| Spanned::from_node(recipe, &TEXT));
    let all = named.into_iter().chain(listed.map(|recipe| (String::new(), recipe)));
    let recipes = all.map(|(name, recipe)| BatchRecipe { name, recipe });
    Some(recipes.collect())
}

fn read_axes(node: &Node) -> Option<Vec<WrittenAxis>> {
    let axes = node.entries().iter().map(|entry| {
        let span = entry.key_span.clone();
        let name = Spanned { value: entry.key.clone(), span };
        let pairs = OrderedMap::<Spanned<String>>::from_node(&entry.value, &NAMED_VALUES);
        let pairs = pairs.filter(|_| !entry.value.entries().is_empty()).unwrap_or_default();
        let names = entry.value.entries().iter();
        let names = names.map(|one| Spanned { value: one.key.clone(), span: one.key_span.clone() });
        let listed = Vec::<Spanned<String>>::from_node(&entry.value, &VALUE);
        Some(WrittenAxis {
            name,
            values: names.chain(listed.unwrap_or_default()).collect(),
            named: pairs.into_iter().map(|(name, value)| (name, value.value)).collect(),
        })
    });
    axes.collect()
}

#[expect(clippy::unnecessary_wraps, reason = "the declaration's signature")]
fn read_claims(node: &Node) -> Option<Vec<WrittenClaim>> {
    let claim = |item: &Node| match item.text() {
        Some(_) => Some(WrittenClaim { text: Spanned::from_node(item, &LINE)?, source: None }),
        None => WrittenClaim::from_keys(item),
    };
    Some(node.items().iter().filter_map(claim).collect())
}
