//! What a machine answers: one line that is short enough to arrive whole among the lines of others, and a
//! file in the directory that all machines share.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::host::checks::Check;
use crate::run::nodes::{Facts, is_name};

/// What a machine prints.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answer {
    /// Its name.
    pub name: String,
    /// What it is.
    pub facts: Facts,
    /// What its clock shows.
    pub time: Timestamp,
}

/// What it writes into the directory.
#[derive(Debug, Serialize, Deserialize)]
pub struct Examined {
    /// The checks of the recipe.
    pub checks: Vec<Check>,
}

impl Answer {
    /// Reads a line; none if it is another program's.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        let answer: Self = serde_json::from_str(line).ok()?;
        is_name(&answer.name).then_some(answer)
    }
}

/// A machine's file in the directory.
#[must_use]
pub fn file(name: &str) -> String {
    format!("{name}.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_other_programs_are_passed_over() {
        let line = |name: &str| {
            let facts = Facts {
                tool: "1".to_owned(),
                nonce: None,
                gpus: 8,
                models: vec!["MI355X".to_owned()],
                driver: None,
                rocm: None,
            };
            let name = name.to_owned();
            let time = Timestamp::UNIX_EPOCH;
            serde_json::to_string(&Answer { name, facts, time }).unwrap()
        };
        assert_eq!(
            Answer::read(&line("n1")).map(|answer| answer.name),
            Some("n1".to_owned())
        );
        assert!(Answer::read(&line("../n1")).is_none());
        assert!(Answer::read("Loading rocm/7.1").is_none());
    }
}
