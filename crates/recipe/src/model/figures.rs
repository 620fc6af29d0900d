//! The figures of a recipe: how they are read, published values, and the benchmark's own limits.

use retrial_document::{
    Field, FieldType as T, Key, Keys, Node, OrderedMap, Scope, object, select_keys, words,
};
pub use retrial_readings::claim::{Aggregate, Better, Claim};
use retrial_readings::lexer;
pub use retrial_readings::{CsvCell, Limit, MatchSelection};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::expression::{MEASUREMENT_SCOPE, Template};
use crate::formats::{self, complete_json_path};

object! {
    /// How a figure is read that is not LoadGen's.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct FigureSource: "a figure", one of "pattern", "json", "csv", "mllog", first WrittenLocator::KEYS;
    fields {
        /// The place and the pattern of the figure.
        find: FigureLocator = FigureLocator::from_node,
    }
    keys {
        /// The file below results, or a glob (`result_*.txt`); none: the output of the check, else of the command.
        file: Option<Template> = T::Template(MEASUREMENT_SCOPE, formats::RESULT_FILE),
        /// A table: the groups, columns or members whose values name a figure each, for example `[dtype, shape]` gives `gemm[bf16 8192x8192x8192]`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        by: Vec<String> = T::List(&T::Text(formats::FILLED), 1),
        /// The unit of the figure, for example TFLOP/s.
        unit: Option<String> = T::Text(formats::LINE),
        /// The heading of its column in tables, with the unit: `Time (ms)`. None: its name and unit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String> = T::Text(formats::LINE),
        /// Whether higher or lower is better.
        better: Better [default = "higher"],
        /// The match that is used where several lines match; none: the last, with a warning if their values differ.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        take: Option<MatchSelection>,
        /// Next to `take: mean` or `sum`: the number of values at the beginning of each file that are left out, those of a warm-up.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skip: Option<u32> = T::Integer(1, 1000),
        /// The aggregate of several trials.
        aggregate: Aggregate [default = "mean"],
        /// Assumed noise of one trial, for example 0.8%.
        noise: Option<f64> = T::Fraction,
    }
}

impl FigureSource {
    /// Returns the match that is used where several lines match.
    pub fn match_selection(&self) -> MatchSelection {
        self.take.unwrap_or_default()
    }
}

/// How a figure is found in text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureLocator {
    /// A regular expression; the group `value`, or the first, is the figure.
    Pattern {
        /// The regular expression, with `${number}` or a group for the figure.
        expression: String,
        /// A regular expression of a heading: only the first match below each counts.
        below: Option<String>,
        /// A regular expression of the line at which the text below a heading ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<String>,
    },
    /// A path into a JSON document.
    Json {
        /// The path by which the value is found: `JSONPath` (RFC 9535).
        path: String,
        /// For a table: the member of each match that is the figure.
        value: Option<String>,
    },
    Csv(CsvCell),
    /// A key of `:::MLLOG` lines.
    Mllog(MllogFigure),
}

object! {
    /// Where a figure is found, as a recipe has it.
    pub struct WrittenLocator: "a figure";
    keys {
        /// A regular expression with `${number}` for the figure, else its group `value`, else its first. A group `unit` is converted into `unit`.
        pattern: Option<String> = T::Text(formats::PATTERN),
        /// Next to `pattern`: a regular expression of a heading. Only the first line that matches `pattern` below each heading counts, and above the next heading of its kind.
        below: Option<String> = T::Text(formats::REGEX),
        /// Next to `below`: a regular expression of the line at which the text below a heading ends; none: the next heading of its kind, which differs in its numbers, or in its last words.
        until: Option<String> = T::Text(formats::REGEX),
        /// A `JSONPath` (RFC 9535), for example $.metrics.rouge1: into the file, or into the JSON that the output has.
        json: Option<String> = T::Text(formats::JSON_PATH),
        /// A column of a CSV file by its head, or {column, where, row}.
        csv: Option<CsvCell>,
        /// A figure of the `:::MLLOG` lines: `time_to_train`, `samples_to_converge`, or a key (`tracked_stats.throughput`).
        mllog: String = T::Text(formats::FILLED),
        /// For a table from JSON: the member of each match that is the figure.
        value: Option<String> = T::Text(formats::FILLED),
        /// The limits that the last `eval_accuracy` of each run must meet; next to `mllog: time_to_train`.
        target: Option<Limit>,
        /// Reference convergence points, by which MLCommons normalises the score; next to `mllog: time_to_train`.
        rcp: Option<ReferenceConvergence>,
    }
}

impl FigureLocator {
    fn from_node(node: &Node) -> Option<Self> {
        let written = WrittenLocator::from_keys(node)?;
        Some(if let Some(pattern) = written.pattern {
            Self::Pattern { expression: pattern, below: written.below, until: written.until }
        } else if let Some(path) = written.json {
            Self::Json { path: complete_json_path(&path).into_owned(), value: written.value }
        } else if let Some(cell) = written.csv {
            Self::Csv(cell)
        } else {
            Self::Mllog(MllogFigure {
                key: written.mllog,
                target: written.target,
                rcp: written.rcp,
            })
        })
    }
}

/// A figure of a log of `MLPerf` Training.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MllogFigure {
    /// `time_to_train`, `samples_to_converge`, or a key of the log (`tracked_stats.throughput`).
    pub key: String,
    /// The limits that the last `eval_accuracy` of a run must meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Limit>,
    /// Reference convergence points, by which `MLCommons` normalises a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rcp: Option<ReferenceConvergence>,
}

object! {
    // The rules of rounds have `ReferencePoints`: the number of runs is a rule of its own there, and they allow for more.
    /// Reference convergence points (RCP) of a benchmark.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct ReferenceConvergence: "the reference convergence points";
    keys {
        /// The number of runs in a submission of this benchmark.
        runs: u32 [default = "10"] = T::Integer(3, 100),
        /// Runs of the reference by global batch size: the samples or epochs until convergence.
        points: Vec<(u64, Vec<f64>)> [required] = T::Map(formats::COUNT, &T::List(&T::Number, 3)),
    }
}

object! {
    /// A published figure with its source and claim.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Expectation: "a published figure";
    keys {
        /// The published value, in the figure's unit: a number, or as the document prints it (`12.3k tok/s`).
        value: f64 [read = read_published_value] = T::Text(formats::PUBLISHED_VALUE),
        /// Who published it; official decides.
        kind: ExpectationKind [required],
        /// The source, for example the id of the result.
        source: Option<String>,
        /// Declared standard deviation, a share of the value.
        sigma: Option<f64> = T::Fraction,
        /// Assumed noise of one trial, a share of the value.
        noise: Option<f64> = T::Fraction,
        /// The margin for this figure, where it differs from the recipe's.
        margin: Option<f64> = T::Fraction,
        /// The claim that the measured figure has to support.
        #[serde(default, skip_serializing_if = "Claim::is_default")]
        claim: Claim [default = "not-worse"],
    }
}

impl Expectation {
    /// Who published it: a third party by its source, if that is stated.
    pub fn publisher(&self) -> &str {
        match (self.kind, &self.source) {
            (ExpectationKind::ThirdParty, Some(source)) => source,
            (kind, _) => kind.label(),
        }
    }
}

object! {
    /// A published figure, or a table of them, as a recipe has it.
    pub struct WrittenExpectation: "a published figure", one of "value", "values", "at", first VALUE_KEY, last OTHER_KEYS;
    fields {
        /// The settings of the figure or of all entries of a table.
        figure: Expectation = Expectation::from_keys,
    }
    keys {
        /// For a table: the value of each entry, for example {bf16 8192x8192x8192: 1010}.
        values: OrderedMap<f64> [read = read_published_values] = T::Map(formats::ENTRY, &T::Text(formats::PUBLISHED_VALUE)),
        /// In a sweep: the value at each point that was published: {1: 118.2, 64: 2910}.
        at: OrderedMap<f64> [read = read_published_values] = T::Map(formats::NAME, &T::Text(formats::PUBLISHED_VALUE)),
    }
}

/// `value`, which tables do not have, and the other keys of a published figure.
const VALUE_KEY: &[Key] = &select_keys(Expectation::KEYS, ["value"]);
const OTHER_KEYS: &[Key] =
    &select_keys(Expectation::KEYS, ["kind", "source", "sigma", "noise", "margin", "claim"]);

object! {
    /// Published figures that are shown next to the measured ones, and never judged.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct ReferenceFigures: "figures for reference";
    keys {
        /// Who published them.
        kind: ExpectationKind [required],
        /// The source, for example the id of the result.
        source: Option<String>,
        /// The published values by the figure's name, each in the figure's unit. An entry of a table: `name[entry]`; in a sweep: {at: {1: 68, 64: 310}}.
        values: OrderedMap<f64> [required, read = read_reference_values] = T::Map(formats::FIGURE, &T::Either(&[T::Text(formats::PUBLISHED_VALUE), ValuesAtPoints::TYPE])),
    }
}

object! {
    /// The values of a figure at the points of a sweep.
    pub struct ValuesAtPoints: "the values at points";
    keys {
        /// The value at each point that was published: {1: 118.2, 64: 2910}.
        at: OrderedMap<f64> [required, read = read_published_values] = T::Map(formats::NAME, &T::Text(formats::PUBLISHED_VALUE)),
    }
}

fn read_reference_values(node: &Node) -> Option<OrderedMap<f64>> {
    let values = read_published_values(node)?.into_iter();
    Some(values.map(|(name, value)| (figure_name(&name), value)).collect())
}

fn read_published_values(node: &Node) -> Option<OrderedMap<f64>> {
    let value = |(name, node): (&str, &Node)| Some((name.to_owned(), read_published_value(node)?));
    node.present_entries().map(value).collect()
}

fn read_published_value(node: &Node) -> Option<f64> {
    lexer::read_published(node.text()?).ok().map(|(number, _)| number.value)
}

words! {
    /// Who published a figure; official decides, the others are shown.
    #[derive(JsonSchema)]
    pub enum ExpectationKind {
        /// Published in the results of the round.
        Official = "official",
        /// Published in the guide or document that the recipe follows.
        Guide = "guide",
        /// Published by a third party for the same GPU.
        ThirdParty = "third-party",
    }
}

impl ExpectationKind {
    /// Returns the words as text has them.
    pub fn label(self) -> &'static str {
        match self {
            Self::ThirdParty => "third party",
            kind => kind.word(),
        }
    }
}

/// Returns the name of a table's entry, however its spaces were written.
pub fn entry_name(table: &str, entry: &str) -> String {
    let words: Vec<&str> = entry.split_whitespace().collect();
    format!("{table}[{}]", words.join(" "))
}

/// Returns a figure's name as results have it.
pub fn figure_name(written: &str) -> String {
    match written.strip_suffix(']').and_then(|text| text.split_once('[')) {
        Some((table, entry)) => entry_name(table, entry),
        None => written.to_owned(),
    }
}

pub(super) const EXPECT_TYPE: T = T::Map(
    formats::FIGURE,
    &T::Either(&[WrittenExpectation::TYPE, T::List(&WrittenExpectation::TYPE, 1)]),
);

/// Reads the published values, each of a table's under its own name.
pub(super) fn read_expectations(node: &Node) -> Option<OrderedMap<Vec<Expectation>>> {
    let mut all: OrderedMap<Vec<Expectation>> = Vec::new();
    for (name, node) in node.present_entries() {
        for item in node.one_or_items() {
            for (name, expectation) in WrittenExpectation::from_keys(item)?.into_named(name) {
                match all.iter_mut().find(|(other, _)| *other == name) {
                    Some((_, of_name)) => of_name.push(expectation),
                    None => all.push((name, vec![expectation])),
                }
            }
        }
    }
    // Rows of others may come from a template, before the recipe's own.
    for (_, of_name) in &mut all {
        of_name.sort_by_key(|expectation| expectation.kind);
    }
    Some(all)
}

impl WrittenExpectation {
    fn into_named(self, name: &str) -> OrderedMap<Expectation> {
        if self.values.is_empty() {
            return vec![(figure_name(name), self.figure)];
        }
        let entry = |(entry, value): (String, f64)| {
            let figure = self.figure.clone();
            (entry_name(name, &entry), Expectation { value, ..figure })
        };
        self.values.into_iter().map(entry).collect()
    }
}

/// A word, a number or a truth value that a result must state of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequiredValue {
    /// The `JSONPath` into the JSON of the output or of the results.
    pub json: String,
    /// The text of the value.
    pub is: String,
}

object! {
    /// A limit, as a recipe has it.
    pub struct WrittenLimit: "a limit of a result", first Limit::KEYS;
    keys {
        /// Instead of bounds, next to `is`: a `JSONPath` (RFC 9535) into the JSON of the output or of a file `*.json` in the results. A result that states nothing there is invalid, too.
        json: Option<String> = T::Text(formats::JSON_PATH),
        /// Next to `json`: the word, number or truth value that each value at the path must be.
        is: Option<String> = T::Scalar(Scope::DOCUMENT),
    }
}

/// Reads the bounds of figures among a benchmark's own limits.
pub(super) fn read_limits(node: &Node) -> Option<OrderedMap<Limit>> {
    let bounds = node.present_entries().filter(|(_, node)| node.get("json").is_none());
    bounds.map(|(name, node)| Some((figure_name(name), Limit::from_keys(node)?))).collect()
}

/// Reads the words and truth values among a benchmark's own limits.
pub(super) fn read_required_values(node: &Node) -> Option<OrderedMap<RequiredValue>> {
    let limits = node.present_entries_at("limits");
    let stated = limits.filter(|(_, node)| node.get("json").is_some()).map(|(name, node)| {
        let WrittenLimit { json, is } = WrittenLimit::from_keys(node)?;
        let json = complete_json_path(&json?).into_owned();
        Some((name.to_owned(), RequiredValue { json, is: is? }))
    });
    stated.collect()
}
