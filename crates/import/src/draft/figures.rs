//! The figures of the measured command, as options or answers state them.

use itertools::Itertools as _;
use retrial_document::{Field as _, Node, OrderedMap};
use retrial_readings::units;

use retrial_recipe::model::FigureSource;
use retrial_recipe::writer::{list_node, map_node, plain_node, text_node};

/// The source of published values where none is stated.
const GUIDE: &str = "the guide";

/// The figures of the measured command: how each is read, and what was published.
#[derive(Debug, Clone, Default)]
pub struct MeasuredFigures {
    /// The measured command; none: that of the block.
    pub command: Option<String>,
    /// The figures: name, and how each is found.
    pub figures: Vec<(String, FigureFinder)>,
    /// The published values: name, value, unit.
    pub expected: Vec<(String, f64, Option<String>)>,
    /// The units of figures for which nothing was published: name, unit.
    pub units: Vec<(String, String)>,
    /// Where they were published; none: in the guide.
    pub source: Option<String>,
    /// Nothing was published: the recipe only measures.
    pub is_only_measured: bool,
}

impl MeasuredFigures {
    /// Returns whether it is said what was published, or that nothing was.
    pub fn states_published(&self) -> bool {
        !self.expected.is_empty() || self.is_only_measured
    }

    /// Returns the figures as a recipe declares them.
    pub fn sources(&self) -> OrderedMap<FigureSource> {
        let declared = self.figures_node();
        OrderedMap::from_node(&declared, &OrderedMap::<FigureSource>::TYPE).unwrap_or_default()
    }

    pub fn figures_node(&self) -> Node {
        let example = [("speed".to_owned(), FigureFinder::Pattern("speed: ${number}".to_owned()))];
        let figures = if self.figures.is_empty() { &example[..] } else { &self.figures };
        map_node(figures.iter().map(|(name, finder)| {
            let unit = self.unit_of(name);
            let unit = unit.or_else(|| self.figures.is_empty().then_some("items/s"));
            let is_better_lower = unit.is_some_and(units::is_time_per_something);
            let keys = [
                unit.map(|unit| ("unit", text_node(unit))),
                is_better_lower.then(|| ("better", text_node("lower"))),
            ];
            (name.clone(), map_node(finder.keys().into_iter().chain(keys.into_iter().flatten())))
        }))
    }

    /// Returns the files in which figures are, each once.
    pub fn files(&self) -> Vec<&str> {
        self.figures.iter().filter_map(|(_, finder)| finder.file()).unique().collect()
    }

    pub fn expect_node(&self) -> Option<Node> {
        let source = self.source.as_deref().unwrap_or(GUIDE);
        let entries = self.expected.iter().map(|(name, value, _)| {
            let keys = [
                ("value", plain_node(value.to_string())),
                ("kind", text_node("guide")),
                ("source", text_node(source)),
            ];
            (name.clone(), map_node(keys))
        });
        (!self.expected.is_empty()).then(|| map_node(entries))
    }

    /// Returns the submission: a benchmark of the reader's own, and the address of its publication.
    pub fn submission_node(&self, benchmark: &str) -> Node {
        let address = self.source.iter().filter(|source| is_address(source));
        let addresses: Vec<Node> = address.map(text_node).collect();
        let keys = [("suite", text_node("my-suite")), ("benchmark", text_node(benchmark))];
        let sources = (!addresses.is_empty()).then(|| ("sources", list_node(addresses)));
        map_node(keys.into_iter().chain(sources))
    }

    fn unit_of(&self, figure: &str) -> Option<&str> {
        let published = self.expected.iter().find(|(name, ..)| name == figure);
        if let Some((_, _, unit)) = published {
            return unit.as_deref();
        }
        let unpublished = self.units.iter().find(|(name, _)| name == figure);
        unpublished.map(|(_, unit)| unit.as_str())
    }
}

/// How a figure is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FigureFinder {
    /// A regular expression with `${number}`, in the output.
    Pattern(String),
    /// A `JSONPath`, in a file or in the JSON of the output.
    Json { file: Option<String>, path: String },
    /// A column of a CSV file, and the values of other columns in its row.
    Csv { file: String, column: String, rows: Vec<(String, String)> },
}

/// A text that names no figure in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct InvalidFinder(&'static str);

impl FigureFinder {
    /// Parses `json:FILE:PATH`, `csv:FILE:COLUMN`, `csv:FILE:COLUMN:batch=8`, a `JSONPath`, or a pattern.
    ///
    /// # Errors
    /// A part is missing.
    pub fn parse(text: &str) -> Result<Self, InvalidFinder> {
        if let Some(rest) = text.strip_prefix("json:") {
            let pair =
                rest.split_once(':').filter(|(file, path)| !file.is_empty() && !path.is_empty());
            let (file, path) =
                pair.ok_or(InvalidFinder("json:FILE:PATH, for example json:out.json:$.p99"))?;
            return Ok(Self::Json { file: Some(file.to_owned()), path: path.to_owned() });
        }
        if let Some(rest) = text.strip_prefix("csv:") {
            let error = InvalidFinder(
                "csv:FILE:COLUMN, for example csv:out.csv:tokens_per_s, or with a row, csv:out.csv:tokens_per_s:batch=8",
            );
            let (file, rest) =
                rest.split_once(':').filter(|(file, _)| !file.is_empty()).ok_or(error)?;
            let (column, rows) = rest.split_once(':').unwrap_or((rest, ""));
            let rows = rows.split(',').filter(|row| !row.is_empty()).map(|row| {
                let (name, value) = row.split_once('=').ok_or(error)?;
                Ok((name.to_owned(), value.to_owned()))
            });
            let rows = rows.collect::<Result<_, InvalidFinder>>()?;
            let column =
                Some(column.to_owned()).filter(|column| !column.is_empty()).ok_or(error)?;
            return Ok(Self::Csv { file: file.to_owned(), column, rows });
        }
        let is_path = text.starts_with("$.") || text.starts_with("$[");
        Ok(if is_path {
            Self::Json { file: None, path: text.to_owned() }
        } else {
            Self::Pattern(text.to_owned())
        })
    }

    /// Returns the file in which the figure is, if it is not in the output.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Pattern(_) => None,
            Self::Json { file, .. } => file.as_deref(),
            Self::Csv { file, .. } => Some(file),
        }
    }

    fn keys(&self) -> Vec<(&'static str, Node)> {
        let find = match self {
            Self::Pattern(pattern) => ("pattern", text_node(pattern)),
            Self::Json { path, .. } => ("json", text_node(path)),
            Self::Csv { column, rows, .. } if rows.is_empty() => ("csv", text_node(column)),
            Self::Csv { column, rows, .. } => {
                let rows = rows.iter().map(|(name, value)| (name.clone(), text_node(value)));
                ("csv", map_node([("column", text_node(column)), ("where", map_node(rows))]))
            }
        };
        // It is collected from the directory of the results.
        let name = self.file().map(|file| file.rsplit('/').next().unwrap_or(file));
        let file = name.map(|name| ("file", text_node(name)));
        [find].into_iter().chain(file).collect()
    }
}

fn is_address(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_better_lower_and_a_path_is_json() {
        let finder = |text: &str| FigureFinder::parse(text).unwrap();
        let figures = MeasuredFigures {
            figures: vec![
                ("speed".to_owned(), finder("speed: ${number}")),
                ("p99".to_owned(), finder("json:out.json:$.latency.p99")),
                ("rate".to_owned(), finder("csv:out.csv:rate:batch=8")),
            ],
            expected: vec![
                ("speed".to_owned(), 1.0, Some("tokens/s".to_owned())),
                ("p99".to_owned(), 2.0, Some("ms".to_owned())),
            ],
            ..MeasuredFigures::default()
        };
        let node = figures.figures_node();
        assert_eq!(node.get("p99").unwrap().text_at("better"), Some("lower"));
        assert_eq!(node.get("p99").unwrap().text_at("file"), Some("out.json"));
        assert_eq!(node.get("rate").unwrap().get("csv").unwrap().text_at("column"), Some("rate"));
        assert_eq!(finder("$.a"), FigureFinder::Json { file: None, path: "$.a".to_owned() });
        assert!(FigureFinder::parse("csv:out.csv").is_err());
    }
}
