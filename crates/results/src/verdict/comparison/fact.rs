//! Facts of the environment of a measurement.

use std::sync::Arc;

use retrial_document::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

words! {
    /// The kind of a fact, in the order of reports.
    #[derive(JsonSchema)]
    pub enum FactGroup {
        /// The software of the GPUs: `ROCm` in the image, drivers, frameworks, libraries.
        Stack = "stack",
        /// The image: reference, digest, labels.
        Image = "image",
        /// Packages in the container that carry no component of the stack.
        Packages = "packages",
        /// Variants, parameters and models.
        Parameters = "parameters",
        /// Environment variables of the container.
        Variables = "variables",
        /// GPUs, their drivers, power limits and modes.
        Gpus = "gpus",
        /// The machine and its engine.
        Host = "host",
        /// Settings of the machine that change what is measured.
        Settings = "settings",
        /// Telemetry of GPUs and container.
        Telemetry = "telemetry",
    }
}

impl FactGroup {
    /// Returns the heading of its facts in reports.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Gpus => "GPUs",
            group => group.word(),
        }
    }
}

/// A fact of an environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// The group that reports list it in.
    pub group: FactGroup,
    /// Its name: `kernel`, `digest`, `torch (python)`, ….
    pub what: String,
    /// The value, as text.
    pub value: String,
    /// The value as a number, where it was measured: two that lie close together are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
    /// The name of a package without the release in it, by which two releases of it are compared.
    #[serde(skip)]
    pub family: Option<String>,
    /// Whether a component is part of another package, which is a fact itself.
    #[serde(skip)]
    pub is_bundled: bool,
    /// The document whose digest it is, so that two of them can be compared.
    #[serde(skip)]
    pub document: Option<Arc<serde_json::Value>>,
}

impl Fact {
    /// Returns a fact that is one or the other.
    pub fn new(group: FactGroup, what: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            group,
            what: what.into(),
            value: value.into(),
            number: None,
            family: None,
            is_bundled: false,
            document: None,
        }
    }
}
