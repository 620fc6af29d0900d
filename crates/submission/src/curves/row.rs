//! Reads rows: answers of the API, the files of a workflow (`agg_bmk.json`), and those of vLLM's nightly measurements.

use std::collections::BTreeMap;

use retrial_readings::json::{UniqueValue, quote_non_finite_numbers};
use serde_json::{Map, Value};

/// What tells one configuration from another: a member's name, and what it is called in a row, the first that it has.
const MEMBERS: [(&str, &[&str]); 13] = [
    ("hardware", &["hardware", "hw", "device"]),
    ("framework", &["framework"]),
    ("model", &["model"]),
    ("precision", &["precision"]),
    ("spec_method", &["spec_method", "spec_decoding"]),
    ("tp", &["decode_tp", "tp"]),
    ("ep", &["decode_ep", "ep"]),
    ("pp", &["pp"]),
    ("dp_attention", &["decode_dp_attention", "dp_attention"]),
    ("isl", &["isl"]),
    ("osl", &["osl"]),
    ("image", &["image"]),
    ("date", &["date"]),
];

/// One published point of a curve.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedRow {
    /// Its members as text, by the names of [`member_names`].
    members: BTreeMap<&'static str, String>,
    /// Numbers by name: latencies in seconds, rates per GPU.
    metrics: BTreeMap<String, f64>,
    /// Metrics that are no numbers.
    pub(super) unreadable: Vec<String>,
    pub concurrency: f64,
    /// Whether prompts and answers are computed by different servers, or one server has several machines.
    pub is_distributed: bool,
    /// The workflow's run, as an address where it is known.
    pub run: Option<String>,
    /// How many GPUs the row itself counts.
    pub(super) stated_gpus: Option<f64>,
}

/// Why a file has no rows.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("row {row} has no `{member}`")]
    Missing { row: usize, member: &'static str },
    #[error("no row: a row is an object with `conc`, `isl`, `osl` and the figures of a point")]
    NoRows,
}

/// Returns the names of what tells one configuration from another.
pub fn member_names() -> impl Iterator<Item = &'static str> {
    MEMBERS.iter().map(|(name, _)| *name)
}

/// Reads the rows of a file; none if it has something else.
///
/// # Errors
/// If it is no JSON, or a row lacks what each has.
pub fn read_rows(text: &str) -> Result<Vec<PublishedRow>, RowsError> {
    let UniqueValue(value) = serde_json::from_slice(&quote_non_finite_numbers(text.as_bytes()))?;
    let rows = match value {
        Value::Array(rows) => rows,
        one => vec![one],
    };
    let is_row = |row: &&Value| ["conc", "isl", "osl"].iter().any(|name| row.get(name).is_some());
    if rows.is_empty() || !rows.iter().any(|row| is_row(&row)) {
        return Err(RowsError::NoRows);
    }
    let rows = rows.iter().enumerate();
    rows.map(|(at, row)| {
        PublishedRow::read(row).map_err(|member| RowsError::Missing { row: at + 1, member })
    })
    .collect()
}

impl PublishedRow {
    /// Reads a row; an error is the name of the member that it lacks.
    fn read(row: &Value) -> Result<Self, &'static str> {
        let row = row.as_object().ok_or("conc")?;
        let text = |names: &[&str]| names.iter().find_map(|name| to_text(row.get(*name)?));
        let members: BTreeMap<_, _> =
            MEMBERS.iter().filter_map(|(name, names)| Some((*name, text(names)?))).collect();
        let required = ["hardware", "model", "tp", "isl", "osl"];
        if let Some(missing) = required.into_iter().find(|name| !members.contains_key(name)) {
            return Err(missing);
        }
        let stated = row.get("metrics").and_then(Value::as_object).unwrap_or(row);
        let (metrics, unreadable) = read_metrics(stated);
        if !metrics.contains_key("tput_per_gpu") {
            return Err("tput_per_gpu");
        }
        let is_true =
            |name: &str| row.get(name).and_then(to_text).is_some_and(|text| text == "true");
        let address = text(&["run_url"]).or_else(|| {
            let id = text(&["run_id"])?;
            Some(format!("https://github.com/SemiAnalysisAI/InferenceX/actions/runs/{id}"))
        });
        Ok(Self {
            concurrency: row.get("conc").and_then(Value::as_f64).ok_or("conc")?,
            is_distributed: is_true("disagg") || is_true("is_multinode"),
            run: address,
            stated_gpus: row.get("num_decode_gpu").and_then(Value::as_f64),
            members,
            metrics,
            unreadable,
        })
    }

    pub fn member(&self, name: &str) -> Option<&str> {
        self.members.get(name).map(String::as_str)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.member(name)?.parse().ok()
    }

    pub fn metric(&self, name: &str) -> Option<f64> {
        self.metrics.get(name).copied()
    }

    pub(super) fn metrics(&self) -> impl Iterator<Item = (&str, f64)> {
        self.metrics.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Returns the GPUs of its server: the row's own count multiplies them by those that share experts.
    pub fn gpus(&self) -> Option<f64> {
        Some(self.number("tp")? * self.number("pp").unwrap_or(1.0))
    }

    /// Returns the GPU's model: `MI300X` of `mi300x`, `H200` of `h200-cw_0`, whose rest names the machine.
    pub fn gpu_model(&self) -> String {
        let hardware = self.member("hardware").unwrap_or_default();
        hardware.split(['-', '_']).next().unwrap_or_default().to_ascii_uppercase()
    }
}

fn to_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the metrics of a row, and those that are no numbers. Beside them a row may have its members, which are texts.
fn read_metrics(stated: &Map<String, Value>) -> (BTreeMap<String, f64>, Vec<String>) {
    let is_metric = |name: &str| {
        const LATENCIES: [&str; 5] = ["_ttft", "_tpot", "_itl", "_e2el", "_intvty"];
        let is_rate = name.ends_with("tput_per_gpu");
        let is_power = name.starts_with("joules_per_") || name == "avg_power_w";
        is_rate || is_power || LATENCIES.iter().any(|latency| name.ends_with(latency))
    };
    let stated = stated.iter().filter(|(name, value)| is_metric(name) && !value.is_null());
    let (numbers, others): (Vec<_>, Vec<_>) =
        stated.partition(|(_, value)| value.as_f64().is_some_and(f64::is_finite));
    let numbers =
        numbers.into_iter().filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)));
    (numbers.collect(), others.into_iter().map(|(name, _)| name.clone()).collect())
}
