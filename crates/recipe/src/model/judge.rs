//! How figures are judged.

use retrial_document::{FieldType as T, object};
use serde::{Deserialize, Serialize};

object! {
    /// How figures are judged.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct JudgeRules: "the rules of judging";
    keys {
        /// How much worse still counts as reproduced; none: 5 %, or 2 % on the same system.
        margin: Option<f64> = T::Fraction,
        /// Assumed noise of one trial; none: 0.8 % for LoadGen's performance figures.
        noise: Option<f64> = T::Fraction,
        /// Confidence, one-sided.
        confidence: f64 [default = "95%"] = T::Fraction,
        /// The script is ours: the workload's own was never published.
        reimplemented: bool [default = "false"],
    }
}

impl Default for JudgeRules {
    fn default() -> Self {
        Self {
            margin: None,
            noise: None,
            confidence: 0.95,
            reimplemented: false,
        }
    }
}
