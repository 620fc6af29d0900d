//! The name of a scenario: one of `MLPerf`'s, or any other that a recipe defines.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::loadgen::TestScenario;

/// A scenario's name as it is written. Names are the same whatever their case and without `-` and `_`:
/// `single-stream` is `SingleStream`.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct ScenarioName(String);

impl ScenarioName {
    /// Returns the name as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the scenario of MLPerf that is spelled so, in any case.
    pub fn test_scenario(&self) -> Option<TestScenario> {
        TestScenario::from_word(&self.0)
    }
}

/// Returns the characters that distinguish a name from others.
fn fold_name(name: &str) -> impl Iterator<Item = char> {
    let characters = name.chars().filter(|character| !"-_".contains(*character));
    characters.flat_map(char::to_lowercase)
}

impl PartialEq for ScenarioName {
    fn eq(&self, other: &Self) -> bool {
        *self == *other.0
    }
}

impl Eq for ScenarioName {}

impl PartialEq<str> for ScenarioName {
    fn eq(&self, other: &str) -> bool {
        fold_name(&self.0).eq(fold_name(other))
    }
}

impl PartialEq<&str> for ScenarioName {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl PartialOrd for ScenarioName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ScenarioName {
    fn cmp(&self, other: &Self) -> Ordering {
        fold_name(&self.0).cmp(fold_name(&other.0))
    }
}

impl Hash for ScenarioName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for character in fold_name(&self.0) {
            character.hash(state);
        }
    }
}

impl Deref for ScenarioName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ScenarioName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}

impl fmt::Display for ScenarioName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl From<&str> for ScenarioName {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl From<String> for ScenarioName {
    fn from(name: String) -> Self {
        Self(name)
    }
}

impl From<TestScenario> for ScenarioName {
    fn from(scenario: TestScenario) -> Self {
        Self::from(scenario.word())
    }
}

impl FromStr for ScenarioName {
    type Err = std::convert::Infallible;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Ok(Self::from(name))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_the_same_in_any_case_and_printed_as_written() {
        let spellings = ["SingleStream", "single-stream", "SINGLE_STREAM"].map(ScenarioName::from);
        let unique: HashSet<&ScenarioName> = spellings.iter().collect();
        assert_eq!(unique.len(), 1);
        assert!(spellings.iter().all(|name| *name == spellings[0]));
        assert!(spellings.iter().all(|name| name.cmp(&spellings[0]) == Ordering::Equal));
        assert_ne!(spellings[0], "MultiStream");
        assert_eq!(spellings[1].to_string(), "single-stream");
        let stored = serde_json::to_value(&spellings[2]).unwrap();
        assert_eq!(stored, "SINGLE_STREAM");
    }

    #[test]
    fn only_names_of_mlperf_are_its_scenarios() {
        let of = |name: &str| ScenarioName::from(name).test_scenario();
        assert_eq!(of("offline"), Some(TestScenario::Offline));
        assert_eq!(of("sorting"), None);
    }
}
