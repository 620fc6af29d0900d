//! The modes in which a scenario is measured.

use retrial_document::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

words! {
    /// A mode of MLPerf.
    #[derive(
        Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        strum::Display, strum::EnumString,
    )]
    #[strum(serialize_all = "lowercase")]
    pub enum Mode {
        /// Throughput and latency.
        #[default]
        Performance = "performance",
        /// The quality of the answers.
        Accuracy = "accuracy",
        /// MLPerf's compliance tests, such as TEST06.
        Compliance = "compliance",
    }
}
