//! `retrial judge`: a verdict on results that are already there. Needs no engine.

mod folders;
mod loose_results;
mod reference;
mod tree;

use std::path::{Path, PathBuf};

use super::batch;
use crate::app::failure::Failure;
use crate::app::open::{self, RunOrBatch};
use crate::app::options::GlobalOptions;
use crate::app::options::JudgeRequest;
use crate::app::{follow, terminal};
use crate::results::evidence::tree::{SubmissionTrees, find};
use crate::results::verdict::{self, Context, Evidence, ExitCode, Outcome, RuleCheck, Verdict};
use crate::run::judge_run;
use crate::store::Record;
use crate::store::RunDirectory;
use crate::store::journal::Journal;
use crate::store::journal::{Event, State};

/// What is judged together: where it lies, what holds for it, its evidence.
pub type Gathered = (PathBuf, Context, Vec<Evidence>);

/// The evidence of every result in or below a directory, which may be a part of a submission tree.
pub fn gather(
    global: &GlobalOptions,
    directory: &Path,
    asked: &JudgeRequest,
) -> Result<Vec<Gathered>, Failure> {
    match found(directory, asked)? {
        Some(found) => tree::gather(&found, asked),
        None => folders::gather(global, directory, asked),
    }
}

/// A verdict on what lies in a folder.
pub struct JudgedHere {
    /// Where.
    pub path: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Rules of the whole.
    pub rules: Vec<RuleCheck>,
}

/// The verdicts on every result in or below a directory.
pub fn judged(
    global: &GlobalOptions,
    directory: &Path,
    asked: &JudgeRequest,
) -> Result<Vec<JudgedHere>, Failure> {
    if let Some(found) = found(directory, asked)? {
        return tree::judged(&found, asked);
    }
    let gathered = folders::gather(global, directory, asked)?.into_iter();
    let judged = gathered.map(|(path, context, evidence)| JudgedHere {
        path: path.display().to_string(),
        verdict: verdict::judge(&context, &evidence),
        rules: Vec::new(),
    });
    Ok(judged.collect())
}

/// What a directory holds of submission trees; a recipe's results are judged by the recipe.
fn found(directory: &Path, asked: &JudgeRequest) -> Result<Option<SubmissionTrees>, Failure> {
    if asked.recipe.is_some() {
        return Ok(None);
    }
    find(directory).map_err(|error| {
        let shown = directory.display();
        Failure::host(format!("{shown}: it cannot be read: {error}"))
    })
}

/// Judges a run by its files, a submission tree or a part of one, or other folders of results.
pub fn judge(global: &GlobalOptions, asked: &JudgeRequest) -> Result<ExitCode, Failure> {
    let path = Path::new(&asked.directory);
    if path.join("batch.json").exists() {
        return batch::judge(global, &Record::at(path.to_owned()));
    }
    if path.join("plan.json").exists() {
        let path = path
            .canonicalize()
            .map_err(|error| Failure::host(format!("{}: {error}", asked.directory)))?;
        return one_run(global, &RunDirectory::at(path), asked);
    }
    if path.is_file() {
        return Err(Failure::usage(format!(
            "{} is a file: name the directory that it lies in",
            asked.directory
        )));
    }
    if !path.is_dir() {
        return match open::run_or_batch(&global.home, &asked.directory)? {
            RunOrBatch::Run(run) => one_run(global, &run, asked),
            RunOrBatch::Batch(directory) => batch::judge(global, &directory),
        };
    }
    if let Some(found) = found(path, asked)? {
        return tree::judge(global, &found, asked);
    }
    folders::judge(global, path, asked)
}

fn one_run(
    global: &GlobalOptions,
    run: &RunDirectory,
    asked: &JudgeRequest,
) -> Result<ExitCode, Failure> {
    if asked.reference.is_some() {
        return Err(Failure::usage(format!(
            "run {} is compared with what its recipe says was published; --reference is for results \
             without a recipe",
            run.id()
        )));
    }
    let verdict = judge_run(run, asked.require_accuracy)?;
    follow::print(global, &verdict, &run.path().display().to_string());
    let state = State::of(&Journal::read::<Event>(&run.journal()).unwrap_or_default());
    if !matches!(state.over, Some((code, _)) if code != ExitCode::Interrupted.code()) {
        terminal::note(&format!(
            "the run is not over, and this is its evidence so far\n  resume it: retrial resume {}",
            run.id()
        ));
    }
    // A pull that failed is the host's fault: what the run said, its verdict cannot tell.
    let said = state
        .over
        .and_then(|(code, _)| ExitCode::try_from(code).ok());
    let host = said.filter(|code| *code == ExitCode::Host && verdict.outcome == Outcome::Failed);
    Ok(host.unwrap_or(verdict.exit_code))
}
