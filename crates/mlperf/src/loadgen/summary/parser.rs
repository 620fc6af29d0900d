//! The summary's lines, one after the other.

use super::stats::StatsBlocks;
use super::{LoadgenSummary, SummaryError};
use crate::loadgen::names;
use retrial_readings::figure::{Figure, Figures};
use retrial_readings::lexer::parse_number;
use retrial_readings::nearest::truncate_for_message;

const MAX_UNREAD_LINES: usize = 20;

/// The list that a bulleted sentence belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum BulletList {
    #[default]
    None,
    Recommendations,
    /// An early-stopping block, by its position.
    EarlyStopping(usize),
    /// The four lines of the permutation warning.
    Permutation,
}

#[derive(Debug, Default)]
pub(super) struct SummaryParser {
    pub(super) summary: LoadgenSummary,
    /// Early stopping's blocks: of queries, of TTFT, of TPOT.
    pub(super) early_stopping: [Option<String>; 3],
    pub(super) head: Figures,
    pub(super) stats: StatsBlocks,
    list: BulletList,
    in_stats: bool,
    pub(super) excerpt: bool,
    /// Lines that only a summary has.
    pub(super) recognized: usize,
}

/// Sets a value that a summary has once, if it can be read; a second line must have the same value.
fn set_once<T: PartialEq>(
    slot: &mut Option<T>,
    value: Option<T>,
    line: &str,
) -> Result<bool, SummaryError> {
    let readable = value.is_some();
    if readable && slot.is_some() && *slot != value {
        let line = line.to_owned();
        return Err(SummaryError::Contradiction { line });
    }
    *slot = value.or(slot.take());
    Ok(readable)
}

impl SummaryParser {
    pub(super) fn parse(mut self, text: &str) -> Result<LoadgenSummary, SummaryError> {
        let text_without_mark = text.trim_start_matches('\u{feff}');
        let mut lines = text_without_mark.split_inclusive('\n').peekable();
        while let Some(line) = lines.next() {
            let ended = line.ends_with('\n');
            let squeezed = line.split_whitespace().collect::<Vec<_>>().join(" ");
            // The number in a last line without its newline may have lost digits.
            if !ended
                && lines.peek().is_none()
                && self.summary.errors.is_none()
                && may_be_cut(&squeezed)
            {
                self.leave_unread(&squeezed);
                continue;
            }
            self.read_line(&squeezed)?;
        }
        self.finish()
    }

    fn read_line(&mut self, line: &str) -> Result<(), SummaryError> {
        let decoration = line.bytes().all(|byte| byte == b'=' || byte == b'`');
        if line.is_empty() || decoration || line.starts_with("```") {
            return Ok(());
        }
        if line == "..." || line == "…" {
            self.excerpt = true;
            self.list = BulletList::None;
            return Ok(());
        }
        let understood = self.read_title(line)
            || self.read_count_line(line)?
            || self.read_pair(line)?
            || self.read_sentence(line);
        if understood {
            self.recognized += 1;
        } else {
            self.leave_unread(line);
        }
        Ok(())
    }

    fn read_title(&mut self, line: &str) -> bool {
        match line {
            "MLPerf Results Summary" => {}
            "Additional Stats" => self.in_stats = true,
            "Test Parameters Used" => self.in_stats = false,
            _ => return false,
        }
        self.list = BulletList::None;
        true
    }

    /// `No warnings encountered during test.`, `2 ERRORS encountered. See detailed log.`
    fn read_count_line(&mut self, line: &str) -> Result<bool, SummaryError> {
        let mut words = line.split(' ');
        let (Some(count), Some(kind), Some("encountered" | "encountered.")) =
            (words.next(), words.next(), words.next())
        else {
            return Ok(false);
        };
        let count = if count == "No" { Some(0) } else { count.parse().ok() };
        let (slot, line) = match kind {
            "warning" | "warnings" => (&mut self.summary.warnings, "warnings encountered"),
            "ERROR" | "ERRORS" | "errors" => (&mut self.summary.errors, "errors encountered"),
            _ => return Ok(false),
        };
        let read = set_once(slot, count, line)?;
        if read {
            self.list = BulletList::None;
        }
        Ok(read)
    }

    fn read_pair(&mut self, line: &str) -> Result<bool, SummaryError> {
        // A bullet's own colon is no pair: `* Early stopping 90.0th percentile estimate: 12`.
        let Some((key, value)) = line.split_once(':').filter(|_| !line.starts_with('*')) else {
            return Ok(false);
        };
        let (key, value) = (key.trim_end(), value.trim_start());
        if self.read_head_line(key, value)? || self.read_block_title(key, value) {
            return Ok(true);
        }
        if let Some(readable) = self.summary.parameters.store_printed(key, value) {
            self.list = BulletList::None;
            return Ok(readable);
        }
        let lower = key.to_ascii_lowercase();
        let Some(named) = names::figure_of_summary_key(&lower) else {
            return Ok(false);
        };
        self.list = BulletList::None;
        // `nan` or `inf`, which a test of no length gives, is not a figure.
        let Some(printed) = parse_number(value) else {
            self.note_unreadable(&named.name, value);
            return Ok(false);
        };
        let figure = Figure {
            value: printed.value,
            unit: named.unit.into(),
            half_digit: printed.half_digit,
        };
        self.in_stats |= begins_stats(&lower);
        if !self.in_stats {
            match self.head.get(&named.name) {
                Some(before) if before.value.to_bits() != figure.value.to_bits() => {
                    return Err(SummaryError::Contradiction { line: key.to_owned() });
                }
                _ => self.head.insert(named.name, figure),
            };
        } else if let Some(block) = self.stats.block_for(&named.name) {
            block.insert(named.name, figure);
        }
        Ok(true)
    }

    fn note_unreadable(&mut self, name: &str, value: &str) {
        let unreadable = &mut self.summary.unreadable;
        if unreadable.len() < MAX_UNREAD_LINES && unreadable.iter().all(|(other, _)| other != name)
        {
            unreadable.push((name.to_owned(), truncate_for_message(value)));
        }
    }

    fn read_head_line(&mut self, key: &str, value: &str) -> Result<bool, SummaryError> {
        let constraints = &mut self.summary.constraints;
        let read = match key {
            "SUT name" => set_once(&mut self.summary.sut_name, Some(value.to_owned()), key)?,
            "Scenario" => {
                let scenario = value.parse().ok();
                if scenario.is_none() {
                    self.summary.other_scenario = Some(value.to_owned());
                }
                set_once(&mut self.summary.scenario, scenario, key)?
            }
            "Mode" => set_once(&mut self.summary.mode, value.parse().ok(), key)?,
            "Result is" => set_once(&mut self.summary.result, value.parse().ok(), key)?,
            "Performance constraints satisfied" => {
                set_once(&mut constraints.performance, parse_yes_or_no(value), key)?
            }
            "Min duration satisfied" => {
                set_once(&mut constraints.min_duration, parse_yes_or_no(value), key)?
            }
            "Min queries satisfied" => {
                set_once(&mut constraints.min_queries, parse_yes_or_no(value), key)?
            }
            "Early stopping satisfied" => {
                set_once(&mut constraints.early_stopping, parse_yes_or_no(value), key)?
            }
            _ => false,
        };
        if read {
            self.list = BulletList::None;
        }
        Ok(read)
    }

    fn read_block_title(&mut self, key: &str, value: &str) -> bool {
        self.list = match key {
            "Recommendations" => BulletList::Recommendations,
            "Early Stopping Result" => BulletList::EarlyStopping(0),
            "TTFT Early Stopping Result" => BulletList::EarlyStopping(1),
            "TPOT Early Stopping Result" => BulletList::EarlyStopping(2),
            "Per-query latency" => {
                self.in_stats = true;
                BulletList::None
            }
            "WARNING" if value.contains("sample_concatenate_permutation") => {
                self.summary.parameters.sample_concatenate_permutation = Some(true);
                BulletList::Permutation
            }
            _ => return false,
        };
        if let BulletList::EarlyStopping(block) = self.list {
            self.early_stopping[block].get_or_insert_default();
        }
        true
    }

    /// Adds a bulleted sentence, or its continuation on the next line.
    fn read_sentence(&mut self, line: &str) -> bool {
        if let BulletList::EarlyStopping(block) = self.list {
            let text = self.early_stopping[block].get_or_insert_default();
            // What follows a list is a title or a pair; running text is not LoadGen's.
            if !line.starts_with('*') && text.is_empty() {
                return false;
            }
            text.push(' ');
            text.push_str(line);
            return true;
        }
        match (self.list, line.strip_prefix('*')) {
            (BulletList::Recommendations, Some(bullet)) => {
                self.summary.recommendations.push(bullet.trim().to_owned());
                true
            }
            (BulletList::Recommendations, None) => {
                let last = self.summary.recommendations.last_mut();
                last.is_some_and(|last| {
                    last.push(' ');
                    last.push_str(line);
                    true
                })
            }
            (BulletList::Permutation, _) => {
                ["Generated samples", "Check the generated", "samples_per_query value"]
                    .iter()
                    .any(|begin| line.starts_with(begin))
            }
            _ => false,
        }
    }

    fn leave_unread(&mut self, line: &str) {
        if self.summary.unread.len() < MAX_UNREAD_LINES {
            self.summary.unread.push(line.chars().take(120).collect());
        }
    }
}

/// Returns whether a last line ends in a number that may be only its beginning.
fn may_be_cut(line: &str) -> bool {
    line.contains(':')
        && line
            .ends_with(|last: char| last.is_ascii_digit() || matches!(last, '.' | 'e' | '+' | '-'))
}

fn parse_yes_or_no(value: &str) -> Option<bool> {
    match value {
        "Yes" | "YES" | "yes" => Some(true),
        "No" | "NO" | "no" => Some(false),
        _ => None,
    }
}

/// Stats without their title, as in a guide.
fn begins_stats(key: &str) -> bool {
    key.starts_with("min ") || key.starts_with("scheduled ") || key.starts_with("qps ")
}
