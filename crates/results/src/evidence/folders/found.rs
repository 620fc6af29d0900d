//! A trial that is found in a directory: every finder of this module yields these, and they are read in one way.

use std::path::PathBuf;

use super::ResultGroup;
use super::candidates::Candidate;
use crate::evidence::result_path::ResultPath;
use crate::evidence::trial_files::TrialFiles;
use crate::verdict::{Evidence, TrialEvidence};
use retrial_plan::Plan;
use retrial_plan::measurement::MeasurementPlan;

pub(super) struct FoundTrial {
    /// The measurement that it belongs to.
    pub measured: MeasurementPlan,
    /// Why no round's rules are known for it.
    pub unknown_rules: Option<String>,
    /// The results that it is judged with.
    pub place: ResultPath,
    /// The path of the measurement's results, as it is shown.
    pub results: String,
    /// The folder of the trial's files.
    pub folder: PathBuf,
    /// The same, as it is shown.
    pub path: String,
    /// Its number, where its folder states one.
    pub number: Option<u32>,
    pub is_warmup: bool,
}

impl FoundTrial {
    /// Returns the trial in a folder, without a number.
    pub fn new(measured: MeasurementPlan, candidate: &Candidate) -> Self {
        let Candidate { relative, folder, place, .. } = candidate;
        let results = relative.parent().filter(|_| place.is_trial).unwrap_or(relative);
        Self {
            measured,
            unknown_rules: None,
            place: place.clone(),
            results: results.display().to_string(),
            folder: folder.clone(),
            path: relative.display().to_string(),
            number: None,
            is_warmup: false,
        }
    }

    /// Reads it as a further trial of a measurement that is in its group, or of a new one.
    pub fn read_into(self, groups: &mut Vec<ResultGroup>, plan: Option<&Plan>) {
        let all = &mut ResultGroup::find_or_add(groups, &self.place).evidence;
        let existing = all.iter().position(|one| {
            one.plan.mode == self.measured.mode
                && one.plan.scenario == self.measured.scenario
                && one.path == self.results
        });
        let at = existing.unwrap_or_else(|| {
            all.push(Evidence {
                path: self.results,
                unknown_rules: self.unknown_rules,
                ..Evidence::from(self.measured.clone())
            });
            all.len() - 1
        });
        let evidence = &mut all[at];
        let number = self.number.unwrap_or_else(|| evidence.next_trial_number());
        let trial = TrialEvidence::new_finished(number, self.path);
        let files = TrialFiles::of_folder(&self.measured, plan, trial, &self.folder);
        TrialFiles { is_warmup: self.is_warmup, ..files }.read_into(evidence);
    }
}
