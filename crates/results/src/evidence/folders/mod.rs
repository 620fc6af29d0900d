//! The results in a directory outside submission trees. Those of a recipe lie where a run or a shell
//! plan leaves them (`layout`), `LoadGen`'s anywhere (`loose`), those of endpoints (`endpoints`), and a recipe's own
//! figures in one folder (`flat`). Each of these finds trials (`found`), which are read as a run's are (`trial_files`).

mod candidates;
mod endpoints;
mod flat;
mod found;
mod gather;
mod layout;
mod loose;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use itertools::join;

pub use self::gather::gather_groups;

use super::folder;
use super::other_suite::OtherSuiteResult;
use super::result_path::ResultPath;
use super::script::{OUTPUT, TRAINING_LOGS};
use crate::verdict::Evidence;
use retrial_mlperf::ScenarioName;
use retrial_mlperf::loadgen::LoadgenRun;
use retrial_mlperf::rounds::InferenceRules;
use retrial_plan::Plan;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::Mode;

/// A directory and what is known of the results in it.
pub struct ResultsDirectory<'a> {
    /// The directory that is searched.
    pub path: &'a Path,
    /// The plan of the recipe by which results are read.
    pub plan: Option<&'a Plan>,
    /// The scenario that the user names.
    pub scenario: Option<&'a ScenarioName>,
    /// Options for judging results without a recipe.
    pub without_recipe: &'a dyn RecipelessRules,
}

/// Decides how results without a recipe are judged.
pub trait RecipelessRules {
    /// Returns the measurement of a result, by its path and its logs.
    fn plan_result(
        &self,
        scenario: &ScenarioName,
        mode: Mode,
        place: &ResultPath,
        run: &LoadgenRun,
    ) -> UnplannedResult;
}

/// The measurement that a result without a recipe is of.
pub struct UnplannedResult {
    pub measured: MeasurementPlan,
    /// The rules of its benchmark and scenario, if they are known; a test's run has none of its own.
    pub rules: Option<InferenceRules>,
    /// Why they are not known, if rules are asked for.
    pub unknown_rules: Option<String>,
}

/// Results that are judged together: a submission's on one benchmark, or all of one recipe.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultGroup {
    /// Their common folder, and what its path says.
    pub place: ResultPath,
    pub evidence: Vec<Evidence>,
    /// Remarks for the reader of the verdict.
    pub warnings: Vec<String>,
    /// The options that changed the plan of the script that left them: `--skip setup-clocks`.
    pub changing_options: Vec<String>,
}

impl ResultGroup {
    /// Returns the group that a place belongs to.
    fn find_or_add<'a>(groups: &'a mut Vec<Self>, place: &ResultPath) -> &'a mut Self {
        let same = |group: &Self| group.place.group == place.group;
        let at = groups.iter().position(same).unwrap_or_else(|| {
            groups.push(Self {
                place: place.clone(),
                evidence: Vec::new(),
                warnings: Vec::new(),
                changing_options: Vec::new(),
            });
            groups.len() - 1
        });
        &mut groups[at]
    }
}

/// Reasons why a directory has nothing to judge.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum FoldersError {
    /// It holds no result that is known without a recipe.
    #[error(
        "{} contains neither a run (plan.json) nor a result of LoadGen ({})",
        path.display(),
        folder::SUMMARY
    )]
    #[diagnostic(help("--recipe RECIPE: how to read figures of other benchmarks"))]
    NoResult {
        /// The directory that was searched.
        path: PathBuf,
    },
    /// It holds a result of a suite that is not judged.
    #[error(transparent)]
    OtherSuite(#[from] OtherSuiteResult),
    /// The recipe has no such scenario.
    #[error("{recipe} has no scenario {scenario:?}; it has {known}")]
    NoScenario {
        /// The recipe's name.
        recipe: String,
        /// The scenario that the user names.
        scenario: ScenarioName,
        /// The scenarios that it has.
        known: String,
    },
    /// It holds no result of the recipe.
    #[error(
        "{} contains none of the figures of {recipe}: {}",
        path.display(),
        list_missing(missing)
    )]
    #[diagnostic(help(
        "the output of its command is read from {OUTPUT}, training logs from {TRAINING_LOGS}"
    ))]
    NoFigure {
        /// The directory that was searched.
        path: PathBuf,
        /// The recipe's name.
        recipe: String,
        /// Why each figure is missing, by measurement and figure.
        missing: BTreeMap<String, String>,
    },
}

/// `case rate, case steps: r.json: no such file`: figures that are missing for the same reason are listed together.
fn list_missing(missing: &BTreeMap<String, String>) -> String {
    let mut figures: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, reason) in missing {
        figures.entry(reason).or_default().push(name);
    }
    let reasons = figures.iter();
    join(reasons.map(|(reason, names)| format!("{}: {reason}", names.join(", "))), "; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_are_missing_for_one_reason_share_it() {
        let missing = [("rate", "no file"), ("steps", "no match"), ("users", "no file")];
        let missing = missing.map(|(name, reason)| (name.to_owned(), reason.to_owned()));
        let listed = list_missing(&BTreeMap::from(missing));
        assert_eq!(listed, "rate, users: no file; steps: no match");
    }
}
