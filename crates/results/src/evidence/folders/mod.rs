//! The results in a directory outside submission trees: those of `LoadGen`, wherever they lie, or the
//! own figures of a recipe.

mod loadgen;
mod own;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use self::loadgen::Reader;
use super::result_path::ResultPath;
use super::{compliance, folder};
use crate::verdict::Evidence;
use retrial_mlperf::loadgen::Run;
use retrial_mlperf::rounds::Rules;
use retrial_plan::Plan;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::Mode;

/// The file with the output of a step that Retrial did not run.
pub const OUTPUT: &str = "output.log";
/// The files with the logs of a submission's runs, as MLCommons names them.
pub const TRAINING_LOGS: &str = "result_*.txt";

/// The folder of a power measurement's ranging run.
const RANGING: &str = "ranging";

/// A directory and what is known of the results in it.
pub struct ResultsDirectory<'a> {
    /// The directory.
    pub path: &'a Path,
    /// The plan of the recipe by which results are read.
    pub plan: Option<&'a Plan>,
    /// The scenario that the user names.
    pub scenario: Option<&'a str>,
    /// What holds for results of no recipe.
    pub without_recipe: &'a dyn WithoutRecipe,
}

/// How results of no recipe are judged.
pub trait WithoutRecipe {
    /// The measurement of a result.
    fn measurement(
        &self,
        scenario: &str,
        mode: Mode,
        place: &ResultPath,
        run: &Run,
    ) -> MeasurementPlan;

    /// The rules for a result of a scenario, if they are known.
    fn rules(&self, scenario: &str, place: &ResultPath, run: &Run) -> Option<Rules>;
}

/// Results that are judged together: a submission's on one benchmark, or all of one recipe.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Their common folder, and what its path says.
    pub place: ResultPath,
    /// The evidence in their files.
    pub evidence: Vec<Evidence>,
    /// What a reader of the verdict must know besides.
    pub warnings: Vec<String>,
}

/// Why a directory has nothing to judge.
#[derive(Debug, thiserror::Error)]
pub enum FoldersError {
    /// A result cannot be read.
    #[error("{}: {source}", path.display())]
    Result {
        /// Its folder.
        path: PathBuf,
        /// Why.
        source: folder::FolderError,
    },
    /// It holds no result that is known without a recipe.
    #[error(
        "{} contains neither a run (plan.json) nor a result of LoadGen ({})\n  \
         --recipe RECIPE: how to read figures of other benchmarks",
        path.display(),
        folder::SUMMARY
    )]
    NoResult {
        /// The directory.
        path: PathBuf,
    },
    /// It holds no result of the recipe.
    #[error(
        "{} contains none of the figures of {recipe}\n  the output of its command is read from \
         {OUTPUT}, training logs from {TRAINING_LOGS}",
        path.display()
    )]
    NoFigure {
        /// The directory.
        path: PathBuf,
        /// The recipe.
        recipe: String,
    },
}

/// The evidence of every result in or below a directory, grouped for judging.
///
/// # Errors
/// If there is none, or one cannot be read.
pub fn gather(results: &ResultsDirectory<'_>) -> Result<Vec<Group>, FoldersError> {
    let directory = results.path;
    let mut folders = folder::find_all(directory);
    // A power measurement's first run finds the meter's range, and is no trial of the result.
    folders.retain(|path| path.file_name() != Some(OsStr::new(RANGING)));
    let tests = compliance::find_all(directory);
    if folders.is_empty() && tests.is_empty() {
        return match results.plan {
            Some(plan) => Ok(vec![own::gather(results, plan)?]),
            None => Err(FoldersError::NoResult {
                path: directory.to_owned(),
            }),
        };
    }
    let full = directory
        .canonicalize()
        .unwrap_or_else(|_| directory.to_owned());
    let reader = Reader { results };
    let mut groups: Vec<Group> = Vec::new();
    for relative in &folders {
        let place = reader.place(&full, relative);
        let group = group(&mut groups, &place);
        reader.add(&mut group.evidence, relative, &place)?;
    }
    for relative in &tests {
        let place = reader.place(&full, relative);
        if let Some((test, folder)) = &place.test {
            let group = group(&mut groups, &place);
            reader.verify(&mut group.evidence, (*test, folder), relative, &place);
        }
    }
    Ok(groups)
}

/// The group that a place belongs to.
fn group<'g>(groups: &'g mut Vec<Group>, place: &ResultPath) -> &'g mut Group {
    let same = |group: &Group| group.place.group == place.group;
    let at = groups.iter().position(same).unwrap_or_else(|| {
        groups.push(Group {
            place: place.clone(),
            evidence: Vec::new(),
            warnings: Vec::new(),
        });
        groups.len() - 1
    });
    &mut groups[at]
}
