//! `retrial compare`: runs and folders of results side by side.

use std::path::Path;

use super::arguments::{CompareArguments, Global, JudgeArguments, Output};
use super::failure::Failure;
use super::judge;
use super::{open, terminal};
use crate::evidence::environment;
use crate::report;
use crate::runner::evidence_of;
use crate::store::RunDirectory;
use crate::verdict::ExitCode;
use crate::verdict::comparison::{Comparison, Options, Subject, compare as compare_all};

/// Compares runs and folders with the first of them.
pub fn compare(global: &Global, arguments: &CompareArguments) -> Result<ExitCode, Failure> {
    let subjects = arguments
        .subjects
        .iter()
        .map(|name| subject(global, name, arguments))
        .collect::<Result<Vec<Subject>, Failure>>()?;
    let options = Options {
        paired: arguments.paired,
        fail_if: arguments.fail_if,
        ..Options::default()
    };
    let comparison = compare_all(&subjects, &options);
    if comparison.figures.is_empty() {
        return Err(Failure::usage(format!(
            "{} have no figure in common{}",
            arguments.subjects.join(" and "),
            listed(&comparison)
        )));
    }
    print(global, &comparison);
    Ok(comparison.exit_code)
}

fn listed(comparison: &Comparison) -> String {
    let notes = comparison.notes.iter().take(8);
    let notes: Vec<String> = notes.map(|note| format!("\n  {note}")).collect();
    notes.concat()
}

/// A run by its directory or id, or a folder with results.
fn subject(global: &Global, name: &str, arguments: &CompareArguments) -> Result<Subject, Failure> {
    let path = Path::new(name);
    if path.is_dir() && !path.join("plan.json").exists() {
        let asked = JudgeArguments {
            directory: name.to_owned(),
            recipe: arguments.recipe.clone(),
            settings: arguments.settings.clone(),
            ..JudgeArguments::default()
        };
        let groups = judge::gather(global, path, &asked)?.into_iter();
        let groups: Vec<_> = groups
            .map(|(_, context, evidence)| (context, evidence))
            .collect();
        return Ok(Subject::of(name, &groups, Vec::new()));
    }
    let run = if path.join("plan.json").exists() {
        let path = path
            .canonicalize()
            .map_err(|error| Failure::host(format!("{name}: {error}")))?;
        RunDirectory::at(path)
    } else {
        open::home(global).find(name)?
    };
    let evidence = evidence_of(&run, false)?;
    let mut subject = Subject::of(run.id(), &[evidence], environment::of_run(&run));
    subject.runs = 1;
    Ok(subject)
}

fn print(global: &Global, comparison: &Comparison) {
    terminal::print(&match global.output {
        Output::Text => {
            let (width, color) = (terminal::width(), terminal::color());
            report::terminal::comparison(comparison, width, color, global.verbose)
        }
        Output::Json => {
            let text = serde_json::to_string(comparison).unwrap_or_default();
            format!("{text}\n")
        }
        Output::Junit => report::junit::comparison(comparison),
        Output::Markdown => report::markdown::comparison(comparison),
    });
}
