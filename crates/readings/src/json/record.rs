//! Records that lack the figure: which of them announce it, and which are of another kind.
//!
//! A record announces the figure if it states an error, if it is of the same `type` as one with the figure,
//! or if it has no members but those of such a record; in a log, it must have all of them, and stand
//! behind the same text. A log may have records of several kinds, so one whose `type`, `event`, … is
//! another is foreign.

use serde_json::{Map, Value};

use super::failure::states_failure;
use crate::place::RecordLocation;

/// Members that tell kinds of records apart.
const KIND_MEMBERS: [&str; 12] = [
    "type", "event", "kind", "name", "phase", "stage", "level", "msg", "message", "metric", "key",
    "op",
];
/// Members that say that two records are of one kind.
const TYPE_MEMBERS: [&str; 3] = ["type", "event", "kind"];
/// No record has more members that are compared.
const MAX_MEMBERS: usize = 200;

/// A record that has the figure: its members.
#[derive(Debug, Clone, Default)]
pub struct ExampleRecord {
    names: Vec<String>,
    kinds: Vec<(String, Value)>,
    /// The text before it on its line, without its numbers.
    prefix: String,
}

impl ExampleRecord {
    pub fn from_record(record: &Map<String, Value>, prefix: &str) -> Self {
        let names = record.keys().take(MAX_MEMBERS).cloned().collect();
        let kind_members = record.iter().filter(|(name, _)| KIND_MEMBERS.contains(&name.as_str()));
        let kind_pairs = kind_members.map(|(name, value)| (name.clone(), value.clone()));
        let kinds = kind_pairs.collect();
        let mut without_numbers = prefix.replace(|letter: char| letter.is_ascii_digit(), "0");
        while without_numbers.contains("00") {
            without_numbers = without_numbers.replace("00", "0");
        }
        Self { names, kinds, prefix: without_numbers }
    }

    fn has_member(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    /// Returns whether another has each of its members, but for the figure and what tells kinds apart.
    fn is_covered_by(&self, other: &Self, figure: Option<&str>) -> bool {
        let compared = |name: &&String| {
            Some(name.as_str()) != figure && !KIND_MEMBERS.contains(&name.as_str())
        };
        self.names.iter().filter(compared).all(|name| other.has_member(name))
    }
}

/// A record without the figure.
#[derive(Debug, Clone)]
pub struct IncompleteRecord {
    /// The file and the line in which it begins.
    pub place: RecordLocation,
    /// The record's JSON, shortened.
    pub text: String,
    /// Number of members of the way to the figure that it has.
    pub level: usize,
    members: ExampleRecord,
    states_error: bool,
    /// It is not JSON, or was cut.
    pub is_broken: bool,
    /// Whether there is no record at all where the next member of the way should be.
    pub is_nothing: bool,
    /// The beginning of its first name, if it was cut there.
    cut_name: Option<String>,
    /// The entry of a table that it names.
    pub entry: Option<String>,
}

impl IncompleteRecord {
    /// Returns a record that could be read.
    pub fn from_record(
        place: RecordLocation,
        text: String,
        record: &Map<String, Value>,
        prefix: &str,
    ) -> Self {
        Self {
            place,
            text,
            level: 0,
            members: ExampleRecord::from_record(record, prefix),
            states_error: states_failure(record),
            is_broken: false,
            is_nothing: false,
            cut_name: None,
            entry: None,
        }
    }

    /// Something else in place of a record.
    pub fn from_absent_record(place: RecordLocation, text: String) -> Self {
        Self { is_nothing: true, ..Self::from_record(place, text, &Map::new(), "") }
    }

    /// Returns the same after so many members of the way to the figure.
    #[must_use]
    pub fn with_level(mut self, level: usize) -> Self {
        self.level = level;
        self
    }

    /// Returns a text that begins as a record and is none.
    pub fn from_broken_text(place: RecordLocation, text: String, source: &str) -> Self {
        let parts = source.split('"').collect::<Vec<_>>();
        let is_name = |pair: &&[&str]| pair[1].trim_start().starts_with(':');
        let named_pairs = parts.windows(2).filter(is_name).take(MAX_MEMBERS);
        let names: Vec<String> = named_pairs.map(|pair| pair[0].to_owned()).collect();
        let first = parts.get(1).filter(|first| names.is_empty() && !first.is_empty());
        Self {
            cut_name: first.map(|first| (*first).to_owned()),
            members: ExampleRecord { names, ..ExampleRecord::default() },
            is_broken: true,
            ..Self::from_record(place, text, &Map::new(), "")
        }
    }

    /// Returns the same as an entry of a table, if the members that name it can be read of the text.
    #[must_use]
    pub fn with_entry(mut self, source: &str, by: &[String]) -> Self {
        let member_texts = by.iter().map(|name| text_of_member(source, name));
        let names = member_texts.collect::<Option<Vec<_>>>();
        self.entry = names.filter(|names| !names.is_empty()).map(|names| names.join(" "));
        self
    }

    /// Returns whether it is a record that states an error, and has a member in common with one that has
    /// the figure.
    pub fn is_failure_like(&self, example: &ExampleRecord) -> bool {
        self.states_error && self.shares_member_with(example)
    }

    /// Returns whether it announces the figure that such a record has. In a file of records, an error
    /// needs no member in common; in a log it does.
    pub fn announces_figure(
        &self,
        example: &ExampleRecord,
        figure: Option<&str>,
        in_file: bool,
    ) -> bool {
        let names = &self.members.names;
        let is_alike = self.shares_member_with(example);
        if self.is_broken {
            let is_cut = |name: &String| example.names.iter().any(|own| own.starts_with(name));
            return is_alike
                || self.has_figure_member(figure)
                || self.cut_name.as_ref().is_some_and(is_cut);
        }
        if self.is_nothing || self.states_error && (in_file || is_alike) {
            return true;
        }
        let has_kind = |is_wanted: &dyn Fn(&str, bool) -> bool| {
            self.members.kinds.iter().any(|(name, value)| {
                let mut kinds = example.kinds.iter();
                kinds.any(|(other, kind)| other == name && is_wanted(name, kind == value))
            })
        };
        if has_kind(&|_, is_same| !is_same) {
            return false;
        }
        let is_part = is_alike && names.iter().all(|name| example.has_member(name));
        let is_of_place =
            self.members.prefix == example.prefix && example.is_covered_by(&self.members, figure);
        has_kind(&|name, is_same| is_same && TYPE_MEMBERS.contains(&name))
            || is_part && (in_file || is_of_place)
    }

    fn shares_member_with(&self, example: &ExampleRecord) -> bool {
        self.members.names.iter().any(|name| example.has_member(name))
    }

    /// Returns whether it has a member of the figure's name.
    pub fn has_figure_member(&self, figure: Option<&str>) -> bool {
        figure.is_some_and(|figure| self.members.has_member(figure))
    }
}

/// Returns the text of a member of a record that was cut: `bf16` of `{"dtype": "bf16", "ra`.
fn text_of_member(source: &str, name: &str) -> Option<String> {
    let (_, behind) = source.split_once(&format!("\"{name}\""))?;
    let value = behind.trim_start().strip_prefix(':')?.trim_start();
    let (text, _) = match value.strip_prefix('"') {
        Some(text) => text.split_once('"')?,
        None => value.split_once([',', '}', ' '])?,
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::from_str;

    use super::*;

    #[rstest]
    #[case::error(r#"{"users": 2, "error": "out of memory"}"#, true, true)]
    #[case::only_an_error(r#"{"error": "out of memory"}"#, true, false)]
    #[case::no_error(r#"{"seconds": 3, "error": null}"#, false, false)]
    #[case::fewer_members(r#"{"users": 2}"#, true, true)]
    #[case::other_members(r#"{"users": 2, "seconds": 3}"#, false, false)]
    #[case::other_kind(r#"{"event": "end", "users": 2}"#, false, false)]
    fn records(#[case] record: &str, #[case] in_file: bool, #[case] in_log: bool) {
        let example: Map<_, _> =
            from_str(r#"{"event": "result", "users": 1, "rate": 10}"#).unwrap();
        let example = ExampleRecord::from_record(&example, "");
        let lacking = IncompleteRecord::from_record(
            RecordLocation::default(),
            String::new(),
            &from_str(record).unwrap(),
            "",
        );
        let actual =
            [true, false].map(|file| lacking.announces_figure(&example, Some("rate"), file));
        assert_eq!(actual, [in_file, in_log]);
    }

    #[rstest]
    #[case(r#"{"users": 2, "ra"#, true)]
    #[case(r#"{"rate": 4.0"#, true)]
    #[case(r#"{"use"#, true)]
    #[case(r#"{"loss": 4.0, "users"#, false)]
    fn cut_records(#[case] text: &str, #[case] announces: bool) {
        let example: Map<_, _> = from_str(r#"{"users": 1, "rate": 10}"#).unwrap();
        let broken =
            IncompleteRecord::from_broken_text(RecordLocation::default(), String::new(), text);
        assert_eq!(
            broken.announces_figure(&ExampleRecord::from_record(&example, ""), Some("rate"), false),
            announces
        );
    }
}
