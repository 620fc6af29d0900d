//! Reads tables of results, whose columns have had several names over the rounds.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::result::{PublishedResult, parse_unit};
use crate::evidence::tree::accelerators::Accelerators;
use retrial_store::StoreError;

/// Reasons why a table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// It cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It is neither JSON nor CSV.
    #[error("{path}: it is neither JSON nor CSV: {reason}", path = path.display())]
    NoTable {
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
    #[error(
        "{path}: it has no row with a benchmark, a scenario and a result; a table of results is \
         summary_results.json of MLCommons, the CSV of its checker, or the output of `judge --output json`",
        path = path.display()
    )]
    NoRows { path: PathBuf },
}

/// Reads the rows of a table, whatever its form.
pub(crate) fn parse_rows(bytes: &[u8], path: &Path) -> Result<Vec<PublishedResult>, TableError> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let no_table = |reason| TableError::NoTable { path: path.to_owned(), reason };
    let rows = if matches!(first, Some(b'[' | b'{')) {
        let value = serde_json::from_slice(bytes).map_err(|error| no_table(error.to_string()))?;
        rows_of_json(&value)
    } else {
        rows_of_csv(bytes).map_err(|error| no_table(error.to_string()))?
    };
    if rows.is_empty() {
        return Err(TableError::NoRows { path: path.to_owned() });
    }
    Ok(rows)
}

fn rows_of_json(value: &Value) -> Vec<PublishedResult> {
    match value {
        Value::Array(rows) => rows.iter().flat_map(rows_of_json).collect(),
        Value::Object(row) => row_of_object(row).map_or_else(
            || row.values().filter(|value| !value.is_string()).flat_map(rows_of_json).collect(),
            |row| vec![row],
        ),
        _ => Vec::new(),
    }
}

fn row_of_object(object: &Map<String, Value>) -> Option<PublishedResult> {
    if object.contains_key("deciding") {
        return row_of_judged_result(object);
    }
    let text = |names: &[&str]| -> Option<String> {
        let value = names.iter().find_map(|name| object.get(*name))?;
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(truth) => Some(truth.to_string()),
            _ => None,
        }
    };
    row_of_columns(&text)
}

fn rows_of_csv(bytes: &[u8]) -> Result<Vec<PublishedResult>, csv::Error> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let heads = reader.headers()?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record?;
        let text = |names: &[&str]| -> Option<String> {
            let column =
                names.iter().find_map(|name| heads.iter().position(|head| head == *name))?;
            record.get(column).map(str::to_owned)
        };
        rows.extend(row_of_columns(&text));
    }
    Ok(rows)
}

/// Returns a row by its columns; a row of power is no result of its own.
fn row_of_columns(text: &dyn Fn(&[&str]) -> Option<String>) -> Option<PublishedResult> {
    let unit = parse_unit(&text(&["Performance_Units", "Units"])?);
    if matches!(unit.as_str(), "watts" | "millijoules") {
        return None;
    }
    let scenario = text(&["Scenario"])?.into();
    let is_set = |names: &[&str]| {
        let stated = text(names).unwrap_or_default().to_lowercase();
        !matches!(stated.trim(), "" | "0" | "false")
    };
    Some(PublishedResult {
        id: text(&["ID", "Public ID"]),
        division: text(&["Category", "Division"]).map(|name| name.to_lowercase()),
        submitter: text(&["Submitter", "Organization"]),
        platform: text(&["Platform"]),
        system: text(&["System", "SystemName"]),
        benchmark: text(&["UsedModel"]).or_else(|| text(&["Model"]))?,
        official: text(&["MlperfModel"]).or_else(|| text(&["Model"])),
        value: text(&["Performance_Result", "Result"])?.trim().parse().ok()?,
        accuracy: text(&["Accuracy"]),
        location: text(&["Location"]),
        round: text(&["version"]),
        details: text(&["Details"]),
        accelerators: accelerators_of_columns(text),
        availability: text(&["Availability"]).map(|word| word.to_lowercase()),
        software: text(&["Software", "framework"]).filter(|software| !software.is_empty()),
        is_inferred: is_set(&["inferred"]),
        has_errors: is_set(&["errors"]),
        scenario,
        unit,
    })
}

/// Returns the accelerators of a row, whose columns are those of the system's description by other names.
fn accelerators_of_columns(text: &dyn Fn(&[&str]) -> Option<String>) -> Option<Accelerators> {
    let columns = [
        ("accelerator_model_name", "Accelerator"),
        ("accelerators_per_node", "a#"),
        ("number_of_nodes", "Nodes"),
    ];
    let description = columns.into_iter().filter_map(|(described, column)| {
        Some((described.to_owned(), Value::String(text(&[described, column])?)))
    });
    Accelerators::from_description(&description.collect())
}

/// Returns a performance result in the form of `judge --output json`.
fn row_of_judged_result(object: &Map<String, Value>) -> Option<PublishedResult> {
    let text = |name: &str| object.get(name)?.as_str().map(str::to_owned);
    if text("mode")? != "performance" {
        return None;
    }
    let figure = object.get("figures")?.get(object.get("deciding")?.as_str()?)?;
    let benchmark = text("benchmark")?;
    Some(PublishedResult {
        division: text("division"),
        submitter: text("submitter"),
        platform: text("system"),
        official: Some(benchmark.clone()),
        benchmark,
        scenario: text("scenario")?.into(),
        value: figure.get("value")?.as_f64()?,
        unit: figure.get("unit").and_then(Value::as_str).unwrap_or_default().to_owned(),
        location: text("path"),
        ..PublishedResult::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<PublishedResult> {
        parse_rows(text.as_bytes(), Path::new("table")).unwrap()
    }

    #[test]
    fn tables_of_all_rounds_and_our_own_columns_are_read() {
        let published = r#"[{"ID": "5.1-0001", "Submitter": "AMD", "Category": "closed", "Platform": "8xMI300X",
            "System": "Server 8125", "UsedModel": "llama2-70b-99", "Model": "llama2-70b-99", "Scenario": "Interactive",
            "Performance_Result": 8840.42, "Performance_Units": "Tokens/s", "Location": "closed/AMD"}]"#;
        let csv = "Organization,Division,Platform,Model,MlperfModel,Scenario,Result,Units\n\
            AMD,closed,8xMI300X,llama2-70b-99,llama2-70b-99,Interactive,8840.42,Queries/s\n\
            AMD,closed,8xMI300X,llama2-70b-99,llama2-70b-99,Interactive,5000,Watts\n";
        let ours = r#"{"results": [{"submitter": "AMD", "division": "closed", "system": "8xMI300X", "mode": "performance",
            "benchmark": "llama2-70b-99", "scenario": "Interactive", "deciding": "completed_tokens_per_second",
            "figures": {"completed_tokens_per_second": {"value": 8840.42, "unit": "tokens/s"}}}]}"#;
        for text in [published, csv, ours] {
            let rows = read(text);
            assert_eq!(rows.len(), 1, "{text}");
            assert_eq!(rows[0].submitter.as_deref(), Some("AMD"));
            assert!(rows[0].is_of_system("8xMI300X"));
            assert!((rows[0].value - 8840.42).abs() < 1e-9);
            assert!(rows[0].unit.ends_with("/s"));
        }
        assert_eq!(read(published)[0].describe_source("table"), "5.1-0001");
    }

    #[test]
    fn accelerators_and_marks_are_read_by_the_names_of_each_round() {
        let list = r#"[{"ID": "6.0-0001", "UsedModel": "m", "Scenario": "Offline", "Performance_Result": 1,
            "Performance_Units": "Tokens/s", "Accelerator": "AMD Instinct MI355X 288GB HBM3e (x87)", "a#": 8, "Nodes": 11,
            "Availability": "preview", "Software": "ROCm 7", "inferred": 1, "errors": 0}]"#;
        let by_number = r#"{"0": {"Model": "m", "Scenario": "Offline", "Result": 1, "Units": "Tokens/s",
            "accelerator_model_name": "AMD Instinct MI355X 288GB HBM3e", "accelerators_per_node": 87, "number_of_nodes": 1,
            "Availability": "preview", "framework": "ROCm 7", "inferred": true, "errors": 0}}"#;
        let csv = "Model,Scenario,Result,Units,accelerator_model_name,accelerators_per_node,Availability,framework,inferred,errors\n\
            m,Offline,1,Tokens/s,AMD Instinct MI355X,87,preview,ROCm 7,1,0\n";
        for text in [list, by_number, csv] {
            let [row] = &read(text)[..] else { panic!("{text}") };
            let accelerators = row.accelerators.as_ref().unwrap();
            assert_eq!(accelerators.format_count_and_models(), "87 x MI355X", "{text}");
            assert_eq!(row.availability.as_deref(), Some("preview"));
            assert_eq!(row.software.as_deref(), Some("ROCm 7"));
            assert!(row.is_inferred && !row.has_errors, "{text}");
        }
        let wrong = list.replace(r#""errors": 0"#, r#""errors": 1"#);
        assert!(read(&wrong)[0].has_errors);
    }

    #[test]
    fn an_invalid_table_is_refused() {
        for text in ["", "{", "[1, 2]", "a,b\n1,2\n"] {
            assert!(parse_rows(text.as_bytes(), Path::new("table")).is_err(), "{text}");
        }
    }
}
