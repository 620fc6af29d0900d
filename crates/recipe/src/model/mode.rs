//! The modes in which a scenario is measured.

use retrial_document::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

words! {
    /// MLPerf's modes.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        strum::Display, strum::EnumString,
    )]
    #[strum(serialize_all = "lowercase")]
    pub enum Mode {
        /// How fast.
        Performance = "performance",
        /// How right.
        Accuracy = "accuracy",
        /// The audit's tests.
        Compliance = "compliance",
    }
}
