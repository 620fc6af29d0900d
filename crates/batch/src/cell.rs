//! Cells of a batch, and combinations that are not run.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::NamedValues;
use retrial_mlperf::ScenarioName;
use retrial_recipe::ParamSetting;
use retrial_recipe::model::Mode;

/// One recipe with one value of each axis, and all that its plan needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// `rocm=7.1.1,backend=migraphx`; with several recipes, `bert,rocm=7.1.1,backend=migraphx`.
    pub name: String,
    /// The recipe's short name in this batch.
    pub recipe: String,
    /// The recipe as `retrial run` takes it: a built-in name or a path.
    pub path: String,
    /// The values of the axes, variants, params and images, in order, or their names.
    pub axes: NamedValues,
    /// The value that the recipe is given for an axis whose value is a name: an image.
    #[serde(default, skip_serializing_if = "NamedValues::is_empty")]
    pub named: NamedValues,
    /// Variants and params that have the same value in all cells.
    pub set: NamedValues,
    /// Only these scenarios; all if empty.
    pub scenarios: Vec<ScenarioName>,
    /// Only these modes; all if empty. A trial run has the modes that its trial measures.
    pub modes: Vec<Mode>,
    /// The number of trials, each a run of its own; none of a cell that another host measured.
    pub trials: u32,
    /// The name in `others` of the host that measured it; none for a cell that is run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<String>,
    /// The cell that it is compared with, by name; none for that one itself, and without a baseline.
    pub baseline: Option<String>,
}

impl Cell {
    /// Returns the settings with which its recipe is resolved.
    pub fn recipe_settings(&self) -> Vec<ParamSetting> {
        let axes = self.axes.iter();
        let given = axes.map(|(name, value)| (name, self.named.get(name).unwrap_or(value)));
        let settings = self.set.iter().chain(given);
        settings.map(|(name, value)| ParamSetting::new(name, value)).collect()
    }
}

/// A combination that is not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ExcludedCell {
    /// Its name, formed as a cell's.
    pub name: String,
    /// The recipe's short name in this batch.
    pub recipe: String,
    /// The values of the axes.
    pub axes: NamedValues,
    /// Why it is not run.
    pub reason: ExclusionReason,
}

/// Why a combination is not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExclusionReason {
    /// The batch's own `exclude` matches it.
    Excluded {
        /// The reason that the batch states.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The recipe does not have the value.
    NoSuchValue {
        /// The recipe's short name.
        recipe: String,
        /// The axis of the batch.
        name: String,
        /// The value that the recipe does not have.
        value: String,
    },
    /// The recipe says that the combination is unsupported.
    Unsupported {
        /// The reason that the recipe states.
        reason: String,
    },
}

impl fmt::Display for ExclusionReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Excluded { reason: None } => formatter.write_str("excluded"),
            Self::Excluded { reason: Some(reason) } => write!(formatter, "excluded: {reason}"),
            Self::NoSuchValue { recipe, name, value } => {
                write!(formatter, "{recipe} has no {name}={value}")
            }
            Self::Unsupported { reason } => formatter.write_str(reason),
        }
    }
}
