//! Records that lack the figure: which of them announce it, and which are of another kind.
//!
//! A record announces the figure if it states an error, or if it has only members that a record with
//! the figure has, too. A log may have records of several kinds, so one whose `type`, `event`, … is
//! another is foreign.

use serde_json::{Map, Value};

use crate::place::Place;

/// Members that tell kinds of records apart.
const KINDS: [&str; 12] = [
    "type", "event", "kind", "name", "phase", "stage", "level", "msg", "message", "metric", "key",
    "op",
];
/// No record has more members that are compared.
const MAX_MEMBERS: usize = 200;

/// A record that has the figure: its members.
#[derive(Debug, Clone, Default)]
pub struct Example {
    names: Vec<String>,
    kinds: Vec<(String, Value)>,
}

impl Example {
    /// The example that a record is.
    pub fn of(record: &Map<String, Value>) -> Self {
        let names = record.keys().take(MAX_MEMBERS).cloned().collect();
        let kinds = record
            .iter()
            .filter(|(name, _)| KINDS.contains(&name.as_str()));
        let kinds = kinds.map(|(name, value)| (name.clone(), value.clone()));
        let kinds = kinds.collect();
        Self { names, kinds }
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }
}

/// A record without the figure.
#[derive(Debug, Clone)]
pub struct Lacking {
    /// Where it stands.
    pub place: Place,
    /// The record.
    pub text: String,
    members: Example,
    states_error: bool,
    /// It is not JSON, or was cut.
    pub is_broken: bool,
    /// The beginning of its first name, if it was cut there.
    cut_name: Option<String>,
}

impl Lacking {
    /// A record that could be read.
    pub fn whole(place: Place, text: String, record: &Map<String, Value>) -> Self {
        Self {
            place,
            text,
            members: Example::of(record),
            states_error: record.iter().any(|(name, value)| is_error(name, value)),
            is_broken: false,
            cut_name: None,
        }
    }

    /// A text that begins as a record and is none.
    pub fn broken(place: Place, text: String, source: &str) -> Self {
        let parts = source.split('"').collect::<Vec<_>>();
        let is_name = |pair: &&[&str]| pair[1].trim_start().starts_with(':');
        let names = parts.windows(2).filter(is_name).take(MAX_MEMBERS);
        let names: Vec<String> = names.map(|pair| pair[0].to_owned()).collect();
        let first = parts
            .get(1)
            .filter(|first| names.is_empty() && !first.is_empty());
        Self {
            place,
            text,
            cut_name: first.map(|first| (*first).to_owned()),
            members: Example {
                names,
                kinds: Vec::new(),
            },
            states_error: false,
            is_broken: true,
        }
    }

    /// Returns whether it announces the figure that such a record has. In a file of records, an error
    /// needs no member in common; in a log it does.
    pub fn announces(&self, example: &Example, figure: Option<&str>, in_file: bool) -> bool {
        let names = &self.members.names;
        let is_alike = names.iter().any(|name| example.has(name));
        if self.is_broken {
            let is_cut = |name: &String| example.names.iter().any(|own| own.starts_with(name));
            return is_alike || self.names(figure) || self.cut_name.as_ref().is_some_and(is_cut);
        }
        if self.states_error && (in_file || is_alike) {
            return true;
        }
        let of_another_kind = self.members.kinds.iter().any(|(name, value)| {
            let mut kinds = example.kinds.iter();
            kinds.any(|(other, kind)| other == name && kind != value)
        });
        is_alike && !of_another_kind && names.iter().all(|name| example.has(name))
    }

    /// Returns whether it has a member of the figure's name.
    pub fn names(&self, figure: Option<&str>) -> bool {
        figure.is_some_and(|figure| self.members.has(figure))
    }
}

/// Whether a member states an error: `"error": "out of memory"`, but not `"error": null`.
fn is_error(name: &str, value: &Value) -> bool {
    let name = name.to_ascii_lowercase();
    let named = matches!(
        name.as_str(),
        "error" | "errors" | "error_message" | "exception" | "traceback" | "failure"
    );
    named
        && match value {
            Value::Null | Value::Bool(false) => false,
            Value::String(text) => !text.trim().is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
            Value::Bool(true) => true,
            Value::Number(number) => number.as_f64() != Some(0.0),
        }
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
        let example = Example::of(&example);
        let lacking = Lacking::whole(Place::default(), String::new(), &from_str(record).unwrap());
        let actual = [true, false].map(|file| lacking.announces(&example, Some("rate"), file));
        assert_eq!(actual, [in_file, in_log]);
    }

    #[rstest]
    #[case(r#"{"users": 2, "ra"#, true)]
    #[case(r#"{"rate": 4.0"#, true)]
    #[case(r#"{"use"#, true)]
    #[case(r#"{"loss": 4.0, "users"#, false)]
    fn cut_records(#[case] text: &str, #[case] announces: bool) {
        let example: Map<_, _> = from_str(r#"{"users": 1, "rate": 10}"#).unwrap();
        let broken = Lacking::broken(Place::default(), String::new(), text);
        assert_eq!(
            broken.announces(&Example::of(&example), Some("rate"), false),
            announces
        );
    }
}
