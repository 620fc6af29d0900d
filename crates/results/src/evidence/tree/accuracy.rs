//! A scenario's accuracy: the figures of `accuracy.txt`, and the logs of the run that gave them.

use super::files::{MissingFile, check_logs};
use super::submission::ScenarioFolder;
use crate::evidence::accuracy::{self, ACCURACY_FILE, ACCURACY_LOG};
use crate::evidence::folder;
use crate::evidence::loadgen::{add_loadgen_evidence, warn_of_other_kind};
use crate::evidence::markers;
use crate::verdict::{Evidence, RuleCheck, TrialEvidence};
use retrial_mlperf::rounds::InferenceRules;
use retrial_mlperf::submission_layout::ACCURACY_FOLDER;
use retrial_recipe::model::Mode;
use retrial_store::{StoreError, open};

/// Reads the accuracy run of a place; `performance` is its performance run.
pub(crate) fn gather_accuracy(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    performance: Option<&Evidence>,
    files: &mut Vec<MissingFile>,
) -> Evidence {
    let path = place.results_path().join(ACCURACY_FOLDER);
    let mut evidence = place.new_evidence(Mode::Accuracy, &path);
    let root = &place.submitter.root;
    let logs = folder::read_logs(root, &path);
    evidence.checks.extend(check_logs(&logs, &path, files));
    // An edge system's result may be inferred from another scenario, with that one's accuracy.
    let ran =
        performance.and_then(|evidence| evidence.trials.first()?.run_settings.as_ref()?.scenario);
    let scenario = ran.or_else(|| place.scenario());
    evidence.checks.extend(warn_of_other_kind(&logs.run, scenario));
    evidence.checks.extend(markers::check_usual_marker(&root.join(&path)));
    let mut trial = TrialEvidence::new_finished(1, path.display().to_string());
    if logs.run.summary.is_some() || logs.run.detail.is_some() {
        add_loadgen_evidence(&logs.run, &mut evidence, &mut trial);
    }
    // The log's own figures are no accuracy: where it is one of a performance run, its speed is not
    // this result's.
    trial.figures.clear();
    let required = rules.map_or(&[][..], |rules| &rules.accuracy);
    match accuracy::read_accuracy(root, &path.join(ACCURACY_FILE), required) {
        Ok(accuracy) => {
            let log_metadata =
                open::open_beneath(root, &path.join(ACCURACY_LOG)).and_then(|file| {
                    file.metadata().map_err(StoreError::io("read", &path.join(ACCURACY_LOG)))
                });
            let log = log_metadata.ok().map(|metadata| metadata.len());
            if log.is_none() {
                files.push(MissingFile(path.join(ACCURACY_LOG)));
            }
            evidence.checks.extend(accuracy::check_accuracy_files(&accuracy, log));
            // Only an uncut log is this short, or one that is cut already.
            let whole =
                open::read_beneath(root, &path.join(ACCURACY_LOG), accuracy::MAX_LOG_BYTES).ok();
            let checked = whole.and_then(|log| accuracy::check_hash(&accuracy, &log));
            evidence.checks.extend(checked);
            accuracy::add_to_trial(&mut trial, &accuracy);
        }
        Err(error) => {
            let required = "what the benchmark's accuracy script prints";
            let unreadable = RuleCheck::violation(ACCURACY_FILE, error.to_string(), required);
            evidence.checks.push(unreadable);
        }
    }
    evidence.plan.rules = rules.map(|rules| rules.clone().in_division(place.submitter.division));
    evidence.published_metric =
        rules.and_then(|rules| rules.accuracy.first().map(|(name, _)| name.clone()));
    evidence.trials.push(trial);
    evidence
}

pub(crate) fn has_accuracy(place: &ScenarioFolder) -> bool {
    place.results_folder().join(ACCURACY_FOLDER).is_dir()
}
