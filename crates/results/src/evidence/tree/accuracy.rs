//! A scenario's accuracy: the figures of `accuracy.txt`, and the logs of the run that gave them.

use super::files::{MissingFile, check_logs};
use super::submission::ScenarioFolder;
use crate::evidence::accuracy::{self, ACCURACY, LOG};
use crate::evidence::folder;
use crate::evidence::loadgen::{loadgen_evidence, other_kind};
use crate::evidence::markers;
use crate::verdict::{Evidence, RuleCheck, TrialEvidence};
use retrial_mlperf::rounds::InferenceRules;
use retrial_recipe::model::Mode;
use retrial_store::{StoreError, open};

/// The folder of the run.
const RUN: &str = "accuracy";

/// Reads the accuracy run of a place; `performance` is its performance run.
pub(crate) fn gather(
    place: &ScenarioFolder,
    rules: Option<&InferenceRules>,
    performance: Option<&Evidence>,
    files: &mut Vec<MissingFile>,
) -> Evidence {
    let path = place.results().join(RUN);
    let mut evidence = place.evidence(Mode::Accuracy, &path);
    let root = &place.submitter.root;
    let logs = folder::logs(root, &path);
    evidence.checks.extend(check_logs(&logs, &path, files));
    // An edge system's result may be inferred from another scenario, with that one's accuracy.
    let ran =
        performance.and_then(|evidence| evidence.trials.first()?.run_settings.as_ref()?.scenario);
    let scenario = ran.or_else(|| place.scenario());
    evidence.checks.extend(other_kind(&logs.run, scenario));
    evidence.checks.extend(markers::usual(&root.join(&path)));
    let mut trial = TrialEvidence::finished(1, path.display().to_string());
    if logs.run.summary.is_some() || logs.run.detail.is_some() {
        loadgen_evidence(&logs.run, &mut evidence, &mut trial);
    }
    // The log's own figures are no accuracy: where it is one of a performance run, its speed is not
    // this result's.
    trial.figures.clear();
    let required = rules.map_or(&[][..], |rules| &rules.accuracy);
    match accuracy::read(root, &path.join(ACCURACY), required) {
        Ok(accuracy) => {
            let log = open::open_beneath(root, &path.join(LOG)).and_then(|file| {
                file.metadata()
                    .map_err(StoreError::io("read", &path.join(LOG)))
            });
            let log = log.ok().map(|metadata| metadata.len());
            if log.is_none() {
                files.push(MissingFile(path.join(LOG)));
            }
            evidence.checks.extend(accuracy::checks(&accuracy, log));
            // Only an uncut log is this short, or one that is cut already.
            let whole = open::read_beneath(root, &path.join(LOG), accuracy::MOST_LOG).ok();
            let checked = whole.and_then(|log| accuracy::check_hash(&accuracy, &log));
            evidence.checks.extend(checked);
            accuracy::add(&mut trial, &accuracy);
        }
        Err(reason) => {
            let required = "what the benchmark's accuracy script prints";
            evidence
                .checks
                .push(RuleCheck::failed(ACCURACY, reason, required));
        }
    }
    evidence.rules = rules.map(|rules| rules.clone().in_division(&place.submitter.division));
    evidence.published_metric =
        rules.and_then(|rules| rules.accuracy.first().map(|(name, _)| name.clone()));
    evidence.trials.push(trial);
    evidence
}

/// Returns whether a place has any accuracy at all.
pub(crate) fn is_there(place: &ScenarioFolder) -> bool {
    place.results_folder().join(RUN).is_dir()
}
