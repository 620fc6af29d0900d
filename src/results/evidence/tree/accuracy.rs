//! A scenario's accuracy: the figures of `accuracy.txt`, and the logs of the run that gave them.

use std::path::Path;

use super::files::Missing;
use super::gather::empty;
use super::performance::missing;
use super::submission::ScenarioFolder;
use crate::results::evidence::accuracy::{self, ACCURACY, LOG};
use crate::results::evidence::folder::{self, Logs};
use crate::results::evidence::loadgen::loadgen_evidence;
use crate::results::verdict::{Evidence, RuleCheck, TrialEvidence};
use crate::store::{StoreError, open};
use retrial_mlperf::loadgen;
use retrial_mlperf::rounds::Rules;
use retrial_recipe::model::Mode;

/// The folder of the run.
const RUN: &str = "accuracy";

/// Reads the accuracy run of a place.
pub(crate) fn gather(
    place: &ScenarioFolder,
    rules: Option<&Rules>,
    files: &mut Vec<Missing>,
) -> Evidence {
    let path = place.results().join(RUN);
    let mut evidence = empty(place, Mode::Accuracy, &path);
    let root = &place.submitter.root;
    let logs = folder::logs(root, &path);
    evidence.checks.extend(missing(&logs, &path, files));
    evidence.checks.extend(performance_log(&logs));
    let mut trial = TrialEvidence::finished(1, path.display().to_string());
    if logs.run.summary.is_some() || logs.run.detail.is_some() {
        loadgen_evidence(&logs.run, &mut evidence, &mut trial);
    }
    // The log's own figures are no accuracy: where it is one of a performance run, its speed is not
    // this result's.
    trial.figures.clear();
    let required: Vec<String> = rules
        .into_iter()
        .flat_map(|rules| rules.accuracy.iter().map(|(name, _)| name.clone()))
        .collect();
    match accuracy::read(root, &path.join(ACCURACY), &required) {
        Ok(found) => {
            let log = open::open_beneath(root, &path.join(LOG)).and_then(|file| {
                file.metadata()
                    .map_err(StoreError::io("read", &path.join(LOG)))
            });
            let log = log.ok().map(|known| known.len());
            if log.is_none() {
                files.push(Missing(path.join(LOG)));
            }
            evidence.checks.extend(accuracy::checks(&found, log));
            accuracy::add(&mut trial, &found);
        }
        Err(because) => {
            let required = "what the benchmark's accuracy script prints";
            evidence
                .checks
                .push(RuleCheck::failed(ACCURACY, because, required));
        }
    }
    evidence.rules = rules.map(|rules| rules.clone().submitted_to(&place.submitter.division));
    evidence.published_metric =
        rules.and_then(|rules| rules.accuracy.first().map(|(name, _)| name.clone()));
    evidence.trials.push(trial);
    evidence
}

/// The log of a performance run in the folder is told: MLCommons' checker takes it.
fn performance_log(logs: &Logs) -> Option<RuleCheck> {
    let mode = logs
        .run
        .mode()
        .filter(|mode| *mode == loadgen::Mode::Performance)?;
    Some(RuleCheck::new(
        "mode of the accuracy run's log",
        mode.to_string(),
        "AccuracyOnly; the checker of MLCommons accepts it, so this is only a remark",
        true,
    ))
}

/// Whether a place has any accuracy at all.
pub(crate) fn is_there(place: &ScenarioFolder) -> bool {
    place
        .submitter
        .root
        .join(place.results())
        .join(Path::new(RUN))
        .is_dir()
}
