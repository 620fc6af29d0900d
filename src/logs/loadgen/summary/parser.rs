//! The summary's lines, one after the other.

use super::stats::Stats;
use super::{Constraints, Form, Summary, SummaryError};
use crate::logs::figure::{Figure, Figures, Source, parse_number};
use crate::logs::loadgen::early_stopping::Stop;
use crate::logs::loadgen::names::{self, EARLY_STOPPING_LATENCY};
use crate::logs::loadgen::{EarlyStopping, Mode, Parameters, ResultWord, Scenario};

const MOST_UNREAD: usize = 20;

/// Where the sentences of a bulleted list go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum List {
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
    sut_name: Option<String>,
    scenario: Option<Scenario>,
    mode: Option<Mode>,
    result: Option<ResultWord>,
    constraints: Constraints,
    recommendations: Vec<String>,
    query: Option<String>,
    ttft: Option<String>,
    tpot: Option<String>,
    head: Figures,
    stats: Stats,
    parameters: Parameters,
    warnings: Option<u64>,
    errors: Option<u64>,
    notes: Vec<String>,
    unread: Vec<String>,
    list: List,
    in_stats: bool,
    excerpt: bool,
    /// Lines that only a summary has.
    known: usize,
}

/// Sets what a summary says once; a second time must say the same.
fn once<T: PartialEq>(slot: &mut Option<T>, value: T, line: &'static str) -> Result<(), SummaryError> {
    match slot {
        Some(before) if *before != value => Err(SummaryError::Contradiction { line }),
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
        let understood = self.title(line) || self.counted(line)? || self.pair(line)? || self.sentence(line);
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
        let count = if count == "No" { Some(0) } else { count.parse().ok() };
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
                    return Err(SummaryError::Contradiction { line: "figure" });
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
                    "Performance constraints satisfied" => {
                        (&mut constraints.performance, "Performance constraints satisfied")
                    }
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
                let continues = ["Generated samples", "Check the generated", "samples_per_query value"];
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

    fn finish(self) -> Result<Summary, SummaryError> {
        if self.known == 0 {
            return Err(SummaryError::NotASummary);
        }
        let mut notes = self.notes;
        let (stats, note) = self.stats.belonging_to(&self.head);
        notes.extend(note);
        let has_stats = !stats.is_empty();
        // The head has the figures that count; the stats repeat some of them.
        let mut figures = stats;
        figures.extend(self.head);
        let stop = |text: Option<String>| text.as_deref().map(Stop::parse);
        let early_stopping = EarlyStopping {
            query: stop(self.query),
            ttft: stop(self.ttft),
            tpot: stop(self.tpot),
        };
        add_estimates(&early_stopping, self.scenario, &mut figures);

        let nothing_but_counts = self.sut_name.is_none()
            && self.scenario.is_none()
            && self.mode.is_none()
            && self.result.is_none()
            && figures.is_empty();
        let accuracy = nothing_but_counts && self.warnings.is_some() && self.errors.is_some();
        let mode = self.mode.or(accuracy.then_some(Mode::Accuracy));
        let performance = mode != Some(Mode::Accuracy);
        let parts = [
            (self.sut_name.is_some() || !performance, "SUT name"),
            (self.scenario.is_some() || !performance, "Scenario"),
            (mode.is_some(), "Mode"),
            (self.result.is_some() || !performance, "Result is"),
            (has_stats || !performance, "Additional Stats"),
            (
                self.parameters.performance_sample_count.is_some() || !performance,
                "Test Parameters Used",
            ),
            (self.warnings.is_some(), "warnings encountered"),
            (self.errors.is_some(), "errors encountered"),
        ];
        let missing: Vec<_> =
            parts.into_iter().filter_map(|(there, part)| (!there).then_some(part)).collect();
        let form = if missing.is_empty() {
            Form::Whole
        } else if self.excerpt {
            Form::Excerpt
        } else {
            Form::CutOff
        };
        Ok(Summary {
            sut_name: self.sut_name,
            scenario: self.scenario,
            mode,
            result: self.result,
            constraints: self.constraints,
            recommendations: self.recommendations,
            early_stopping,
            figures,
            parameters: self.parameters,
            warnings: self.warnings,
            errors: self.errors,
            form,
            missing,
            notes,
            unread: self.unread,
        })
    }
}

/// Whether a last line ends in a number that may be only its beginning.
fn is_cut(line: &str) -> bool {
    line.contains(':') && line.ends_with(|last: char| last.is_ascii_digit() || matches!(last, '.' | 'e' | '+' | '-'))
}

/// Stats that stand without their title, as in a guide.
fn begins_stats(key: &str) -> bool {
    key.starts_with("min ") || key.starts_with("scheduled ") || key.starts_with("qps ")
}

/// Early stopping's estimates as figures; the first one of `SingleStream` and `MultiStream`, at the
/// target percentile, is what MLCommons publishes. With token latencies that is TTFT's.
fn add_estimates(stopping: &EarlyStopping, scenario: Option<Scenario>, figures: &mut Figures) {
    let blocks = [
        (&stopping.query, "early_stopping"),
        (&stopping.ttft, "ttft_early_stopping"),
        (&stopping.tpot, "tpot_early_stopping"),
    ];
    for (stop, kind) in blocks {
        for &(percentile, estimate) in stop.iter().flat_map(|stop| &stop.estimates) {
            let Some(label) = names::percentile(&percentile.to_string()) else {
                continue;
            };
            figures.insert(format!("{kind}_{label}_ns").into(), nanoseconds(estimate));
        }
    }
    let published = stopping.query.as_ref().or(stopping.ttft.as_ref());
    let first = published.and_then(|stop| stop.estimates.first());
    if let (Some(Scenario::SingleStream | Scenario::MultiStream), Some(&(_, estimate))) = (scenario, first)
    {
        figures.insert(EARLY_STOPPING_LATENCY.into(), nanoseconds(estimate));
    }
}

#[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
fn nanoseconds(value: u64) -> Figure {
    Figure {
        value: value as f64,
        unit: crate::logs::figure::NANOSECONDS.into(),
        half_digit: 0.5,
        source: Source::Summary,
    }
}
