//! `retrial judge BATCH`: the verdict on a batch from its directories and those of its runs.

use std::path::Path;

use crate::app::failure::Failure;
use crate::app::options::JudgeRequest;
use crate::app::options::{GlobalOptions, Output};
use crate::app::terminal;
use crate::batch::journal::{BatchEvent, BatchState};
use crate::batch::run::evidence_of_cells;
use crate::batch::verdict::{ExternalEvidence, Lost, RunEvidence, judge as judge_batch};
use crate::batch::{BatchPlan, ExternalResult};
use crate::cli::judge as results;
use crate::report::{self, content};
use crate::results::verdict::ExitCode;
use crate::run::evidence_of;
use crate::store::Record;
use crate::store::journal::Journal;
use crate::store::{Home, RunDirectory};

pub use crate::batch::verdict::BatchVerdict;

/// Judges a batch as it stands.
pub fn judge(global: &GlobalOptions, directory: &Record) -> Result<ExitCode, Failure> {
    has_form(global)?;
    let verdict = judged(global, directory)?;
    print(global, &verdict, directory);
    let state = BatchState::of(&Journal::read::<BatchEvent>(&directory.journal())?);
    if !state.is_over() {
        terminal::note(&format!(
            "the batch is not over, and this is its evidence so far\n  resume it: retrial resume {}",
            directory.id()
        ));
    }
    Ok(verdict.exit_code)
}

/// The verdict on a batch.
pub fn judged(global: &GlobalOptions, directory: &Record) -> Result<BatchVerdict, Failure> {
    let plan: BatchPlan = directory.read_json("batch.json")?;
    let home = global.home.clone();
    let cells = evidence_of_cells(&home, directory, &plan)?;
    let external_results = plan
        .external_results
        .iter()
        .map(|other| of_other(global, &home, other));
    let external_results: Vec<ExternalEvidence> = external_results.collect();
    Ok(judge_batch(
        Some(directory.id()),
        &plan,
        &cells,
        &external_results,
    ))
}

/// What runs of another host gave: runs by id or directory, or folders of results.
fn of_other(global: &GlobalOptions, home: &Home, other: &ExternalResult) -> ExternalEvidence {
    let mut runs = Vec::new();
    for name in &other.runs {
        let found = match of_name(global, home, name) {
            Ok(found) => found,
            Err(failure) => vec![Err(Lost {
                exit: failure.exit,
                because: failure.into_text(),
            })],
        };
        for found in found {
            runs.push(RunEvidence {
                run: name.clone(),
                trial: u32::try_from(runs.len() + 1).unwrap_or(u32::MAX),
                found,
            });
        }
    }
    ExternalEvidence {
        name: other.name.clone(),
        runs,
    }
}

type Found = Result<
    (
        crate::results::verdict::Context,
        Vec<crate::results::verdict::Evidence>,
    ),
    Lost,
>;

fn of_name(global: &GlobalOptions, home: &Home, name: &str) -> Result<Vec<Found>, Failure> {
    let path = Path::new(name);
    if path.is_dir() && !path.join("plan.json").exists() {
        let asked = JudgeRequest {
            directory: name.to_owned(),
            ..JudgeRequest::default()
        };
        let groups = results::gather(global, path, &asked)?.into_iter();
        return Ok(groups
            .map(|(_, context, evidence)| Ok((context, evidence)))
            .collect());
    }
    let run = if path.join("plan.json").exists() {
        RunDirectory::at(path.to_owned())
    } else {
        home.find(name)?
    };
    Ok(vec![Ok(evidence_of(&run, false)?)])
}

/// Whether a batch's verdict has the form that is asked for.
pub fn has_form(global: &GlobalOptions) -> Result<(), Failure> {
    match global.output {
        Output::Text | Output::Json => Ok(()),
        Output::Junit | Output::Markdown | Output::Html | Output::Csv => Err(Failure::usage(
            "a batch prints text or json; for CI: retrial report BATCH",
        )),
    }
}

/// Prints the verdict as the command line asks.
pub fn print(global: &GlobalOptions, verdict: &BatchVerdict, directory: &Record) {
    terminal::print(&match global.output {
        Output::Json => {
            let text = serde_json::to_string(verdict).unwrap_or_default();
            format!("{text}\n")
        }
        // Refused before: see [`has_form`].
        Output::Text | Output::Junit | Output::Markdown | Output::Html | Output::Csv => {
            let evidence = directory.path().display().to_string();
            let document = content::batch::document(verdict, &evidence, &[]);
            report::terminal::render(&document, terminal::shape())
        }
    });
}
