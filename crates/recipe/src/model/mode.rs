//! The modes in which a scenario is measured.

use retrial_document::words;
use schemars::JsonSchema;

words! {
    /// A mode of MLPerf.
    #[derive(Default, JsonSchema)]
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
