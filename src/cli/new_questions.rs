//! `retrial new` in a terminal: asks for what the command line does not state, in the order in which it is needed. The
//! answers are those that `--set`, `--measure`, `--figure`, `--expect` and `--source` give.

use retrial_document::ErrorText;
use retrial_import::{Draft, FigureFinder, MeasuredFigures, Missing, MissingPlace};

use super::new_figures::{read_published_value, read_unpublished_unit};
use super::new_log::FigureLog;
use crate::app::dialog::Dialog;
use crate::app::failure::Failure;
use crate::app::terminal;

/// The default name of a figure.
const FIGURE_NAME: &str = "speed";
/// The default source of published figures.
const FIGURE_SOURCE: &str = "the guide";

/// Asks for an image, a vendor's command lines or a file of them; none for an empty answer.
pub fn ask_for_block(dialog: &Dialog) -> Result<Option<String>, Failure> {
    let question =
        "image, or the guide's `docker run` lines, or their file (empty: a commented example)";
    let answer = dialog.ask_for_command(question)?;
    Ok(Some(answer).filter(|answer| !answer.is_empty()))
}

/// Asks for everything that is missing.
pub fn complete(
    dialog: &Dialog,
    draft: &mut Draft,
    figures: &mut MeasuredFigures,
) -> Result<(), Failure> {
    for part in draft.incomplete.clone() {
        ask_for_part(dialog, &part, draft, figures)?;
    }
    let log = FigureLog::default();
    let is_client = draft.client(figures.command.as_deref()).is_some();
    if figures.figures.is_empty() && is_client && figures.states_published() {
        Ok(())
    } else if figures.figures.is_empty() {
        ask_for_figures(dialog, log, figures)
    } else if !figures.states_published() {
        let names: Vec<String> = figures.figures.iter().map(|(name, _)| name.clone()).collect();
        let asked =
            names.iter().try_for_each(|name| ask_for_published_value(dialog, name, figures));
        asked.and_then(|()| finish_published_values(dialog, figures))
    } else {
        Ok(())
    }
}

/// Asks for a part of the container, a service or the command until an answer is taken.
fn ask_for_part(
    dialog: &Dialog,
    part: &Missing,
    draft: &mut Draft,
    figures: &mut MeasuredFigures,
) -> Result<(), Failure> {
    let question = match &part.place {
        MissingPlace::Measurement("run") if figures.command.is_none() => "command".to_owned(),
        MissingPlace::Service("run") => "command of the server".to_owned(),
        MissingPlace::Service("ready") => "port of the server".to_owned(),
        MissingPlace::Param(name) => name.clone(),
        _ => return Ok(()),
    };
    dialog.explain(&part.to_string());
    loop {
        let answer = dialog.ask_for_command(&question)?;
        if answer.is_empty() {
            return Ok(());
        }
        if matches!(part.place, MissingPlace::Measurement(_)) {
            figures.command = Some(answer);
            return Ok(());
        }
        // As the example writes it.
        let value = answer.strip_prefix("default:").unwrap_or(&answer).trim();
        match draft.fill_in(&part.place, value) {
            Ok(()) => return Ok(()),
            Err(error) => terminal::note_error(&ErrorText::of(&error)),
        }
    }
}

/// Asks for figures, each with how it is read and what was published, until an empty name.
fn ask_for_figures(
    dialog: &Dialog,
    mut log: FigureLog,
    figures: &mut MeasuredFigures,
) -> Result<(), Failure> {
    let mut name = dialog.ask_with_default("name of the figure", FIGURE_NAME)?;
    while !name.is_empty() {
        if let Some(error) = FigureLog::find_fault_of_name(&name, figures) {
            terminal::note_error(&error);
        } else {
            if log.is_empty() {
                let question = "output that has the figure: paste lines, then an empty one; or write the name of a log file (empty: test no patterns)";
                log = FigureLog::from_answer(&dialog.ask_for_text(question)?);
            }
            if !ask_for_figure(dialog, &log, &name, figures)? {
                break;
            }
        }
        name = dialog.ask("name of another figure (empty: no more)")?;
    }
    finish_published_values(dialog, figures)
}

/// Asks for a figure's pattern and published value until the log has the figure in this unit. Returns whether a
/// pattern was given.
fn ask_for_figure(
    dialog: &Dialog,
    log: &FigureLog,
    name: &str,
    figures: &mut MeasuredFigures,
) -> Result<bool, Failure> {
    loop {
        if !ask_for_pattern(dialog, log, name, figures)? {
            return Ok(false);
        }
        ask_for_published_value(dialog, name, figures)?;
        // The unit may show that another number was found.
        if log.try_figure(name, figures) {
            return Ok(true);
        }
        figures.figures.retain(|(figure, _)| figure != name);
        figures.expected.retain(|(figure, ..)| figure != name);
        figures.units.retain(|(figure, _)| figure != name);
    }
}

/// Asks for a pattern until it finds the figure in the log. Returns whether a pattern was given.
fn ask_for_pattern(
    dialog: &Dialog,
    log: &FigureLog,
    name: &str,
    figures: &mut MeasuredFigures,
) -> Result<bool, Failure> {
    let question = format!("pattern of {name}, ${{number}} in place of the number; or a JSONPath");
    loop {
        let pattern = match log.suggest_pattern(name) {
            Some(suggested) => dialog.ask_with_default(&question, &suggested)?,
            None => dialog.ask(&question)?,
        };
        if pattern.is_empty() {
            return Ok(false);
        }
        if let Some(error) = FigureLog::find_fault_of_pattern(&pattern) {
            terminal::note_error(&error);
            continue;
        }
        let finder = FigureFinder::parse(&pattern).unwrap_or(FigureFinder::Pattern(pattern));
        figures.figures.push((name.to_owned(), finder));
        if log.try_figure(name, figures) {
            return Ok(true);
        }
        figures.figures.pop();
    }
}

fn ask_for_published_value(
    dialog: &Dialog,
    name: &str,
    figures: &mut MeasuredFigures,
) -> Result<(), Failure> {
    let question = format!(
        "published {name} with its unit, for example `42.0 items/s` (empty: nothing was published)"
    );
    loop {
        let answer = dialog.ask(&question)?;
        if answer.is_empty() {
            return Ok(());
        }
        if let Some(unit) = read_unpublished_unit(&answer) {
            if !unit.is_empty() {
                figures.units.push((name.to_owned(), unit.to_owned()));
            }
            return Ok(());
        }
        match read_published_value(&answer) {
            Ok((value, unit)) => {
                figures.expected.push((name.to_owned(), value, unit));
                return Ok(());
            }
            Err(reason) => terminal::advise(
                format!("`{answer}` is not read: {reason}"),
                "write the number, and its unit if it has one: 42.0 items/s",
            ),
        }
    }
}

/// Asks where the values were published; none was, if all answers were empty.
fn finish_published_values(dialog: &Dialog, figures: &mut MeasuredFigures) -> Result<(), Failure> {
    figures.is_only_measured = !figures.figures.is_empty() && figures.expected.is_empty();
    if !figures.expected.is_empty() && figures.source.is_none() {
        let question = "where it was published: an address or a title";
        figures.source = Some(dialog.ask_with_default(question, FIGURE_SOURCE)?);
    }
    Ok(())
}
