//! The results in a directory outside submission trees. Those of a recipe lie where a run or a shell
//! plan leaves them ([`layout`]), `LoadGen`'s anywhere ([`loose`]), and a recipe's own figures in one
//! folder ([`flat`]). Each trial is read as a run's is (`trial_files`).

mod flat;
mod layout;
mod loose;
mod script;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use itertools::{Itertools as _, join};

use self::layout::{LaidOut, Measurements};
use self::loose::Reader;
use super::result_path::ResultPath;
use super::trials::complete;
use super::{compliance, folder};
use crate::verdict::Evidence;
use retrial_mlperf::loadgen::Run;
use retrial_mlperf::rounds::Rules;
use retrial_plan::Plan;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::Mode;

/// The file with the output of a command that Retrial did not run.
pub const OUTPUT: &str = "output.log";
/// The file with the output of a check that Retrial did not run.
pub const CHECK_OUTPUT: &str = "check.log";
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
        "{} contains none of the figures of {recipe}{}\n  the output of its command is read from \
         {OUTPUT}, training logs from {TRAINING_LOGS}",
        path.display(),
        listed(missing)
    )]
    NoFigure {
        /// The directory.
        path: PathBuf,
        /// The recipe.
        recipe: String,
        /// Why each figure is missing, by measurement and figure.
        missing: BTreeMap<String, String>,
    },
}

fn listed(missing: &BTreeMap<String, String>) -> String {
    let lines = missing.iter();
    join(
        lines.map(|(name, reason)| format!("\n  {name}: {reason}")),
        "",
    )
}

/// The evidence of every result in or below a directory, grouped for judging. What cannot be read is
/// recorded in the evidence, and stops nothing else.
///
/// # Errors
/// If there is no result.
pub fn gather(results: &ResultsDirectory<'_>) -> Result<Vec<Group>, FoldersError> {
    let directory = results
        .path
        .canonicalize()
        .unwrap_or_else(|_| results.path.to_owned());
    let mut summaries = folder::find_all(&directory);
    // A power measurement's first run finds the meter's range, and is no trial of the result.
    summaries.retain(|path| path.file_name() != Some(OsStr::new(RANGING)));
    let mut tests = compliance::find_all(&directory);
    let reader = Reader {
        results,
        directory: &directory,
    };
    let mut groups: Vec<Group> = Vec::new();
    if let Some(measurements) = results.measurements() {
        if !measurements.wanted().any(|one| one.loadgen) {
            // Logs of LoadGen are then no results, only files of them.
            summaries.clear();
            tests.clear();
        }
        let places = summaries.iter().map(|relative| reader.place(relative));
        let roots = places.map(|place| place.group);
        for found in laid_out(&directory, &measurements, roots) {
            let is_read = |relative: &PathBuf| {
                let path = directory.join(relative);
                let mut folders = found.folders.iter();
                folders.any(|folder| path.starts_with(folder))
            };
            summaries.retain(|relative| !is_read(relative));
            tests.retain(|relative| !is_read(relative));
            let place = ResultPath::of_group(&found.root);
            group(&mut groups, &place).evidence.extend(found.evidence);
        }
    }
    for relative in &summaries {
        let place = reader.place(relative);
        let group = group(&mut groups, &place);
        reader.add(&mut group.evidence, relative, &place);
    }
    for relative in &tests {
        let place = reader.place(relative);
        if let Some((test, folder)) = &place.test {
            let group = group(&mut groups, &place);
            reader.verify(&mut group.evidence, (*test, folder), relative, &place);
        }
    }
    match results.measurements() {
        Some(measurements) => {
            with_own_figures(&directory, &measurements, &mut groups);
            if groups.is_empty() {
                return Err(FoldersError::NoFigure {
                    path: results.path.to_owned(),
                    recipe: measurements.plan.recipe.clone(),
                    missing: flat::missing(&directory, &measurements),
                });
            }
        }
        None if groups.is_empty() => {
            let path = results.path.to_owned();
            return Err(FoldersError::NoResult { path });
        }
        None => {}
    }
    let evidence = groups.iter_mut().flat_map(|group| &mut group.evidence);
    evidence.for_each(complete);
    Ok(groups)
}

impl ResultsDirectory<'_> {
    fn measurements(&self) -> Option<Measurements<'_>> {
        self.plan.map(|plan| Measurements {
            plan,
            scenario: self.scenario,
        })
    }
}

/// The results in folders of their own: around the directory, and in each folder of a submission.
fn laid_out(
    directory: &Path,
    measurements: &Measurements<'_>,
    roots: impl Iterator<Item = PathBuf>,
) -> Vec<LaidOut> {
    let mut found: Vec<LaidOut> = layout::around(directory, measurements)
        .into_iter()
        .collect();
    for root in roots.unique() {
        if root.starts_with(directory) && found.iter().all(|one| one.root != root) {
            found.extend(layout::below(&root, directory, measurements));
        }
    }
    found
}

/// Adds the recipe's own figures that no folder tells apart, and names what has no result.
fn with_own_figures(directory: &Path, measurements: &Measurements<'_>, groups: &mut Vec<Group>) {
    let is_laid_out = groups
        .iter()
        .any(|group| group.evidence.iter().any(|one| !one.loadgen));
    if !is_laid_out {
        let flat = flat::gather(directory, measurements, groups.is_empty());
        if !flat.evidence.is_empty() {
            let group = group(groups, &ResultPath::of_group(directory));
            group.evidence.extend(flat.evidence);
            group.warnings.extend(flat.warnings);
        }
    }
    for group in groups {
        group.warnings.extend(without_results(group, measurements));
    }
}

/// Names the scenarios of a plan without any result in a group, and those of which only the accuracy
/// or a test is there.
fn without_results(group: &Group, measurements: &Measurements<'_>) -> Option<String> {
    let is_there = |measured: &MeasurementPlan, mode: Option<Mode>| {
        let mut evidence = group.evidence.iter();
        evidence.any(|one| {
            one.scenario == measured.scenario && mode.is_none_or(|mode| one.mode == mode)
        })
    };
    let missing = measurements.wanted().filter_map(|measured| {
        if !is_there(measured, None) {
            return Some(measured.scenario.clone());
        }
        let is_missing =
            measured.mode == Mode::Performance && !is_there(measured, Some(Mode::Performance));
        is_missing.then(|| format!("{} {}", measured.scenario, measured.mode))
    });
    let missing: Vec<String> = missing.unique().collect();
    (!missing.is_empty()).then(|| format!("not among these results: {}", join(missing, ", ")))
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
