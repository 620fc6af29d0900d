//! Texts that may have expressions, and when these are evaluated.

use std::fmt;

use retrial_document::formats::FILLED;
use retrial_document::{Field, FieldType, Node, Scope};
use serde::{Deserialize, Serialize};

/// Expressions of commands, environment, mounts and paths: they may name the host's GPUs and the
/// models' commits in addition to the recipe's own names.
pub const RUN_SCOPE: Scope = Scope(1);

/// Expressions of a measurement: they may name its scenario, mode and trial, too.
pub const MEASUREMENT_SCOPE: Scope = Scope(2);

/// Text that may have expressions (`${{ params.x }}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Template(pub String);

impl Field for Template {
    const TYPE: FieldType = FieldType::Template(RUN_SCOPE, FILLED);

    fn from_node(node: &Node, _: &FieldType) -> Option<Self> {
        Some(Self(node.text()?.to_owned()))
    }
}

impl fmt::Display for Template {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
