//! What a report is made of: runs with all that their directories tell, and folders of results.

use std::path::{Path, PathBuf};

use super::steps;
use crate::app::failure::Failure;
use crate::app::open::{self, RunOrBatch};
use crate::app::options::{GlobalOptions, Output};
use crate::app::options::{JudgeRequest, ReportRequest};
use crate::cli::judge;
use crate::plan::{Plan, shell};
use crate::report::Entry;
use crate::report::charts::{self, Chart};
use crate::report::content::page::Subject;
use crate::results::evidence::{environment, telemetry};
use crate::results::verdict::comparison::{self, Fact};
use crate::results::verdict::{self, RuleCheck, Verdict};
use crate::run::evidence_of;
use crate::store::journal::Event;
use crate::store::journal::Journal;
use crate::store::{Record, RunDirectory};
use crate::telemetry::Row;

/// Everything that is reported together.
pub struct Gathered {
    /// The verdicts and what is known of them.
    pub held: Vec<Held>,
    /// The same for a comparison; empty where it is no comparison's.
    pub compared: Vec<comparison::Subject>,
    /// The directory of the one run or batch that it is about.
    pub home: Option<PathBuf>,
}

/// One of them.
pub struct Held {
    /// The run's id, or the folder's path.
    pub name: String,
    /// Where its evidence lies.
    pub evidence: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// Rules of the whole.
    pub rules: Vec<RuleCheck>,
    run: Option<Run>,
}

/// What only a run's directory tells.
struct Run {
    directory: RunDirectory,
    plan: Plan,
    events: Vec<Event>,
    environment: Vec<Fact>,
    telemetry: Vec<Row>,
}

impl Held {
    /// Among others.
    pub fn entry(&self) -> Entry<'_> {
        Entry {
            rules: &self.rules,
            ..Entry::new(self.evidence.clone(), &self.verdict)
        }
    }

    /// On a page that lies in this directory; none: nobody knows where it lies.
    pub fn subject(&self, page: Option<&Path>) -> Subject<'_> {
        let subject = Subject::new(self.name.clone(), self.entry());
        let Some(run) = &self.run else {
            return subject;
        };
        Subject {
            telemetry: run.telemetry.clone(),
            environment: run.environment.clone(),
            commands: Some(shell::script(&run.plan)),
            steps: steps::of(&run.plan, &run.events, &run.directory, page),
            ..subject
        }
    }

    /// The charts of its results, and of what was seen meanwhile.
    pub fn charts(&self) -> Vec<Chart> {
        let results = self.verdict.results.iter();
        let mut charts: Vec<Chart> = results
            .flat_map(|result| charts::of_result(&self.verdict, result))
            .collect();
        if let Some(run) = &self.run {
            charts.extend(charts::of_telemetry(&run.telemetry));
        }
        charts
    }

    /// The environment as JSON.
    pub fn environment_value(&self) -> serde_json::Value {
        let facts = self.run.iter().flat_map(|run| &run.environment);
        facts
            .filter_map(|fact| serde_json::to_value(fact).ok())
            .collect()
    }
}

/// Reads and judges what the command line names.
pub fn gather(
    global: &GlobalOptions,
    arguments: &ReportRequest,
    output: Output,
) -> Result<Gathered, Failure> {
    let mut gathered = Gathered {
        held: Vec::new(),
        compared: Vec::new(),
        home: None,
    };
    let mut all_runs = true;
    for name in &arguments.subjects {
        let path = Path::new(name);
        if path.is_dir() && !path.join("plan.json").exists() {
            all_runs = false;
            folder(global, arguments, path, &mut gathered)?;
        } else {
            let directory = run_directory(global, path, name)?;
            run(directory, output, &mut gathered)?;
        }
    }
    if let [one] = gathered.held.as_slice() {
        gathered.home = one.run.as_ref().map(|run| run.directory.path().to_owned());
    }
    if !all_runs {
        gathered.compared.clear();
    }
    Ok(gathered)
}

/// The batch that is named; a batch is a report of its own.
pub fn batch(global: &GlobalOptions, arguments: &ReportRequest) -> Result<Option<Record>, Failure> {
    let mut batches = Vec::new();
    for name in &arguments.subjects {
        let path = Path::new(name);
        if path.join("batch.json").exists() {
            let path = path.canonicalize();
            let path = path.map_err(|error| Failure::host(format!("{name}: {error}")))?;
            batches.push(Record::at(path));
        } else if !path.is_dir()
            && let RunOrBatch::Batch(directory) = open::run_or_batch(&global.home, name)?
        {
            batches.push(directory);
        }
    }
    if !batches.is_empty() && arguments.subjects.len() > 1 {
        return Err(Failure::usage(
            "a batch has a report of its own: name it alone; its cells are compared with other runs \
             by `retrial compare`",
        ));
    }
    Ok(batches.pop())
}

fn run_directory(global: &GlobalOptions, path: &Path, name: &str) -> Result<RunDirectory, Failure> {
    if !path.join("plan.json").exists() {
        return Ok(global.home.find(name)?);
    }
    let path = path
        .canonicalize()
        .map_err(|error| Failure::host(format!("{name}: {error}")))?;
    Ok(RunDirectory::at(path))
}

fn run(directory: RunDirectory, output: Output, gathered: &mut Gathered) -> Result<(), Failure> {
    let (context, evidence) = evidence_of(&directory, false)?;
    let verdict = verdict::judge(&context, &evidence);
    let facts = environment::of_run(&directory);
    let wanted = matches!(output, Output::Html | Output::Text);
    let run = Run {
        plan: directory.read_json("plan.json")?,
        events: Journal::read(&directory.journal()).unwrap_or_default(),
        telemetry: if wanted {
            telemetry::rows(&directory)
        } else {
            Vec::new()
        },
        environment: facts.clone(),
        directory,
    };
    let name = run.directory.id().to_owned();
    gathered.compared.push(comparison::Subject::of(
        name.clone(),
        &[(context, evidence)],
        facts,
    ));
    gathered.held.push(Held {
        name,
        evidence: run.directory.path().display().to_string(),
        verdict,
        rules: Vec::new(),
        run: Some(run),
    });
    Ok(())
}

fn folder(
    global: &GlobalOptions,
    arguments: &ReportRequest,
    path: &Path,
    gathered: &mut Gathered,
) -> Result<(), Failure> {
    let asked = JudgeRequest {
        directory: path.display().to_string(),
        recipe: arguments.filter.recipe.first().cloned(),
        settings: arguments.filter.settings.clone(),
        round: arguments.round.clone(),
        reference: arguments.reference.clone(),
        ..JudgeRequest::default()
    };
    for judged in judge::judged(global, path, &asked)? {
        gathered.held.push(Held {
            name: judged.path.clone(),
            evidence: judged.path,
            verdict: judged.verdict,
            rules: judged.rules,
            run: None,
        });
    }
    Ok(())
}
