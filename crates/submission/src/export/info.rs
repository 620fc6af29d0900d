//! The submitter's own file on the system, YAML or JSON, with `MLCommons`' names of fields.
//!
//! ```yaml
//! status: available
//! system_type: datacenter
//! cooling: air
//! measurements: { weight_data_types: fp4, … }
//! calibration: calibration.md
//! ```

use std::collections::BTreeMap;

use retrial_document::parse_yaml;
use retrial_document::{Diagnostic, Diagnostics, Source, suggest_nearest};
use retrial_document::{MapEntry, Node, Value};
use retrial_mlperf::rounds::SystemType;
use retrial_mlperf::submission::fields::{
    MEASUREMENT_FIELDS, NETWORK_FIELDS, POWER_FIELDS, STATUS_VALUES, SYSTEM_FIELDS,
};

/// The submitter's statements on the system.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemInfo {
    /// Fields of `systems/SYSTEM.json`.
    pub system: BTreeMap<String, String>,
    /// Fields of `measurements.json`, for all benchmarks without fields of their own.
    pub measurements: BTreeMap<String, String>,
    /// Fields of `measurements.json`, by benchmark.
    pub measurements_by_benchmark: BTreeMap<String, BTreeMap<String, String>>,
    /// The file next to this one that describes how weights were quantized.
    pub calibration: Option<String>,
    pub calibration_text: Option<String>,
}

impl SystemInfo {
    /// Parses the submitter's file on the system.
    ///
    /// # Errors
    /// All problems of it, each with its position.
    pub fn parse(source: &Source) -> Result<Self, Diagnostics> {
        let mut problems = Diagnostics::default();
        let mut info = Self::default();
        let node = parse_yaml(source, &mut problems);
        let info = node.map(|node| {
            info.read_fields(&node, &mut problems);
            info
        });
        problems.into_result(info, &source.path)
    }

    /// A field of a benchmark's `measurements.json`.
    pub fn measurement_field(&self, benchmark: &str, field: &str) -> Option<&str> {
        let own_fields = self.measurements_by_benchmark.get(benchmark);
        let own = own_fields.and_then(|fields| fields.get(field));
        own.or_else(|| self.measurements.get(field)).map(String::as_str)
    }

    fn read_fields(&mut self, node: &Node, problems: &mut Diagnostics) {
        if !matches!(node.value, Value::Map(_) | Value::Null) {
            let message = format!("{} instead of fields and their values", node.kind());
            problems.push(
                Diagnostic::error("type", message, node.span.clone())
                    .with_help("write one `field: value` per line, for example `cooling: air`"),
            );
        }
        for entry in node.entries() {
            match entry.key.as_str() {
                "measurements" => self.read_measurement_fields(&entry.value, problems),
                "calibration" => self.calibration = read_field_text(&entry.value, problems),
                _ => insert_field(&mut self.system, entry, system_fields(), problems),
            }
        }
    }

    fn read_measurement_fields(&mut self, node: &Node, problems: &mut Diagnostics) {
        for entry in node.entries() {
            let is_benchmark = matches!(entry.value.value, Value::Map(_));
            if !is_benchmark || MEASUREMENT_FIELDS.contains(&entry.key.as_str()) {
                insert_field(&mut self.measurements, entry, MEASUREMENT_FIELDS, problems);
                continue;
            }
            let own = self.measurements_by_benchmark.entry(entry.key.clone()).or_default();
            for field in entry.value.entries() {
                insert_field(own, field, MEASUREMENT_FIELDS, problems);
            }
        }
    }
}

fn system_fields() -> impl Iterator<Item = &'static str> {
    let system = SYSTEM_FIELDS.iter().map(|(field, _)| *field);
    system.chain(POWER_FIELDS).chain(NETWORK_FIELDS)
}

/// Inserts a field if its name is allowed and its value valid.
fn insert_field(
    fields: &mut BTreeMap<String, String>,
    entry: &MapEntry,
    allowed: impl IntoIterator<Item = &'static str>,
    problems: &mut Diagnostics,
) {
    let (key, node) = (entry.key.as_str(), &entry.value);
    let allowed_fields: Vec<&str> = allowed.into_iter().collect();
    if !allowed_fields.contains(&key) {
        let message = format!("MLCommons has no field `{key}`");
        let further = ["measurements", "calibration"];
        let suggestion = suggest_nearest(key, allowed_fields.into_iter().chain(further));
        problems.push(
            Diagnostic::error("unknown-key", message, entry.key_span.clone())
                .with_optional_help(suggestion),
        );
    } else if let Some(value) = read_field_text(node, problems) {
        let invalid = match key {
            "status" if !STATUS_VALUES.contains(&value.to_ascii_lowercase().as_str()) => {
                Some(format!("`{value}` is not a status: available, preview or rdi"))
            }
            "system_type" => {
                SystemType::from_description(&value).err().map(|error| error.to_string())
            }
            _ => None,
        };
        if let Some(message) = invalid {
            problems.push(Diagnostic::error("unknown-value", message, node.span.clone()));
        }
        fields.insert(key.to_owned(), value);
    }
}

/// A field's text; none for `null`.
fn read_field_text(node: &Node, problems: &mut Diagnostics) -> Option<String> {
    if node.is_null() {
        return None;
    }
    let text = node.text().map(|text| text.trim().to_owned());
    if text.is_none() {
        let message = format!("{} where a text or a number is expected", node.kind());
        problems.push(Diagnostic::error("type", message, node.span.clone()));
    }
    text.filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<SystemInfo, String> {
        SystemInfo::parse(&Source::new("info.yaml", text))
            .map_err(|problems| problems.render(false))
    }

    #[test]
    fn yaml_and_json_are_equivalent() {
        let yaml = "status: available\nhost_processors_per_node: 2\nmeasurements:\n  retraining: 'No'\n  llama2-70b-99: { weight_data_types: fp4 }\n";
        let json = r#"{"status": "available", "host_processors_per_node": 2,
            "measurements": {"retraining": "No", "llama2-70b-99": {"weight_data_types": "fp4"}}}"#;
        let info = parsed(yaml).unwrap();
        assert_eq!(info, parsed(json).unwrap());
        assert_eq!(info.system["host_processors_per_node"], "2");
        assert_eq!(info.measurement_field("llama2-70b-99", "weight_data_types"), Some("fp4"));
        assert_eq!(info.measurement_field("llama2-70b-99", "retraining"), Some("No"));
        assert_eq!(info.measurement_field("bert-99", "weight_data_types"), None);
    }

    #[test]
    fn mistakes_are_reported_with_their_position() {
        let text = "coling: air\nstatus: sold\nsystem_type: cloud\nmeasurements: { weight_data_type: fp4 }\nframework: [vllm]\n";
        let errors = parsed(text).unwrap_err();
        for part in [
            "info.yaml:1:1",
            "did you mean `cooling`?",
            "`sold` is not a status",
            "`cloud` is not a type of system",
            "did you mean `weight_data_types`?",
            "a list where a text",
        ] {
            assert!(errors.contains(part), "{part}: {errors}");
        }
    }
}
