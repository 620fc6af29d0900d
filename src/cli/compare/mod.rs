//! `retrial compare`: runs, folders of results, cells of batches and whole histories side by side.

mod by;
mod subject;

use crate::app::failure::Failure;
use crate::app::options::CompareRequest;
use crate::app::options::{GlobalOptions, Output};
use crate::app::terminal;
use crate::report::content::Detail;
use crate::report::{self, content};
use crate::results::verdict::ExitCode;
use crate::results::verdict::comparison::{
    Comparison, Comparisons, Options, Subject, compare as compare_all,
};

/// Compares what is named with the first of it, or the history along an axis.
pub fn compare(global: &GlobalOptions, arguments: &CompareRequest) -> Result<ExitCode, Failure> {
    if let Some(axis) = &arguments.by {
        return by::by(global, axis, arguments);
    }
    let mut subjects = subject::all(global, arguments)?;
    if let Some(baseline) = &arguments.baseline {
        let is_meant = |subject: &Subject| subject.name.contains(baseline.as_str());
        let Some(position) = subjects.iter().position(is_meant) else {
            return Err(Failure::usage(format!(
                "--baseline {baseline} is none of what is compared: {}",
                names(&subjects)
            )));
        };
        subjects[..=position].rotate_right(1);
    }
    let comparison = compare_all(&subjects, &options(arguments));
    if comparison.figures.is_empty() {
        return Err(Failure::usage(format!(
            "{} have no figure in common{}",
            arguments.subjects.join(" and "),
            listed(&comparison.notes)
        )));
    }
    terminal::print(&match global.output {
        // A page and CSV are refused before.
        Output::Text | Output::Html | Output::Csv => text(global, &comparison),
        Output::Json => json(&comparison),
        Output::Junit => report::junit::render(&content::suites::comparisons(
            std::slice::from_ref(&comparison),
        )),
        Output::Markdown => report::markdown::render(&content::comparison::documents(
            std::slice::from_ref(&comparison),
            Detail::Brief,
        )),
    });
    Ok(comparison.exit_code)
}

fn options(arguments: &CompareRequest) -> Options {
    Options {
        paired: arguments.paired,
        fail_if: arguments.fail_if,
        ..Options::default()
    }
}

/// What chooses runs of the history has no say where they are named.
fn refuse_filters(arguments: &CompareRequest) -> Result<(), Failure> {
    let mut filter = arguments.filter.clone();
    filter.recipe.truncate(0);
    filter.settings.truncate(0);
    if !filter.is_all() || arguments.filter.recipe.len() > 1 {
        return Err(Failure::usage(
            "--outcome, --batch, --host, --benchmark, --gpu, --since, --until and several recipes \
             choose runs of the history: they need --by",
        ));
    }
    if !arguments.filter.settings.is_empty() && arguments.filter.recipe.is_empty() {
        return Err(Failure::usage("--set needs --recipe, or --by"));
    }
    Ok(())
}

fn names(subjects: &[Subject]) -> String {
    let names: Vec<&str> = subjects.iter().map(|one| one.name.as_str()).collect();
    names.join(", ")
}

fn listed(notes: &[String]) -> String {
    let notes = notes.iter().take(8);
    let notes: Vec<String> = notes.map(|note| format!("\n  {note}")).collect();
    notes.concat()
}

fn text(global: &GlobalOptions, comparison: &Comparison) -> String {
    let detail = if global.verbose {
        Detail::Facts
    } else {
        Detail::Brief
    };
    let document = content::comparison::document(comparison, detail);
    report::terminal::render(&document, terminal::shape())
}

fn json(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    format!("{text}\n")
}

/// Prints the comparisons of a history.
fn print(global: &GlobalOptions, all: &Comparisons) {
    terminal::print(&match global.output {
        Output::Text | Output::Html | Output::Csv => {
            let each: Vec<String> = all
                .comparisons
                .iter()
                .map(|comparison| text(global, comparison))
                .collect();
            each.concat()
        }
        Output::Json => json(all),
        Output::Junit => report::junit::render(&content::suites::comparisons(&all.comparisons)),
        Output::Markdown => {
            let document = content::comparison::documents(&all.comparisons, Detail::Brief);
            report::markdown::render(&document)
        }
    });
    if global.output != Output::Json {
        for note in &all.notes {
            terminal::note(&format!("note: {note}"));
        }
    }
}
