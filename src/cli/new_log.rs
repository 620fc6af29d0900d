//! `retrial new` in a terminal: tests figures on a pasted log, by the reader of runs.

use std::path::Path;

use itertools::Itertools as _;
use retrial_document::{ErrorText, StringFormat};
use retrial_import::{FigureFinder, MeasuredFigures};
use retrial_readings::formats::{FIGURE, JSON_PATH, PATTERN};
use retrial_results::evidence::figures::TextFile;
use retrial_results::evidence::readings::read_trial_figures;
use retrial_results::verdict::{RepeatedValues, number};

use crate::app::terminal;

/// The name of a pasted log in messages.
const LOG_NAME: &str = "log";

/// Output of a benchmark; if it is empty, figures are not tested.
#[derive(Debug, Default)]
pub struct FigureLog {
    text: String,
}

impl FigureLog {
    /// Returns the pasted lines, or those of the file that the answer names.
    pub fn from_answer(answer: &str) -> Self {
        let is_name = !answer.is_empty() && answer.lines().count() == 1;
        if is_name && Path::new(answer.trim()).is_file() {
            match std::fs::read_to_string(answer.trim()) {
                Ok(text) => return Self { text },
                Err(error) => terminal::print_note(&format!("failed to read {answer}: {error}")),
            }
        }
        Self { text: answer.to_owned() }
    }

    /// Returns whether there is no log.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the problem of a figure's name.
    pub fn find_fault_of_name(name: &str, figures: &MeasuredFigures) -> Option<ErrorText> {
        if figures.figures.iter().any(|(figure, _)| figure == name) {
            return Some(ErrorText::new(format!("duplicate figure `{name}`")));
        }
        find_mismatch(FIGURE, name)
    }

    /// Returns the problem of a pattern or a `JSONPath`.
    pub fn find_fault_of_pattern(pattern: &str) -> Option<ErrorText> {
        match FigureFinder::parse(pattern) {
            Ok(FigureFinder::Pattern(pattern)) => find_mismatch(PATTERN, &pattern),
            Ok(FigureFinder::Json { path, .. }) => find_mismatch(JSON_PATH, &path),
            Ok(FigureFinder::Csv { .. }) => None,
            Err(error) => Some(ErrorText::new(error.to_string())),
        }
    }

    /// Returns a pattern for a figure: the last line that begins with its name and has a number behind it. If no line
    /// begins with the name, all must have the same words before it: other words may say that it is a warm-up.
    pub fn suggest_pattern(&self, name: &str) -> Option<String> {
        let word = name.replace('_', " ").to_lowercase();
        let lines = self.text.lines().rev().filter_map(|line| {
            let start = line.to_lowercase().replace('_', " ").find(&word)?;
            let (before, rest) = line.split_at_checked(start)?;
            let behind = rest.get(word.len()..)?;
            let digit = behind.find(|letter: char| letter.is_ascii_digit())?;
            let prefix = rest[..word.len() + digit].trim_end_matches(['-', '+', '.']);
            // Times and counters differ in every line.
            let before = before.replace(|letter: char| letter.is_ascii_digit(), "");
            Some((before, regex::escape(prefix)))
        });
        let lines: Vec<(String, String)> = lines.collect();
        if lines.iter().map(|(before, _)| before).all_equal() {
            let (_, prefix) = lines.first()?;
            return Some(format!("{prefix}${{number}}"));
        }
        let (_, prefix) = lines.iter().find(|(before, _)| before.is_empty())?;
        Some(format!("^{prefix}${{number}}"))
    }

    /// Prints the value of a figure in the log, or why it is not found. Returns whether it is found, or not tested.
    pub fn try_figure(&self, name: &str, figures: &MeasuredFigures) -> bool {
        let is_in_file = figures
            .figures
            .iter()
            .any(|(figure, finder)| figure == name && finder.file().is_some());
        if self.is_empty() || is_in_file {
            return true;
        }
        let directory = match tempfile::tempdir() {
            Ok(directory) => directory,
            Err(error) => {
                terminal::print_note(&format!("patterns are not tested: {error}"));
                return true;
            }
        };
        if let Err(error) = std::fs::write(directory.path().join(LOG_NAME), &self.text) {
            terminal::print_note(&format!("patterns are not tested: {error}"));
            return true;
        }
        let log = TextFile { directory: directory.path().to_owned(), file: LOG_NAME.into() };
        let readings = read_trial_figures(&figures.sources(), &|_| vec![log.clone()]);
        let found = readings.iter().find_map(|reading| reading.figures.get(name));
        let missing = readings.iter().find_map(|reading| reading.missing.get(name));
        match (found, missing) {
            (Some(figure), _) => {
                let published = figures.expected.iter().find(|(figure, ..)| figure == name);
                let ratio = published.map_or(String::new(), |(_, value, _)| {
                    let share = number::format_percent(figure.value / value);
                    format!(" ({share} of the published {value})")
                });
                terminal::print_note(&format!("found {name} = {figure}{ratio}"));
                let origin = figure.origin.as_ref();
                if let Some(repeated) = origin.and_then(|origin| origin.repeated) {
                    let RepeatedValues { least, greatest, .. } = repeated;
                    terminal::print_note(&format!(
                        "{name} is {repeated} ({least} to {greatest}): `take:` in the recipe chooses another"
                    ));
                }
                true
            }
            (None, reason) => {
                let reason = reason.map_or("it is not in the log", String::as_str);
                terminal::print_note(&format!("{name} is not found: {reason}"));
                false
            }
        }
    }
}

fn find_mismatch(format: StringFormat, text: &str) -> Option<ErrorText> {
    let (message, help) = format.mismatch(text)?;
    Some(ErrorText::new(message).with_help(help.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::line_begins("rate: 5\nwarm-up rate: 9", Some("^rate: ${number}"))]
    #[case::words_differ("final rate: 5\nwarm-up rate: 9", None)]
    #[case::times_differ("12:01 rate: 5\n12:02 rate: 9", Some("rate: ${number}"))]
    fn no_pattern_is_suggested_from_a_line_with_other_words(
        #[case] output: &str,
        #[case] suggested: Option<&str>,
    ) {
        let log = FigureLog::from_answer(output);
        assert_eq!(log.suggest_pattern("rate").as_deref(), suggested);
    }

    #[test]
    fn a_pattern_is_suggested_from_the_line_of_the_name() {
        let output = "Warmup 3\nOutput throughput (tok/s): 1,010.5\nTTFT p99: 45 ms\ndone 7";
        let log = FigureLog::from_answer(output);
        let of_latency = log.suggest_pattern("ttft_p99");
        assert_eq!(of_latency.as_deref(), Some("TTFT p99: ${number}"));
        let suggested = log.suggest_pattern("throughput").unwrap();
        assert_eq!(suggested, r"throughput \(tok/s\): ${number}");
        assert_eq!(log.suggest_pattern("latency"), None);
        let figures = MeasuredFigures {
            figures: vec![("throughput".to_owned(), FigureFinder::Pattern(suggested))],
            ..MeasuredFigures::default()
        };
        assert!(log.try_figure("throughput", &figures));
        let other = MeasuredFigures {
            figures: vec![(
                "throughput".to_owned(),
                FigureFinder::Pattern("speed: ${number}".to_owned()),
            )],
            ..MeasuredFigures::default()
        };
        assert!(!log.try_figure("throughput", &other));
    }
}
