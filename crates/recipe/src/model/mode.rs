//! The modes in which a scenario is measured.

use retrial_document::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

words! {
    /// A mode of MLPerf.
    #[derive(
        Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        strum::Display, strum::EnumString,
    )]
    #[strum(serialize_all = "lowercase")]
    pub enum Mode {
        /// Performance.
        Performance = "performance",
        /// Accuracy.
        Accuracy = "accuracy",
        /// The compliance tests.
        Compliance = "compliance",
    }
}
