//! The divisions of a submission, by which rules and folders differ.

use retrial_document::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};

words! {
    /// `MLCommons`' divisions, spelled as the folders of a submission tree.
    #[derive(
        Debug,
        Clone,
        Copy,
        PartialEq,
        Eq,
        Hash,
        Serialize,
        Deserialize,
        JsonSchema,
        Display,
        EnumString,
        IntoStaticStr,
    )]
    #[strum(serialize_all = "lowercase")]
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
    pub const ALL: [Self; 3] = [Self::Closed, Self::Network, Self::Open];

    /// Returns the name of its folder.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

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
        for division in Division::ALL {
            assert_eq!(division.as_str().parse(), Ok(division));
            assert_eq!(serde_json::to_value(division).unwrap(), division.to_string());
        }
        for other in ["Closed", "clsoed", "half", ""] {
            assert!(other.parse::<Division>().is_err(), "{other}");
        }
    }
}
