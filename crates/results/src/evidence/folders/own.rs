//! Results that are not `LoadGen`'s: a recipe's own figures, read from a directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{FoldersError, Group, OUTPUT, ResultsDirectory, TRAINING_LOGS};
use crate::evidence::figures::Text;
use crate::evidence::readings::readings;
use crate::evidence::result_path::ResultPath;
use crate::verdict::{Evidence, TrialEvidence};
use retrial_mlperf::mllog::TIME_TO_TRAIN;
use retrial_plan::Plan;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::{FigureSource, Find};

/// Reads the recipe's own figures from a directory.
pub(super) fn gather(results: &ResultsDirectory<'_>, plan: &Plan) -> Result<Group, FoldersError> {
    let directory = results.path;
    let mut evidence: Vec<Evidence> = plan
        .measurements
        .iter()
        .filter(|one| !one.loadgen && !one.figures.is_empty())
        .filter(|one| results.scenario.is_none_or(|name| one.is_named(name)))
        .map(|one| one_folder(directory, one))
        .filter(|one| one.trials.iter().any(|trial| !trial.figures.is_empty()))
        .collect();
    if evidence.is_empty() {
        return Err(FoldersError::NoFigure {
            path: directory.to_owned(),
            recipe: plan.recipe.clone(),
        });
    }
    let mut warnings = Vec::new();
    for one in &mut evidence {
        for name in remove_unlogged_figures(one) {
            let reason = "no log has it: it is not an MLCommons event and was not compared";
            warnings.push(format!("{name}: {reason}"));
        }
    }
    let mut place = ResultPath::parse(directory);
    directory.clone_into(&mut place.group);
    Ok(Group {
        place,
        evidence,
        warnings,
    })
}

/// Removes the figures that are not `MLCommons` events if no training log has them: another submitter's
/// program does not print or track them. If some logs have them, the others are incomplete. Returns
/// their names.
fn remove_unlogged_figures(evidence: &mut Evidence) -> Vec<String> {
    let is_timed = |figure: &FigureSource| matches!(&figure.find, Find::Mllog(figure) if figure.key == TIME_TO_TRAIN);
    let of_program = |figure: &FigureSource| match &figure.find {
        Find::Mllog(figure) => figure.key.starts_with("tracked_stats"),
        Find::Pattern { .. } => true,
        Find::Json { .. } | Find::Csv(_) => false,
    };
    if !evidence.figures.iter().any(|(_, figure)| is_timed(figure)) {
        return Vec::new();
    }
    let trials = &evidence.trials;
    let nowhere = |name: &str| trials.iter().all(|trial| trial.figure(name).is_none());
    let own = evidence
        .figures
        .iter()
        .filter(|(_, figure)| of_program(figure));
    let names: Vec<String> = own
        .map(|(name, _)| name.clone())
        .filter(|name| nowhere(name))
        .collect();
    let is_logged = |name: &String| !names.contains(name);
    let plan = &mut evidence.plan;
    plan.figures.retain(|(name, _)| is_logged(name));
    plan.expect.retain(|(name, _)| is_logged(name));
    for trial in &mut evidence.trials {
        trial.missing.retain(|name, _| is_logged(name));
    }
    names
}

fn one_folder(directory: &Path, measured: &MeasurementPlan) -> Evidence {
    let mut evidence = Evidence::from(measured.clone());
    evidence.path = directory.display().to_string();
    let mut figures = measured.figures.iter();
    let is_trained = figures.any(|(_, figure)| matches!(figure.find, Find::Mllog(_)));
    let usual = if is_trained { TRAINING_LOGS } else { OUTPUT };
    let folders = trial_folders(directory, measured);
    let read = folders.iter().flat_map(|folder| {
        let read = readings(&measured.figures, &|source| text(source, folder, usual));
        read.into_iter().map(move |reading| (folder, reading))
    });
    for (number, (folder, reading)) in (1..).zip(read) {
        let mut trial = TrialEvidence::finished(number, folder.display().to_string());
        reading.add_to(&mut trial);
        evidence.trials.push(trial);
    }
    evidence
}

/// The file of a figure in a folder; the usual one if its source names none.
pub(super) fn text(source: &FigureSource, folder: &Path, usual: &str) -> Vec<Text> {
    let file = source.file.as_ref().map_or(usual, |file| file.0.as_str());
    vec![Text {
        directory: folder.to_owned(),
        file: file.into(),
    }]
}

/// The folders of a measurement's trials, where a shell plan has them (`SCENARIO/MODE/run_1`); else the
/// directory itself.
fn trial_folders(directory: &Path, measured: &MeasurementPlan) -> Vec<PathBuf> {
    let first = directory.join(measured.trial_directory(1));
    let entries = first.parent().and_then(|above| above.read_dir().ok());
    let folders = entries.into_iter().flatten().flatten().filter_map(|entry| {
        let name = entry.file_name();
        let number: u32 = name.to_str()?.strip_prefix("run_")?.parse().ok()?;
        Some((number, entry.path()))
    });
    let folders: BTreeMap<u32, PathBuf> = folders.collect();
    if folders.is_empty() {
        return vec![directory.to_owned()];
    }
    folders.into_values().collect()
}
