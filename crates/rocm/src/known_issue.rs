//! Known issues of releases: what AMD's trackers say to set or to call instead.

use std::fmt;

use serde::Deserialize;

use crate::range::ReleaseRange;
use crate::release::RocmRelease;

/// A fault of releases, with its remedy.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownIssue {
    /// The number in a tracker: `TheRock#8792`.
    pub id: String,
    pub link: String,
    pub releases: ReleaseRange,
    /// Targets of GPUs; none: all.
    #[serde(default)]
    pub targets: Vec<String>,
    /// The fewest GPUs of one run that show it.
    #[serde(default = "one")]
    pub gpus: usize,
    /// The Python package that is affected, if it is only one.
    pub package: Option<String>,
    pub reason: String,
    pub remedy: Remedy,
}

/// What avoids an issue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Remedy {
    /// A variable of the container.
    Variable { name: String, value: String },
    /// Another program in place of one that the release does not have.
    Program { missing: String, instead: String },
}

/// What a recipe does, as far as issues depend on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecipeUse<'a> {
    /// Names of the variables of its container and its commands.
    pub variables: Vec<&'a str>,
    pub commands: Vec<&'a str>,
}

impl KnownIssue {
    /// Returns whether a release has it on one of these GPU targets. A patch that the release does not state does
    /// not exclude it.
    pub fn affects(&self, release: &RocmRelease, targets: &[&str]) -> bool {
        let is_target = |target: &String| targets.contains(&target.as_str());
        let has_target = self.targets.is_empty() || self.targets.iter().any(is_target);
        has_target && self.releases.contains(release) != Some(false)
    }

    /// Returns whether a recipe on that many GPUs meets it. `packages` are those of Python; none: not known.
    pub fn concerns(&self, recipe: &RecipeUse<'_>, gpus: usize, packages: &[&str]) -> bool {
        let has_package = |name: &String| packages.is_empty() || packages.contains(&name.as_str());
        gpus >= self.gpus
            && self.package.as_ref().is_none_or(has_package)
            && match &self.remedy {
                Remedy::Variable { name, .. } => !recipe.variables.contains(&name.as_str()),
                Remedy::Program { missing, .. } => {
                    recipe.commands.iter().any(|command| has_word(command, missing))
                }
            }
    }
}

fn has_word(command: &str, word: &str) -> bool {
    let is_within = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    command.split(|letter: char| !is_within(letter)).any(|other| other == word)
}

/// `an all-reduce by the protocol LL returns wrong sums (TheRock#8792)`
impl fmt::Display for KnownIssue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.reason, self.id)
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable { name, value } => {
                write!(formatter, "set {name}={value} in the container's `env`")
            }
            Self::Program { missing, instead } => {
                write!(formatter, "call {instead} in place of {missing}")
            }
        }
    }
}

fn one() -> usize {
    1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ReleaseTable;

    fn is_concerned(id: &str, recipe: &RecipeUse<'_>, gpus: usize, packages: &[&str]) -> bool {
        let release = "10.1.0".parse().unwrap();
        let old = "10.0.0".parse().unwrap();
        let targets = ["gfx950", "gfx1100"];
        let table = ReleaseTable::built_in();
        let mut issues = table.known_issues(&release, &targets);
        let issue = issues.find(|issue| issue.id == id);
        let issue =
            issue.or_else(|| table.known_issues(&old, &targets).find(|issue| issue.id == id));
        issue.unwrap().concerns(recipe, gpus, packages)
    }

    #[test]
    fn a_recipe_that_sets_the_variable_is_not_concerned() {
        let plain = RecipeUse::default();
        let set = RecipeUse { variables: vec!["NCCL_PROTO"], ..RecipeUse::default() };
        let id = "TheRock#8792";
        let concerned = [&plain, &set].map(|recipe| is_concerned(id, recipe, 8, &[]));
        assert_eq!(concerned, [true, false]);
        assert!(!is_concerned(id, &plain, 1, &[]));
        assert!(is_concerned("TheRock#7699", &plain, 1, &["torch"]));
        assert!(!is_concerned("TheRock#7699", &plain, 1, &["jax"]));
    }

    #[test]
    fn a_missing_program_concerns_only_recipes_that_call_it() {
        let calls = |command| RecipeUse { commands: vec![command], ..RecipeUse::default() };
        let concerned = ["sudo rocm-smi --showuse", "amd-smi; x_rocm-smi-lib", ""]
            .map(|command| is_concerned("TheRock#6852", &calls(command), 1, &[]));
        assert_eq!(concerned, [true, false, false]);
    }
}
