//! Results where a run and a shell plan leave them, `SCENARIO/MODE/run_N`, and shorter forms of it.

use std::ffi::OsStr;
use std::fs::FileType;
use std::path::{Path, PathBuf};

use retrial_mlperf::loadgen;
use retrial_plan::Plan;
use retrial_plan::measurement::MeasurementPlan;
use retrial_recipe::model::Mode;

use super::{LEVELS, script};
use crate::evidence::folder::{self, names_in};
use crate::evidence::result_path::{ResultPath, trial_number};
use crate::evidence::tree::is_test;
use crate::evidence::trial_files::TrialFiles;
use crate::evidence::trials::add_warmup;
use crate::evidence::unknown_rules;
use crate::verdict::{Evidence, TrialEvidence};

/// The folder of one trial.
struct TrialFolder {
    number: u32,
    path: PathBuf,
}

/// The results of a plan that lie in folders of their own.
pub(super) struct TrialFolderResults {
    /// The folder that the scenarios' folders are in.
    pub root: PathBuf,
    /// The evidence of each measurement that is judged and has a folder.
    pub evidence: Vec<Evidence>,
    /// The folders of all measurements.
    pub folders: Vec<PathBuf>,
}

/// Returns the results in the folders of a plan's scenarios, of those in or below `directory`; below it or
/// above it, as a scenario's folder may be judged by itself.
pub(super) fn around(
    directory: &Path,
    measurements: &PlanMeasurements<'_>,
) -> Option<TrialFolderResults> {
    let mut roots = directory.ancestors().take(LEVELS + 1);
    roots.find_map(|root| below(root, directory, measurements))
}

/// Returns the results in the scenarios' folders below `root`, of those in or below `directory`.
pub(super) fn below(
    root: &Path,
    directory: &Path,
    measurements: &PlanMeasurements<'_>,
) -> Option<TrialFolderResults> {
    let mut laid_out = TrialFolderResults {
        root: root.to_owned(),
        evidence: Vec::new(),
        folders: Vec::new(),
    };
    for measured in &measurements.plan.measurements {
        let mut folders = trial_folders(root, measured, measurements.plan);
        folders.retain(|folder| folder.path.starts_with(directory));
        if !folders.is_empty() && measurements.is_wanted(measured) {
            let evidence = read(&folders, directory, measured, measurements.plan);
            laid_out.evidence.push(evidence);
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
    pub scenario: Option<&'a str>,
}

impl<'a> PlanMeasurements<'a> {
    /// Returns the measurements that are judged.
    pub fn wanted(self) -> impl Iterator<Item = &'a MeasurementPlan> {
        let all = self.plan.measurements.iter();
        all.filter(move |one| self.is_wanted(one))
    }

    fn is_wanted(self, measured: &MeasurementPlan) -> bool {
        self.scenario
            .is_none_or(|name| measured.has_scenario_name(name))
    }
}

fn read(
    folders: &[TrialFolder],
    directory: &Path,
    measured: &MeasurementPlan,
    plan: &Plan,
) -> Evidence {
    let mut evidence = Evidence::from(measured.clone());
    evidence.unknown_rules = unknown_rules::of_recipe(&plan.submission, measured);
    let shown = |path: &Path| {
        let below = path.strip_prefix(directory).unwrap_or(path);
        below.display().to_string()
    };
    if let [first, ..] = folders {
        let name = first.path.file_name().and_then(OsStr::to_str);
        let place = first
            .path
            .parent()
            .filter(|_| name.and_then(trial_number).is_some());
        evidence.path = shown(place.unwrap_or(&first.path));
    }
    // The numbers count warm-ups; results that all have one of theirs count otherwise.
    let warmup = measured.warmup;
    let is_warmup = |folder: &TrialFolder| folder.number <= warmup;
    let counts_warmups = !folders.iter().all(is_warmup);
    for folder in folders {
        let files = TrialFiles {
            measured,
            markers: &plan.judge.invalid_if,
            signs: plan.failure_signs(measured),
            folder: &folder.path,
            outputs: script::outputs(&folder.path, measured),
            window: None,
            is_submitted: ResultPath::parse(&folder.path).is_submitted(),
        };
        let trial = TrialEvidence::finished(folder.number, shown(&folder.path));
        if counts_warmups && is_warmup(folder) {
            // The rules of a result are not those of its warm-up.
            let mut unjudged = Evidence::from(measured.clone());
            let trials = script::read(&files, trial, &mut unjudged);
            add_warmup(&mut evidence, trials);
        } else {
            let trials = script::read(&files, trial, &mut evidence);
            evidence.trials.extend(trials);
        }
    }
    evidence
}

/// Returns the folders of a measurement's trials; none where it has none of its own.
fn trial_folders(root: &Path, measured: &MeasurementPlan, plan: &Plan) -> Vec<TrialFolder> {
    let mut scenarios: Vec<String> = names_in(root, FileType::is_dir)
        .filter(|name| measured.has_scenario_name(name))
        .collect();
    scenarios.sort();
    let places = scenarios.into_iter().flat_map(|name| {
        let scenario = root.join(name);
        place_in(&scenario, measured, plan).map_or_else(Vec::new, |place| numbered(&place))
    });
    places.collect()
}

/// Returns the folder in a scenario's that is a measurement's: that of its mode, or all of it where no mode
/// has one.
fn place_in(scenario: &Path, measured: &MeasurementPlan, plan: &Plan) -> Option<PathBuf> {
    let names: Vec<String> = names_in(scenario, FileType::is_dir).collect();
    let is_mode = |name: &&String| name.parse::<Mode>().is_ok() || is_test(name);
    if names.iter().any(|name| is_mode(&name)) {
        let mut own = names.iter();
        let own = own.find(|name| name.parse::<Mode>().ok() == Some(measured.mode))?;
        return Some(scenario.join(own));
    }
    is_of_mode(scenario, measured, plan).then(|| scenario.to_owned())
}

/// Returns whether a folder that no mode's name distinguishes has a measurement's results: `LoadGen`'s log has
/// the mode; else the scenario's first mode has it, and others whose files are there.
fn is_of_mode(folder: &Path, measured: &MeasurementPlan, plan: &Plan) -> bool {
    if !measured.loadgen {
        return script::is_main_mode(measured, plan) || script::has_figures(folder, measured);
    }
    let mut summaries = folder::find_all(folder).into_iter();
    let logged = summaries.find_map(|relative| folder::read(&folder.join(relative)).ok()?.mode());
    match logged {
        Some(mode) => (mode == loadgen::TestMode::Accuracy) == (measured.mode == Mode::Accuracy),
        None => script::is_main_mode(measured, plan),
    }
}

/// Returns the trials in a folder, `run_1`, `run_2`; else all of it, unless it has several results.
fn numbered(place: &Path) -> Vec<TrialFolder> {
    let names = names_in(place, FileType::is_dir);
    let mut folders: Vec<TrialFolder> = names
        .filter_map(|name| {
            let number = trial_number(&name)?;
            let path = place.join(name);
            Some(TrialFolder { number, path })
        })
        .collect();
    folders.sort_by(|one, other| (one.number, &one.path).cmp(&(other.number, &other.path)));
    if folders.is_empty() && folder::find_all(place).len() < 2 {
        let path = place.to_owned();
        folders.push(TrialFolder { number: 1, path });
    }
    folders
}
