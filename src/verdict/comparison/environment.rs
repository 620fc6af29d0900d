//! What differs between the places where the subjects were measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Subject;

/// One fact of every subject's environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentFact {
    /// What it is: `kernel`, `image digest`, ….
    pub what: String,
    /// Of each subject, in their order; none where it is not known.
    pub values: Vec<Option<String>>,
    /// They are not all alike.
    pub differs: bool,
}

/// Every fact that is known of any subject, in the order in which they tell them.
pub(super) fn facts(subjects: &[Subject]) -> Vec<EnvironmentFact> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in subjects.iter().flat_map(|subject| &subject.environment) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let fact = |name: &str| {
        let of = |subject: &Subject| {
            let mut facts = subject.environment.iter();
            facts
                .find(|(what, _)| what == name)
                .map(|(_, value)| value.clone())
        };
        let values: Vec<Option<String>> = subjects.iter().map(of).collect();
        EnvironmentFact {
            what: name.to_owned(),
            differs: values.windows(2).any(|pair| pair[0] != pair[1]),
            values,
        }
    };
    names.into_iter().map(fact).collect()
}
