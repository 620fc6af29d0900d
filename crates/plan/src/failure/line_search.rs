//! Searches output for lines that show a failure, and for those that show progress: of a running command as it
//! grows, or as it was left. Pure: its inputs are bytes and times.

use std::fmt;
use std::time::{Duration, Instant};

use regex::{Regex, RegexSet};

use super::FailureSigns;
use retrial_document::measures::format::format_time_limit;
use retrial_readings::lines::LineSplitter;
use retrial_readings::nearest::truncate_for_message;
use retrial_readings::sanitize;
use retrial_recipe::model::ProgressRule;

/// The idle time after which an unterminated line is searched.
const UNTERMINATED_LINE_TIMEOUT: Duration = Duration::from_secs(1);

/// A line that shows that its command failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedLine {
    pub pattern: String,
    /// The number of the line in the output, from 1.
    pub number: u64,
    /// The text of the line, without control characters, shortened.
    pub line: String,
    /// The GPU that the line names, by the pattern's group `gpu`.
    pub gpu: Option<String>,
    /// Lines before this age of the command, seconds, are no failure.
    pub after_s: Option<u64>,
}

/// `GPU 3: line 2 of its output matches 'out of memory': GPU 3: out of memory`
impl fmt::Display for FailedLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, pattern) = (self.number, &self.pattern);
        if let Some(gpu) = &self.gpu {
            write!(formatter, "GPU {gpu}: ")?;
        }
        write!(formatter, "line {number} of its output matches '{pattern}'")?;
        if let Some(after) = self.after_s {
            write!(formatter, ", {} after its start", format_time_limit(after))?;
        }
        write!(formatter, ": {}", self.line)
    }
}

/// The search of one command's output.
#[derive(Debug)]
pub struct LineSearch {
    pattern_set: RegexSet,
    patterns: Vec<(Regex, Option<Duration>)>,
    progress: Option<(Regex, ProgressRule)>,
    splitter: LineSplitter,
    /// The number of complete lines.
    lines: u64,
    last_progress: Instant,
    /// When the last bytes of an unterminated, unsearched line arrived.
    unterminated_since: Option<Instant>,
}

impl LineSearch {
    /// A search from the first byte of the output.
    ///
    /// # Errors
    /// If a pattern is no regular expression.
    pub fn new(signs: &FailureSigns, now: Instant) -> Result<Self, regex::Error> {
        let output_signs = signs.output.iter();
        let patterns = output_signs.map(|sign| Ok((Regex::new(&sign.pattern)?, sign.after)));
        let progress = signs.progress.as_ref();
        let progress =
            progress.map(|rule| Ok::<_, regex::Error>((Regex::new(&rule.pattern)?, rule.clone())));
        Ok(Self {
            pattern_set: RegexSet::new(signs.output.iter().map(|sign| &sign.pattern))?,
            patterns: patterns.collect::<Result<_, regex::Error>>()?,
            progress: progress.transpose()?,
            splitter: LineSplitter::with_overwritten_text(),
            lines: 0,
            last_progress: now,
            unterminated_since: None,
        })
    }

    /// Reads the next bytes of output. `age` is how long the command has run; none if it was already
    /// written when the search began.
    pub fn push(
        &mut self,
        bytes: &[u8],
        age: Option<Duration>,
        now: Instant,
    ) -> Option<FailedLine> {
        let mut found = None;
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.push(bytes, |line| {
            self.lines += u64::from(!line.continues);
            let number = self.lines + u64::from(line.continues);
            found = found.take().or_else(|| self.search_line(&line.text, number, age));
            // What is overwritten now was progress when it was printed.
            if !line.continues {
                self.note_progress(&line.text, now);
            }
        });
        // A progress bar redraws a line that does not end.
        let rest = splitter.unfinished_line();
        self.unterminated_since = rest.as_ref().map(|_| now);
        if let Some(rest) = rest {
            self.note_progress(&rest, now);
        }
        self.splitter = splitter;
        found
    }

    /// Searches an unterminated line, once nothing more arrives, or because the command has ended.
    pub fn search_unterminated(
        &mut self,
        age: Option<Duration>,
        now: Instant,
        ended: bool,
    ) -> Option<FailedLine> {
        let since = self.unterminated_since?;
        if !ended && now.duration_since(since) < UNTERMINATED_LINE_TIMEOUT {
            return None;
        }
        self.unterminated_since = None;
        let rest = self.splitter.unfinished_line()?.into_owned();
        self.search_line(&rest, self.lines + 1, age)
    }

    /// The rule of progress, if no line met it for too long.
    pub fn stalled_rule(&self, now: Instant) -> Option<&ProgressRule> {
        let (_, rule) = self.progress.as_ref()?;
        (now.duration_since(self.last_progress) >= rule.within).then_some(rule)
    }

    fn note_progress(&mut self, line: &str, now: Instant) {
        if let Some((pattern, _)) = &self.progress
            && pattern.is_match(line)
        {
            self.last_progress = now;
            self.progress.take_if(|(_, rule)| rule.once);
        }
    }

    fn search_line(&self, line: &str, number: u64, age: Option<Duration>) -> Option<FailedLine> {
        let matched_patterns = self.pattern_set.matches(line);
        let counts = |after: Option<Duration>| match (after, age) {
            (None, _) => true,
            (Some(after), Some(age)) => age >= after,
            (Some(_), None) => false,
        };
        let mut matches = matched_patterns.iter().map(|index| &self.patterns[index]);
        let (pattern, after) = matches.find(|(_, after)| counts(*after))?;
        let captures = pattern.captures(line);
        let gpu = captures.and_then(|captures| Some(captures.name("gpu")?.as_str().to_owned()));
        Some(FailedLine {
            pattern: pattern.as_str().to_owned(),
            number,
            line: truncate_for_message(&sanitize(line)),
            gpu: gpu.map(|gpu| sanitize(&gpu).into_owned()),
            after_s: after.map(|after| after.as_secs()),
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use retrial_recipe::model::FailurePattern;

    const HOUR: Duration = Duration::from_hours(1);

    fn start_search(patterns: &[(&str, Option<Duration>)], start: Instant) -> LineSearch {
        let output = patterns.iter().map(|(pattern, after)| FailurePattern {
            pattern: (*pattern).to_owned(),
            after: *after,
        });
        let progress = ProgressRule {
            pattern: "step [0-9]+".to_owned(),
            within: Duration::from_mins(1),
            once: false,
        };
        let signs = FailureSigns {
            output: output.collect(),
            progress: Some(progress),
            dead_child: None,
            missing_child: None,
        };
        LineSearch::new(&signs, start).unwrap()
    }

    #[rstest]
    #[case(&["one\nGPU 3: out of ", "memory, really\n"])]
    #[case(&["one\nGPU 3: out of memory, really\ntwo\n"])]
    #[case(&["o", "ne\r\nG", "PU 3: out of memory, really", "\n"])]
    #[case(&["one\n10 %\rGPU 3: out of memory, really\r20 %\n"])]
    fn a_line_is_found_with_any_chunking(#[case] writes: &[&str]) {
        let now = Instant::now();
        let mut search =
            start_search(&[("nothing", None), (r"GPU (?<gpu>\d+): out of memory", None)], now);
        let mut found = None;
        for bytes in writes {
            found = found.or(search.push(bytes.as_bytes(), Some(Duration::ZERO), now));
        }
        let text = "GPU 3: line 2 of its output matches 'GPU (?<gpu>\\d+): out of memory': GPU 3: out of memory, really";
        assert_eq!(found.unwrap().to_string(), text);
    }

    #[test]
    fn an_unterminated_line_is_searched_after_a_pause() {
        let start = Instant::now();
        let mut search = start_search(&[("died$", None)], start);
        let age = Some(Duration::ZERO);
        assert_eq!(search.push(b"the worker died", age, start), None);
        assert_eq!(search.search_unterminated(age, start, false), None);
        assert_eq!(search.push(b" of old age, well", age, start), None);
        assert_eq!(search.search_unterminated(age, start + UNTERMINATED_LINE_TIMEOUT, false), None);
        assert_eq!(search.push(b"\nanother died", age, start), None);
        assert!(
            search.search_unterminated(age, start + UNTERMINATED_LINE_TIMEOUT, false).is_some()
        );
        assert_eq!(
            search.search_unterminated(age, start + UNTERMINATED_LINE_TIMEOUT, true),
            None,
            "once"
        );
    }

    #[test]
    fn a_line_before_the_minimum_age_is_not_a_failure() {
        let now = Instant::now();
        let mut search = start_search(&[("Polling server", Some(HOUR))], now);
        let line = b"i=0 | Polling server...\n";
        assert_eq!(search.push(line, Some(HOUR / 2), now), None);
        assert_eq!(search.push(line, None, now), None, "of unknown time");
        let found = search.push(line, Some(HOUR), now).unwrap();
        let text = "line 3 of its output matches 'Polling server', 1h after its start: i=0 | Polling server...";
        assert_eq!(found.to_string(), text);
    }

    #[test]
    fn progress_lines_must_recur() {
        let start = Instant::now();
        let minute = Duration::from_mins(1);
        let mut search = start_search(&[], start);
        let push = |search: &mut LineSearch, text: &str, now| {
            assert_eq!(search.push(text.as_bytes(), Some(HOUR), now), None);
        };
        push(&mut search, "step 1\n", start + minute / 2);
        push(&mut search, "waiting\n", start + minute);
        assert_eq!(search.stalled_rule(start + minute), None);
        // A progress bar does not terminate its line.
        push(&mut search, "\rstep 2 of 9", start + minute);
        push(&mut search, "\rwaiting", start + 2 * minute);
        let rule = search.stalled_rule(start + 2 * minute).unwrap();
        assert_eq!((rule.pattern.as_str(), rule.within), ("step [0-9]+", minute));
    }

    #[test]
    fn once_is_enough_if_the_rule_allows_it() {
        let (start, minute) = (Instant::now(), Duration::from_mins(1));
        let mut search = start_search(&[], start);
        search.progress.as_mut().unwrap().1.once = true;
        assert!(search.stalled_rule(start + minute).is_some());
        assert_eq!(search.push(b"step 1\n", Some(HOUR), start), None);
        assert_eq!(search.stalled_rule(start + HOUR), None);
    }
}
