//! Results where a run and a shell plan leave them, `SCENARIO/MODE/run_N`, and shorter forms of it.

use std::ffi::OsStr;
use std::fs::FileType;
use std::path::{Path, PathBuf};

use retrial_mlperf::ScenarioName;
use retrial_mlperf::loadgen;
use retrial_mlperf::submission_layout::is_test;
use retrial_plan::Plan;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::Mode;

use super::found::FoundTrial;
use crate::evidence::folder::{self, entry_names};
use crate::evidence::result_path::{ResultPath, trial_number};
use crate::evidence::script::{self, MAX_LEVELS_ABOVE};
use crate::evidence::unknown_rules;

struct TrialFolder {
    number: u32,
    path: PathBuf,
}

/// The results of a plan that lie in folders of their own.
pub(super) struct LaidOutResults {
    /// The folder that the scenarios' folders are in.
    pub root: PathBuf,
    /// The trials of each measurement that is judged.
    pub trials: Vec<FoundTrial>,
    /// The folders of all measurements.
    pub folders: Vec<PathBuf>,
}

/// Returns the results in the folders of a plan's scenarios, of those in or below `directory`; below it or
/// above it, as a scenario's folder may be judged by itself.
pub(super) fn find_laid_out_around(
    directory: &Path,
    measurements: &PlanMeasurements<'_>,
) -> Option<LaidOutResults> {
    let mut roots = directory.ancestors().take(MAX_LEVELS_ABOVE + 1);
    roots.find_map(|root| find_laid_out_below(root, directory, measurements))
}

/// Returns the results in the scenarios' folders below `root`, of those in or below `directory`.
pub(super) fn find_laid_out_below(
    root: &Path,
    directory: &Path,
    measurements: &PlanMeasurements<'_>,
) -> Option<LaidOutResults> {
    let mut laid_out =
        LaidOutResults { root: root.to_owned(), trials: Vec::new(), folders: Vec::new() };
    for measured in &measurements.plan.measurements {
        let mut folders = trial_folders(root, measured, measurements.plan);
        folders.retain(|folder| folder.path.starts_with(directory));
        if measurements.is_selected(measured) {
            let trials = to_trials(&folders, (root, directory), measured, measurements.plan);
            laid_out.trials.extend(trials);
        }
        let paths = folders.into_iter().map(|folder| folder.path);
        laid_out.folders.extend(paths);
    }
    (!laid_out.folders.is_empty()).then_some(laid_out)
}

/// The measurements of a plan, of one scenario if the user names one.
#[derive(Clone, Copy)]
pub(super) struct PlanMeasurements<'a> {
    /// The plan that declares them.
    pub plan: &'a Plan,
    /// The scenario that the user names, if any.
    pub scenario: Option<&'a ScenarioName>,
}

impl<'a> PlanMeasurements<'a> {
    /// Returns the measurements that are judged.
    pub fn selection(self) -> impl Iterator<Item = &'a MeasurementPlan> {
        let all = self.plan.measurements.iter();
        all.filter(move |one| self.is_selected(one))
    }

    fn is_selected(self, measured: &MeasurementPlan) -> bool {
        self.scenario.is_none_or(|name| measured.has_scenario_name(name))
    }
}

fn to_trials(
    folders: &[TrialFolder],
    (root, directory): (&Path, &Path),
    measured: &MeasurementPlan,
    plan: &Plan,
) -> Vec<FoundTrial> {
    let shown = |path: &Path| {
        let below = path.strip_prefix(directory).unwrap_or(path);
        below.display().to_string()
    };
    let Some(first) = folders.first() else {
        return Vec::new();
    };
    let name = first.path.file_name().and_then(OsStr::to_str);
    let results = first.path.parent().filter(|_| name.and_then(trial_number).is_some());
    // The numbers count warm-ups; results that all have one of theirs count otherwise.
    let warmup = measured.warmup;
    let is_warmup = |folder: &TrialFolder| folder.number <= warmup;
    let counts_warmups = !folders.iter().all(is_warmup);
    let trials = folders.iter().map(|folder| FoundTrial {
        measured: measured.clone(),
        unknown_rules: unknown_rules::reason_for_recipe(&plan.submission, measured),
        place: ResultPath::from_group(root),
        results: shown(results.unwrap_or(&first.path)),
        folder: folder.path.clone(),
        path: shown(&folder.path),
        number: Some(folder.number),
        is_warmup: counts_warmups && is_warmup(folder),
    });
    trials.collect()
}

/// Returns the folders of a measurement's trials; none where it has none of its own.
fn trial_folders(root: &Path, measured: &MeasurementPlan, plan: &Plan) -> Vec<TrialFolder> {
    let mut scenarios: Vec<String> = entry_names(root, FileType::is_dir)
        .filter(|name| measured.has_scenario_name(name))
        .collect();
    scenarios.sort();
    let places = scenarios.into_iter().flat_map(|name| {
        let scenario = root.join(name);
        mode_folder(&scenario, measured, plan)
            .map_or_else(Vec::new, |place| trial_folders_in(&place))
    });
    places.collect()
}

/// Returns the folder in a scenario's that is a measurement's: that of its mode, or all of it where no mode
/// has one.
fn mode_folder(scenario: &Path, measured: &MeasurementPlan, plan: &Plan) -> Option<PathBuf> {
    let names: Vec<String> = entry_names(scenario, FileType::is_dir).collect();
    let is_mode = |name: &&String| name.parse::<Mode>().is_ok() || is_test(name);
    if names.iter().any(|name| is_mode(&name)) {
        let mut mode_names = names.iter();
        let own = mode_names.find(|name| name.parse::<Mode>().ok() == Some(measured.mode))?;
        return Some(scenario.join(own));
    }
    has_mode_results(scenario, measured, plan).then(|| scenario.to_owned())
}

/// Returns whether a folder that no mode's name distinguishes has a measurement's results: `LoadGen`'s log has
/// the mode; else the scenario's first mode has it, and others whose files are there.
fn has_mode_results(folder: &Path, measured: &MeasurementPlan, plan: &Plan) -> bool {
    if !measured.loadgen {
        return script::is_main_mode(measured, plan) || script::has_figures(folder, measured);
    }
    let mut summaries = folder::find_summary_folders(folder).into_iter();
    let logged = summaries
        .find_map(|relative| folder::read_result_folder(&folder.join(relative)).ok()?.mode());
    match logged {
        Some(mode) => (mode == loadgen::TestMode::Accuracy) == (measured.mode == Mode::Accuracy),
        None => script::is_main_mode(measured, plan),
    }
}

/// Returns the trials in a folder, `run_1`, `run_2`; else all of it, unless it has several results.
fn trial_folders_in(place: &Path) -> Vec<TrialFolder> {
    let names = entry_names(place, FileType::is_dir);
    let mut folders: Vec<TrialFolder> = names
        .filter_map(|name| {
            let number = trial_number(&name)?;
            let path = place.join(name);
            Some(TrialFolder { number, path })
        })
        .collect();
    folders.sort_by(|one, other| (one.number, &one.path).cmp(&(other.number, &other.path)));
    if folders.is_empty() && folder::find_summary_folders(place).len() < 2 {
        let path = place.to_owned();
        folders.push(TrialFolder { number: 1, path });
    }
    folders
}
