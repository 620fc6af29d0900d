//! The figures of the measured command, as options or answers state them.

use retrial_document::{Field as _, Node, OrderedMap};
use retrial_readings::units;

use crate::model::FigureSource;
use crate::writer::{list_node, map_node, plain_node, text_node};

/// The source of published values where none is stated.
const GUIDE: &str = "the guide";

/// The figures of the measured command: how each is read, and what was published.
#[derive(Debug, Clone, Default)]
pub struct MeasuredFigures {
    /// The measured command; none: that of the block.
    pub command: Option<String>,
    /// The figures: name, and a pattern or a `JSONPath`.
    pub figures: Vec<(String, String)>,
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
    /// Returns the figures as a recipe declares them.
    pub fn sources(&self) -> OrderedMap<FigureSource> {
        let declared = self.figures_node();
        OrderedMap::from_node(&declared, &OrderedMap::<FigureSource>::TYPE).unwrap_or_default()
    }

    pub(super) fn figures_node(&self) -> Node {
        let example = [("speed".to_owned(), "speed: ${number}".to_owned())];
        let figures = if self.figures.is_empty() { &example[..] } else { &self.figures };
        map_node(figures.iter().map(|(name, finder)| {
            let unit = self.unit_of(name);
            let unit = unit.or_else(|| self.figures.is_empty().then_some("items/s"));
            let key = if is_json_path(finder) { "json" } else { "pattern" };
            let is_better_lower = unit.is_some_and(units::is_time_per_something);
            let keys = [
                Some((key, text_node(finder))),
                unit.map(|unit| ("unit", text_node(unit))),
                is_better_lower.then(|| ("better", text_node("lower"))),
            ];
            (name.clone(), map_node(keys.into_iter().flatten()))
        }))
    }

    pub(super) fn expect_node(&self) -> Option<Node> {
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
    pub(super) fn submission_node(&self, benchmark: &str) -> Node {
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

/// Returns whether a text is a `JSONPath` and no pattern: as a pattern it would match nothing.
pub fn is_json_path(text: &str) -> bool {
    text.starts_with("$.") || text.starts_with("$[")
}

fn is_address(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Better, FigureLocator};

    #[test]
    fn a_time_is_better_lower_and_a_path_is_json() {
        let figures = MeasuredFigures {
            figures: vec![
                ("speed".to_owned(), "speed: ${number}".to_owned()),
                ("p99".to_owned(), "$.latency.p99".to_owned()),
                ("step".to_owned(), "step ${number}".to_owned()),
            ],
            expected: vec![
                ("speed".to_owned(), 1.0, Some("tokens/s".to_owned())),
                ("p99".to_owned(), 2.0, Some("ms".to_owned())),
                ("step".to_owned(), 3.0, Some("s/it".to_owned())),
            ],
            ..MeasuredFigures::default()
        };
        let sources = figures.sources();
        let better: Vec<Better> = sources.iter().map(|(_, source)| source.better).collect();
        assert_eq!(better, [Better::Higher, Better::Lower, Better::Lower]);
        let is_json = |source: &FigureSource| matches!(source.find, FigureLocator::Json { .. });
        let json: Vec<bool> = sources.iter().map(|(_, source)| is_json(source)).collect();
        assert_eq!(json, [false, true, false]);
    }
}
