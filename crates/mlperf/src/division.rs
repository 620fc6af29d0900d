//! The divisions of a submission, by which rules and folders differ.

use retrial_document::words;
use schemars::JsonSchema;

words! {
    /// `MLCommons`' divisions, spelled as the folders of a submission tree.
    #[derive(JsonSchema)]
    #[schemars(inline, with = "String")]
    pub enum Division {
        /// The benchmark's own model and rules.
        Closed = "closed",
        /// Another model or other rules.
        Open = "open",
        /// Closed, with queries over a network.
        Network = "network",
    }
}

impl Division {
    /// All divisions, in the order of their folders' names.
    pub const BY_NAME: [Self; 3] = [Self::Closed, Self::Network, Self::Open];

    /// Returns whether `MLPerf` Training has it, too: only Inference has queries over a network.
    pub fn is_of_training(self) -> bool {
        self != Self::Network
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_division_is_read_by_its_folders_name_only() {
        for division in Division::BY_NAME {
            assert_eq!(division.word().parse(), Ok(division));
            assert_eq!(serde_json::to_value(division).unwrap(), division.to_string());
        }
        for other in ["Closed", "clsoed", "half", ""] {
            assert!(other.parse::<Division>().is_err(), "{other}");
        }
    }
}
