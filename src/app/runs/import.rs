//! Import of runs: each is judged by its files, whatever verdict it comes with.

use std::path::Path;

use crate::app::evidence::{is_bundle, unpack_run};
use retrial_results::verdict::Verdict;
use retrial_run::judge_run;
use retrial_store::import::{self, ImportReport};
use retrial_store::import_refusal::RejudgeError;
use retrial_store::{Home, RunDirectory, StoreError};

/// Takes in the runs of an archive, or one run's directory.
///
/// # Errors
/// See [`import::import_runs`].
pub fn import_and_rejudge(home: &Home, source: &Path) -> Result<ImportReport, StoreError> {
    let unbundle = |from: &Path, to: &Path| is_bundle(from).then(|| unpack_run(from, to));
    import::import_runs(home, source, &rejudge, &unbundle)
}

/// Replaces the verdict of a run that has one. A run that ended before it was judged stays so.
fn rejudge(run: &RunDirectory) -> Result<Option<String>, RejudgeError> {
    const VERDICT_FILE: &str = "verdict.json";
    if !run.join(VERDICT_FILE).exists() {
        return Ok(None);
    }
    let stored_verdict = run.read_json::<Verdict>(VERDICT_FILE).ok();
    let verdict = judge_run(run, false)?;
    run.write_json(VERDICT_FILE, &verdict)?;
    let stored = stored_verdict
        .map_or("nothing readable".to_owned(), |stored| stored.qualified_outcome().to_string());
    let judged = verdict.qualified_outcome().to_string();
    Ok((stored != judged).then(|| format!("judged again: {judged}; its verdict.json has {stored}")))
}
