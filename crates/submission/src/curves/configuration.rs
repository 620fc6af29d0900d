//! Configurations of srt-slurm, schema 2: the servers that were started, and the loads that each had.

use json_patch::merge;
use serde_json::{Map, Value};

/// The keys that make variants of a `base`.
const OVERRIDE: &str = "override_";
const ZIP_OVERRIDE: &str = "zip_override_";

/// What a configuration file starts.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// What it is called in messages.
    pub name: String,
    pub(super) jobs: Vec<Job>,
}

/// One server, and the concurrency of its load.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub settings: Value,
    pub concurrency: f64,
}

/// Why a file is no configuration that can be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurationError {
    #[error("not YAML: {0}")]
    Yaml(#[from] Box<serde_saphyr::Error>),
    #[error("not a configuration of srt-slurm: `schema: 2` is missing")]
    OtherSchema,
    #[error("{variant} has lists of different lengths: {lengths}")]
    Lengths { variant: String, lengths: String },
    #[error("{0} states no concurrency: `benchmark.env.CONC`")]
    NoConcurrency(String),
}

impl Configuration {
    /// Reads a file with all its variants.
    ///
    /// # Errors
    /// If it is no configuration of schema 2, or a variant cannot be made.
    pub fn read(name: &str, text: &str) -> Result<Self, ConfigurationError> {
        let document: Value = serde_saphyr::from_str(text).map_err(Box::new)?;
        let base = document.get("base").unwrap_or(&document);
        if base.get("schema").and_then(Value::as_u64) != Some(2) {
            return Err(ConfigurationError::OtherSchema);
        }
        let mut variants: Vec<(&str, Value)> = Vec::new();
        for (key, changes) in document.as_object().into_iter().flatten() {
            let changed = |changes: &Value| {
                let mut variant = base.clone();
                merge(&mut variant, changes);
                variant
            };
            if key.starts_with(ZIP_OVERRIDE) {
                let count = count_variants(key, changes)?;
                let slices = (0..count).map(|at| (key.as_str(), changed(&slice(changes, at))));
                variants.extend(slices);
            } else if key.starts_with(OVERRIDE) {
                variants.push((key, changed(changes)));
            }
        }
        if variants.is_empty() {
            variants.push(("base", base.clone()));
        }
        let jobs = variants.into_iter().map(|(variant, settings)| {
            let stated = settings.pointer("/benchmark/env/CONC").and_then(to_word);
            let concurrency = stated.and_then(|text| text.parse().ok());
            let missing = || ConfigurationError::NoConcurrency(variant.to_owned());
            Ok(Job { concurrency: concurrency.ok_or_else(missing)?, settings })
        });
        Ok(Self { name: name.to_owned(), jobs: jobs.collect::<Result<_, ConfigurationError>>()? })
    }
}

/// Returns the variants of lists that belong together: each of one item, or of as many as the others.
fn count_variants(variant: &str, changes: &Value) -> Result<usize, ConfigurationError> {
    let mut lengths = Vec::new();
    collect_lengths(changes, &mut lengths);
    let longest = lengths.iter().copied().max().unwrap_or(1);
    if lengths.iter().all(|length| *length == 1 || *length == longest) {
        return Ok(longest);
    }
    let lengths: Vec<String> = lengths.iter().map(usize::to_string).collect();
    Err(ConfigurationError::Lengths { variant: variant.to_owned(), lengths: lengths.join(", ") })
}

fn collect_lengths(value: &Value, lengths: &mut Vec<usize>) {
    match value {
        Value::Array(items) => lengths.push(items.len()),
        Value::Object(members) => members.values().for_each(|one| collect_lengths(one, lengths)),
        _ => {}
    }
}

/// Returns the values of one variant: those of lists at its place.
fn slice(changes: &Value, at: usize) -> Value {
    match changes {
        Value::Array(items) => {
            let own = if items.len() == 1 { items.first() } else { items.get(at) };
            own.cloned().unwrap_or_default()
        }
        Value::Object(members) => {
            let sliced = members.iter().map(|(key, value)| (key.clone(), slice(value, at)));
            Value::Object(sliced.collect::<Map<_, _>>())
        }
        scalar => scalar.clone(),
    }
}

/// Returns a scalar as a word of a command.
pub(super) fn to_word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

impl Job {
    /// Returns a setting as text, by its JSON pointer.
    pub fn text(&self, place: &str) -> Option<String> {
        to_word(self.settings.pointer(place)?)
    }
}
