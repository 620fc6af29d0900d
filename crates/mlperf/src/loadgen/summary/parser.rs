//! The summary's lines, one after the other.

use super::stats::Stats;
use super::{Constraints, Summary, SummaryError};
use crate::loadgen::names;
use crate::loadgen::{Mode, Parameters, ResultWord, Scenario};
use retrial_readings::figure::{Figure, Figures, Source, parse_number};

const MOST_UNREAD: usize = 20;

/// Where the sentences of a bulleted list go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum List {
    #[default]
    None,
    Recommendations,
    Query,
    Ttft,
    Tpot,
    /// The four lines of the permutation warning.
    Permutation,
}

#[derive(Debug, Default)]
pub(super) struct Parser {
    pub(super) sut_name: Option<String>,
    pub(super) scenario: Option<Scenario>,
    pub(super) mode: Option<Mode>,
    pub(super) result: Option<ResultWord>,
    pub(super) constraints: Constraints,
    pub(super) recommendations: Vec<String>,
    pub(super) query: Option<String>,
    pub(super) ttft: Option<String>,
    pub(super) tpot: Option<String>,
    pub(super) head: Figures,
    pub(super) stats: Stats,
    pub(super) parameters: Parameters,
    pub(super) warnings: Option<u64>,
    pub(super) errors: Option<u64>,
    pub(super) notes: Vec<String>,
    pub(super) unread: Vec<String>,
    pub(super) list: List,
    pub(super) in_stats: bool,
    pub(super) excerpt: bool,
    /// Lines that only a summary has.
    pub(super) known: usize,
}

/// Sets what a summary says once; a second time must say the same.
fn once<T: PartialEq>(slot: &mut Option<T>, value: T, line: &str) -> Result<(), SummaryError> {
    match slot {
        Some(before) if *before != value => Err(SummaryError::Contradiction {
            line: line.to_owned(),
        }),
        _ => {
            *slot = Some(value);
            Ok(())
        }
    }
}

impl Parser {
    pub(super) fn read(mut self, text: &str) -> Result<Summary, SummaryError> {
        let text = text.trim_start_matches('\u{feff}');
        let mut lines = text.split_inclusive('\n').peekable();
        while let Some(line) = lines.next() {
            let ended = line.ends_with('\n');
            let squeezed = line.split_whitespace().collect::<Vec<_>>().join(" ");
            // The number in a last line without its newline may have lost digits.
            if !ended && lines.peek().is_none() && self.errors.is_none() && is_cut(&squeezed) {
                self.leave_unread(&squeezed);
                continue;
            }
            self.line(&squeezed)?;
        }
        self.finish()
    }

    fn line(&mut self, line: &str) -> Result<(), SummaryError> {
        let decoration = line.bytes().all(|byte| byte == b'=' || byte == b'`');
        if line.is_empty() || decoration || line.starts_with("```") {
            return Ok(());
        }
        if line == "..." || line == "…" {
            self.excerpt = true;
            self.list = List::None;
            return Ok(());
        }
        let understood =
            self.title(line) || self.counted(line)? || self.pair(line)? || self.sentence(line);
        if understood {
            self.known += 1;
        } else {
            self.leave_unread(line);
        }
        Ok(())
    }

    fn title(&mut self, line: &str) -> bool {
        match line {
            "MLPerf Results Summary" => {}
            "Additional Stats" => self.in_stats = true,
            "Test Parameters Used" => self.in_stats = false,
            _ => return false,
        }
        self.list = List::None;
        true
    }

    /// `No warnings encountered during test.`, `2 ERRORS encountered. See detailed log.`
    fn counted(&mut self, line: &str) -> Result<bool, SummaryError> {
        let mut words = line.split(' ');
        let (Some(count), Some(what), Some("encountered" | "encountered.")) =
            (words.next(), words.next(), words.next())
        else {
            return Ok(false);
        };
        let count = if count == "No" {
            Some(0)
        } else {
            count.parse().ok()
        };
        let Some(count) = count else {
            return Ok(false);
        };
        match what {
            "warning" | "warnings" => once(&mut self.warnings, count, "warnings encountered")?,
            "ERROR" | "ERRORS" | "errors" => once(&mut self.errors, count, "errors encountered")?,
            _ => return Ok(false),
        }
        self.list = List::None;
        Ok(true)
    }

    fn pair(&mut self, line: &str) -> Result<bool, SummaryError> {
        // A bullet's own colon is no pair: `* Early stopping 90.0th percentile estimate: 12`.
        let Some((key, value)) = line.split_once(':').filter(|_| !line.starts_with('*')) else {
            return Ok(false);
        };
        let (key, value) = (key.trim_end(), value.trim_start());
        let read = self.head_line(key, value)? || self.block_line(key, value);
        if read {
            return Ok(true);
        }
        if let Some(readable) = self.parameters.take_printed(key, value) {
            self.list = List::None;
            return Ok(readable);
        }
        let lower = key.to_ascii_lowercase();
        let Some(named) = names::printed(&lower) else {
            return Ok(false);
        };
        self.list = List::None;
        // `nan` or `inf`, which a test of no length gives, is no figure.
        let Some(printed) = parse_number(value) else {
            return Ok(false);
        };
        let figure = Figure {
            value: printed.value,
            unit: named.unit.into(),
            half_digit: printed.half_digit,
            source: Source::Summary,
        };
        self.in_stats |= begins_stats(&lower);
        if !self.in_stats {
            match self.head.get(&named.name) {
                Some(before) if before.value.to_bits() != figure.value.to_bits() => {
                    return Err(SummaryError::Contradiction {
                        line: key.to_owned(),
                    });
                }
                _ => self.head.insert(named.name, figure),
            };
        } else if let Some(block) = self.stats.block_for(&named.name) {
            block.insert(named.name, figure);
        }
        Ok(true)
    }

    fn head_line(&mut self, key: &str, value: &str) -> Result<bool, SummaryError> {
        let satisfied = match value {
            "Yes" | "YES" | "yes" => Some(true),
            "No" | "NO" | "no" => Some(false),
            _ => None,
        };
        match key {
            "SUT name" => once(&mut self.sut_name, value.to_owned(), "SUT name")?,
            "Scenario" => match Scenario::from_word(value) {
                Some(scenario) => once(&mut self.scenario, scenario, "Scenario")?,
                None => return Ok(false),
            },
            "Mode" => match Mode::from_word(value) {
                Some(mode) => once(&mut self.mode, mode, "Mode")?,
                None => return Ok(false),
            },
            "Result is" => match ResultWord::from_word(value) {
                Some(word) => once(&mut self.result, word, "Result is")?,
                None => return Ok(false),
            },
            _ => {
                let constraints = &mut self.constraints;
                let (slot, line) = match key {
                    "Performance constraints satisfied" => (
                        &mut constraints.performance,
                        "Performance constraints satisfied",
                    ),
                    "Min duration satisfied" => {
                        (&mut constraints.min_duration, "Min duration satisfied")
                    }
                    "Min queries satisfied" => {
                        (&mut constraints.min_queries, "Min queries satisfied")
                    }
                    "Early stopping satisfied" => {
                        (&mut constraints.early_stopping, "Early stopping satisfied")
                    }
                    _ => return Ok(false),
                };
                match satisfied {
                    Some(satisfied) => once(slot, satisfied, line)?,
                    None => return Ok(false),
                }
            }
        }
        self.list = List::None;
        Ok(true)
    }

    fn block_line(&mut self, key: &str, value: &str) -> bool {
        match key {
            "Recommendations" => self.list = List::Recommendations,
            "Early Stopping Result" => {
                self.list = List::Query;
                self.query.get_or_insert_default();
            }
            "TTFT Early Stopping Result" => {
                self.list = List::Ttft;
                self.ttft.get_or_insert_default();
            }
            "TPOT Early Stopping Result" => {
                self.list = List::Tpot;
                self.tpot.get_or_insert_default();
            }
            "Per-query latency" => {
                self.list = List::None;
                self.in_stats = true;
            }
            "WARNING" if value.contains("sample_concatenate_permutation") => {
                self.list = List::Permutation;
                self.parameters.sample_concatenate_permutation = Some(true);
                self.notes.push(
                    "sample_concatenate_permutation was set: samples_per_query may differ from the setting"
                        .to_owned(),
                );
            }
            _ => return false,
        }
        true
    }

    /// A bulleted sentence, or what it goes on with on the next line.
    fn sentence(&mut self, line: &str) -> bool {
        let block = match self.list {
            List::None => return false,
            List::Permutation => {
                let continues = [
                    "Generated samples",
                    "Check the generated",
                    "samples_per_query value",
                ];
                return continues.iter().any(|begin| line.starts_with(begin));
            }
            List::Recommendations => {
                match (line.strip_prefix('*'), self.recommendations.last_mut()) {
                    (Some(bullet), _) => self.recommendations.push(bullet.trim().to_owned()),
                    (None, Some(last)) => {
                        last.push(' ');
                        last.push_str(line);
                    }
                    (None, None) => return false,
                }
                return true;
            }
            List::Query => &mut self.query,
            List::Ttft => &mut self.ttft,
            List::Tpot => &mut self.tpot,
        };
        let text = block.get_or_insert_default();
        // What follows a list is a title or a pair; running text is not LoadGen's.
        if !line.starts_with('*') && text.is_empty() {
            return false;
        }
        text.push(' ');
        text.push_str(line);
        true
    }

    fn leave_unread(&mut self, line: &str) {
        if self.unread.len() < MOST_UNREAD {
            self.unread.push(line.chars().take(120).collect());
        }
    }
}

/// Whether a last line ends in a number that may be only its beginning.
fn is_cut(line: &str) -> bool {
    line.contains(':')
        && line
            .ends_with(|last: char| last.is_ascii_digit() || matches!(last, '.' | 'e' | '+' | '-'))
}

/// Stats that stand without their title, as in a guide.
fn begins_stats(key: &str) -> bool {
    key.starts_with("min ") || key.starts_with("scheduled ") || key.starts_with("qps ")
}
