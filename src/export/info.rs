//! What only the submitter knows: a small file, YAML or JSON, in `MLCommons`' own names.
//!
//! ```yaml
//! status: available
//! system_type: datacenter
//! cooling: air
//! measurements: { weight_data_types: fp4, … }
//! calibration: calibration.md
//! ```

use std::collections::BTreeMap;

use retrial_document::parse;
use retrial_document::{Diagnostic, Diagnostics, Source, nearest};
use retrial_document::{Node, Value};
use retrial_mlperf::rounds::SystemType;
use retrial_mlperf::submission::fields::{MEASUREMENTS, NETWORK, POWER, STATUS, SYSTEM};

/// What the submitter says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Info {
    /// Fields of `systems/SYSTEM.json`.
    pub system: BTreeMap<String, String>,
    /// Fields of `measurements.json`, for every benchmark that has none of its own.
    pub measurements: BTreeMap<String, String>,
    /// Fields of `measurements.json`, by benchmark.
    pub of_benchmark: BTreeMap<String, BTreeMap<String, String>>,
    /// The file that says how weights were quantized, beside this one.
    pub calibration: Option<String>,
    /// What is in that file.
    pub calibration_text: Option<String>,
}

impl Info {
    /// Reads the file.
    ///
    /// # Errors
    /// Every problem of it, each with its place.
    pub fn parse(source: &Source) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::default();
        let node = parse(source, &mut problems);
        let mut info = Self::default();
        if let Some(node) = node {
            info.take(&node, &mut problems);
        }
        problems.sort(&source.path);
        if problems.has_errors() {
            Err(problems)
        } else {
            Ok(info)
        }
    }

    /// What is said of a benchmark's weights.
    #[must_use]
    pub fn measurement(&self, benchmark: &str, field: &str) -> Option<&str> {
        let own = self.of_benchmark.get(benchmark);
        let own = own.and_then(|fields| fields.get(field));
        own.or_else(|| self.measurements.get(field))
            .map(String::as_str)
    }

    fn take(&mut self, node: &Node, problems: &mut Diagnostics) {
        if !matches!(node.value, Value::Map(_) | Value::Null) {
            let message = format!("{} in place of fields and their values", node.kind());
            problems.push(
                Diagnostic::error("type", message, node.span.clone())
                    .help("write one `field: value` a line, for example `cooling: air`"),
            );
        }
        for entry in node.entries() {
            let (key, value) = (entry.key.as_str(), &entry.value);
            match key {
                "measurements" => self.measurements(value, problems),
                "calibration" => self.calibration = text(value, problems),
                _ if is_system_field(key) => {
                    if let Some(said) = text(value, problems) {
                        check_word(key, &said, value, problems);
                        self.system.insert(key.to_owned(), said);
                    }
                }
                _ => problems.push(unknown(key, entry.key_span.clone(), known_fields())),
            }
        }
    }

    fn measurements(&mut self, node: &Node, problems: &mut Diagnostics) {
        for entry in node.entries() {
            let (key, value) = (entry.key.as_str(), &entry.value);
            if MEASUREMENTS.contains(&key) {
                if let Some(said) = text(value, problems) {
                    self.measurements.insert(key.to_owned(), said);
                }
            } else if matches!(value.value, Value::Map(_)) {
                let mut own = BTreeMap::new();
                for field in value.entries() {
                    if !MEASUREMENTS.contains(&field.key.as_str()) {
                        problems.push(unknown(&field.key, field.key_span.clone(), MEASUREMENTS));
                    } else if let Some(said) = text(&field.value, problems) {
                        own.insert(field.key.clone(), said);
                    }
                }
                self.of_benchmark.insert(key.to_owned(), own);
            } else {
                problems.push(unknown(key, entry.key_span.clone(), MEASUREMENTS));
            }
        }
    }
}

fn is_system_field(key: &str) -> bool {
    let asked = SYSTEM.iter().any(|(field, _)| *field == key);
    asked || POWER.contains(&key) || NETWORK.contains(&key)
}

fn known_fields() -> impl Iterator<Item = &'static str> + Clone {
    let system = SYSTEM.iter().map(|(field, _)| *field);
    let further = POWER.into_iter().chain(NETWORK);
    system.chain(further).chain(["measurements", "calibration"])
}

/// A field's text; `null` says nothing.
fn text(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    if node.is_null() {
        return None;
    }
    let text = node.text().map(|text| text.trim().to_owned());
    if text.is_none() {
        let message = format!("{} where a text or a number is meant", node.kind());
        problems.push(Diagnostic::error("type", message, node.span.clone()));
    }
    text.filter(|text| !text.is_empty())
}

/// Fields that take few words.
fn check_word(key: &str, said: &str, node: &Node, problems: &mut Diagnostics) {
    let wrong = match key {
        "status" if !STATUS.contains(&said.to_ascii_lowercase().as_str()) => {
            format!("`{said}` is no status: available, preview or rdi")
        }
        "system_type" => match said.parse::<SystemType>() {
            Ok(_) => return,
            Err(error) => error.to_string(),
        },
        _ => return,
    };
    problems.push(Diagnostic::error("unknown-value", wrong, node.span.clone()));
}

fn unknown(
    key: &str,
    span: retrial_document::Span,
    known: impl IntoIterator<Item = &'static str>,
) -> Diagnostic {
    let help = nearest(key, known).map(|near| format!("did you mean `{near}`?"));
    Diagnostic::error(
        "unknown-key",
        format!("`{key}` is no field of MLCommons'"),
        span,
    )
    .maybe_help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Info, String> {
        Info::parse(&Source::new("info.yaml", text)).map_err(|problems| problems.render(false))
    }

    #[test]
    fn yaml_and_json_say_the_same() {
        let yaml = "status: available\nhost_processors_per_node: 2\nmeasurements:\n  retraining: 'No'\n  llama2-70b-99: { weight_data_types: fp4 }\n";
        let json = r#"{"status": "available", "host_processors_per_node": 2,
            "measurements": {"retraining": "No", "llama2-70b-99": {"weight_data_types": "fp4"}}}"#;
        let info = parsed(yaml).unwrap();
        assert_eq!(info, parsed(json).unwrap());
        assert_eq!(info.system["host_processors_per_node"], "2");
        assert_eq!(
            info.measurement("llama2-70b-99", "weight_data_types"),
            Some("fp4")
        );
        assert_eq!(info.measurement("llama2-70b-99", "retraining"), Some("No"));
        assert_eq!(info.measurement("bert-99", "weight_data_types"), None);
    }

    #[test]
    fn slips_are_told_with_their_place() {
        let text = "coling: air\nstatus: sold\nsystem_type: cloud\nmeasurements: { weight_data_type: fp4 }\nframework: [vllm]\n";
        let told = parsed(text).unwrap_err();
        for part in [
            "info.yaml:1:1",
            "did you mean `cooling`?",
            "`sold` is no status",
            "`cloud` is no type of system",
            "did you mean `weight_data_types`?",
            "a list where a text",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}
