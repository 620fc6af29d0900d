//! The text of a block: its commands, the lines in it that are output, and the options of a job's script.

use std::ops::Range;

use retrial_document::Diagnostics;

use super::commands::is_tool;
use super::line::LineReader;
use super::reader::Reader;
use super::tables::SRUN;
use super::wrappers::find_wrappers;
use crate::page::describe_output;
use crate::shell::{Item, Word, parse_commands};

impl Reader<'_> {
    /// Parses the block. Lines behind a container's command that no shell reads are output.
    pub(super) fn parse_block(&mut self) -> Vec<Item> {
        let mut letters = self.text().letters.clone();
        for _ in 0..8 {
            let error = match parse_commands(&letters) {
                Ok(items) => return items,
                Err(error) => error,
            };
            let lines = self.text().lines();
            let Some(dropped) = Self::output_around(&letters, &lines, error.position) else {
                let position = error.position;
                let help =
                    "give the commands as the guide prints them, without the text around them";
                let span = self.span(position..position + 1);
                self.problems.error("guide", error.message, &span, help);
                let line =
                    lines.iter().find(|line| line.contains(&position) || line.end == position);
                let Some(line) = line else { return Vec::new() };
                if letters[line.clone()].iter().all(|letter| *letter == ' ') {
                    return Vec::new();
                }
                letters[line.clone()].fill(' ');
                continue;
            };
            let output: Vec<String> =
                dropped.iter().map(|line| letters[line.clone()].iter().collect()).collect();
            if let Some(first) = output.iter().find(|line| !line.trim().is_empty()) {
                self.note(describe_output(first, output.len()));
            }
            self.output.extend(output);
            for line in dropped {
                letters[line].fill(' ');
            }
        }
        Vec::new()
    }

    /// Returns the lines from the end of the container's command before an error to the end of the block; none if they
    /// have commands of containers.
    fn output_around(
        letters: &[char],
        lines: &[Range<usize>],
        position: usize,
    ) -> Option<Vec<Range<usize>>> {
        let at = lines.iter().position(|line| line.end >= position)?;
        let is_start = |line: &Range<usize>| {
            let text: String = letters[line.clone()].iter().collect();
            let words: Vec<&str> = text.split_whitespace().collect();
            words.get(find_wrappers(&words).count).is_some_and(|word| is_tool(word))
        };
        let continues = |line: &Range<usize>| letters[line.clone()].last() == Some(&'\\');
        let start = lines[..=at].iter().rposition(is_start)?;
        let end = start + lines[start..].iter().take_while(|line| continues(line)).count() + 1;
        let rest = lines.get(end..).filter(|rest| !rest.is_empty())?;
        (at >= end && !rest.iter().any(is_start)).then(|| rest.to_vec())
    }

    /// Reads the options in the `#SBATCH` lines of a job's script that its commands inherit.
    pub(super) fn read_job_lines(&mut self) {
        let text = self.text().clone();
        let mut words = Vec::new();
        for line in text.lines() {
            let shown = text.slice(line.clone());
            let Some(options) = shown.strip_prefix("#SBATCH ") else { continue };
            let span = self.span(line);
            let known = options.split_whitespace().take_while(|word| !word.starts_with('#'));
            words.extend(known.map(|word| Word::text(word, &span)));
        }
        // sbatch has a few options of its own.
        let mut ignored = Diagnostics::default();
        let mut reader = LineReader::new(&SRUN, &words, &mut ignored);
        reader.read_flags();
        self.job.flags.extend(reader.flags);
    }
}
