//! Regular expressions of recipes: of bounded size, and searched with bounded work, whatever text they meet.
//!
//! A search is done by a lazy DFA, which reads most texts at the speed of memory. What it cannot decide that way is
//! counted in steps: its states are built from those of the NFA, and the groups of a match are found by simulating
//! the NFA. The count depends on expression and text alone, so that a verdict does not depend on the machine.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::meta::Regex as GroupRegex;
use regex_automata::nfa::thompson::{Compiler, NFA, WhichCaptures};
use regex_automata::util::captures::Captures;
use regex_automata::{Anchored, Input, MatchError, MatchErrorKind, MatchKind, Span};
use regex_syntax::ParserBuilder;

/// The longest expression, bytes.
pub const MAX_EXPRESSION_BYTES: usize = 8 << 10;
/// The largest compiled expression, bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// The deepest nesting of groups and repetitions.
const MAX_NESTING: u32 = 64;
/// The most steps of one expression over one text: some seconds of a processor.
pub const MAX_STEPS: u64 = 2_000_000_000;
/// The memory of a lazy DFA for its states, bytes; when it is full, they are built again.
const DFA_CACHE_LIMIT_BYTES: usize = 2 << 20;
/// Bytes of that memory that take one step for each state of the NFA.
const CACHE_BYTES_PER_STEP: u64 = 64;

/// The most compiled expressions that are kept: some MB, for expressions as recipes have them.
const MAX_KEPT_EXPRESSIONS: usize = 512;
/// Compiled expressions of this process by their text.
static COMPILED: Mutex<BTreeMap<String, Result<BoundedRegex, RegexError>>> =
    Mutex::new(BTreeMap::new());

/// Reasons why an expression is not searched for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegexError {
    /// It is no regular expression.
    #[error("{0}")]
    Syntax(String),
    /// It is too long.
    #[error("it has {0} bytes; the limit is {MAX_EXPRESSION_BYTES}")]
    TooLong(usize),
    /// It is too large once it is compiled: a class of many letters counts once for each repetition.
    #[error("it is larger than {MAX_COMPILED_BYTES} bytes when compiled")]
    TooLarge,
}

/// A regular expression that can be searched for in texts of others.
#[derive(Clone)]
pub struct BoundedRegex {
    expression: String,
    /// Finds the end of a match.
    forward: DFA,
    /// Finds its beginning, from its end.
    reverse: DFA,
    /// Finds the groups of a match.
    groups: GroupRegex,
    /// The states of its NFA: the steps that a byte may take.
    states: u64,
}

impl fmt::Debug for BoundedRegex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("BoundedRegex")
            .field(&self.expression)
            .finish()
    }
}

impl BoundedRegex {
    /// Compiles an expression, or returns the one that was compiled before: recipes repeat theirs in each scenario and
    /// variant.
    ///
    /// # Errors
    /// [`RegexError`]
    pub fn new(expression: &str) -> Result<Self, RegexError> {
        let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = compiled.get(expression) {
            return known.clone();
        }
        if compiled.len() >= MAX_KEPT_EXPRESSIONS {
            compiled.clear();
        }
        let regex = Self::compile(expression);
        compiled.insert(expression.to_owned(), regex.clone());
        regex
    }

    fn compile(expression: &str) -> Result<Self, RegexError> {
        if expression.len() > MAX_EXPRESSION_BYTES {
            return Err(RegexError::TooLong(expression.len()));
        }
        let mut parser = ParserBuilder::new();
        let parse_result = parser.nest_limit(MAX_NESTING).build().parse(expression);
        let parsed = parse_result.map_err(|error| RegexError::Syntax(last_line(&error)))?;
        let config = NFA::config()
            .nfa_size_limit(Some(MAX_COMPILED_BYTES))
            .which_captures(WhichCaptures::None);
        let nfa = |config| {
            let built = Compiler::new().configure(config).build_from_hir(&parsed);
            built.map_err(|_| RegexError::TooLarge)
        };
        let forward = nfa(config.clone())?;
        let reverse = nfa(config.reverse(true))?;
        let states = forward.states().len() as u64;
        let per_fill = (DFA_CACHE_LIMIT_BYTES as u64 / CACHE_BYTES_PER_STEP) * states;
        let max_fills = usize::try_from(MAX_STEPS / per_fill.max(1)).unwrap_or(usize::MAX);
        let dfa = |nfa, kind| {
            let config = DFA::config()
                .match_kind(kind)
                .cache_capacity(DFA_CACHE_LIMIT_BYTES)
                .skip_cache_capacity_check(true)
                .unicode_word_boundary(true)
                .minimum_cache_clear_count(Some(max_fills));
            let built = DFA::builder().configure(config).build_from_nfa(nfa);
            built.map_err(|_| RegexError::TooLarge)
        };
        let forward = dfa(forward, MatchKind::LeftmostFirst)?;
        let reverse = dfa(reverse, MatchKind::All)?;
        let groups = GroupRegex::builder()
            .configure(GroupRegex::config().nfa_size_limit(Some(2 * MAX_COMPILED_BYTES)))
            .build_from_hir(&parsed)
            .map_err(|_| RegexError::TooLarge)?;
        Ok(Self {
            expression: expression.to_owned(),
            forward,
            reverse,
            groups,
            states,
        })
    }

    /// Returns the expression as it was written.
    pub fn as_str(&self) -> &str {
        &self.expression
    }

    /// Returns the number of its groups, the whole match included.
    pub fn group_count(&self) -> usize {
        self.groups.captures_len()
    }

    /// Returns the names of its groups by their index.
    pub fn group_names(&self) -> impl Iterator<Item = Option<&str>> {
        let only = regex_automata::PatternID::ZERO;
        self.groups.group_info().pattern_names(only)
    }

    /// Returns a search of one text, line by line.
    pub fn start_search(&self) -> BoundedSearch<'_> {
        BoundedSearch {
            regex: self,
            caches: [self.forward.create_cache(), self.reverse.create_cache()],
            captures: self.groups.create_captures(),
            simulated: 0,
            gave_up: false,
        }
    }
}

/// The search of an expression in the lines of a text, which counts its steps. Once they are too many, nothing is
/// found any more.
#[derive(Debug, Clone)]
pub struct BoundedSearch<'a> {
    regex: &'a BoundedRegex,
    /// The caches of the lazy DFAs, forward and reverse.
    caches: [Cache; 2],
    captures: Captures,
    /// Steps other than those of the lazy DFA.
    simulated: u64,
    /// The lazy DFA was built again too often.
    gave_up: bool,
}

impl BoundedSearch<'_> {
    /// Returns the first match in a line.
    pub fn find(&mut self, line: &str) -> Option<Range<usize>> {
        self.find_from(line, 0)
    }

    /// Returns the first match in a line that begins at this byte or behind it, the end of a match before.
    pub fn find_from(&mut self, line: &str, from: usize) -> Option<Range<usize>> {
        if self.is_exhausted() || from > line.len() {
            return None;
        }
        let rest = Input::new(line).span(from..line.len());
        match self.find_by_dfa(&rest) {
            Ok(found) => found,
            Err(error) if matches!(error.kind(), MatchErrorKind::GaveUp { .. }) => {
                self.gave_up = true;
                None
            }
            // A boundary of words next to letters that are not ASCII.
            Err(_) if self.charge_steps(line.len()) => {
                let found = self.regex.groups.find(rest);
                found.map(|found| found.range())
            }
            Err(_) => None,
        }
    }

    fn find_by_dfa(&mut self, rest: &Input<'_>) -> Result<Option<Range<usize>>, MatchError> {
        let BoundedRegex {
            forward, reverse, ..
        } = self.regex;
        let [ahead, back] = &mut self.caches;
        let Some(end) = forward.try_search_fwd(ahead, rest)? else {
            return Ok(None);
        };
        let before = rest
            .clone()
            .span(rest.start()..end.offset())
            .anchored(Anchored::Yes);
        let begin = reverse.try_search_rev(back, &before)?;
        Ok(begin.map(|begin| begin.offset()..end.offset()))
    }

    /// Returns whether a line has a match.
    pub fn is_match(&mut self, line: &str) -> bool {
        self.find(line).is_some()
    }

    /// Finds the groups of the first match in a line; returns whether there is one.
    pub fn find_groups(&mut self, line: &str) -> bool {
        let Some(found) = self.find(line) else {
            return false;
        };
        if !self.charge_steps(found.len()) {
            return false;
        }
        let within = Input::new(line).span(found).anchored(Anchored::Yes);
        self.regex
            .groups
            .search_captures(&within, &mut self.captures);
        self.captures.is_match()
    }

    /// Returns the part of the line that a group of the latest match captured.
    pub fn group_range(&self, index: usize) -> Option<Range<usize>> {
        self.captures
            .get_group(index)
            .map(|Span { start, end }| start..end)
    }

    /// Returns the part of the line that a group of the latest match captured, by its name.
    pub fn named_group_range(&self, name: &str) -> Option<Range<usize>> {
        let group = self.captures.get_group_by_name(name);
        group.map(|Span { start, end }| start..end)
    }

    /// Returns the steps so far.
    pub fn step_count(&self) -> u64 {
        if self.gave_up {
            return MAX_STEPS + 1;
        }
        let built = self.caches.iter().map(|cache| {
            let cleared = cache.clear_count() * DFA_CACHE_LIMIT_BYTES;
            (cleared + cache.memory_usage()) as u64
        });
        let bytes: u64 = built.sum();
        self.simulated + bytes / CACHE_BYTES_PER_STEP * self.regex.states
    }

    /// Counts the simulation of the NFA over this many bytes; returns whether it may be done.
    pub(crate) fn charge_steps(&mut self, bytes: usize) -> bool {
        let steps = (bytes as u64 + 1) * self.regex.states;
        self.simulated = self.simulated.saturating_add(steps);
        !self.is_exhausted()
    }

    /// Returns whether it took more steps than an expression may.
    pub fn is_exhausted(&self) -> bool {
        self.gave_up || self.simulated > MAX_STEPS
    }
}

fn last_line(error: &regex_syntax::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or(&text).trim();
    last.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Text of a log in which no short period repeats.
    fn letters(bytes: usize) -> String {
        let mut state = 1_u64;
        let mut text = String::with_capacity(bytes);
        while text.len() < bytes {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            text.push(if state >> 60 & 1 == 0 { 'a' } else { 'b' });
            if text.len().is_multiple_of(60_000) {
                text.push('\n');
            }
        }
        text
    }

    #[rstest]
    #[case::long(&"a|".repeat(5000), "bytes; the limit is")]
    #[case::repeated(r"(\w{500}){500}", "when compiled")]
    #[case::counted(r"(?:a{1000}){1000}", "when compiled")]
    #[case::nested(&format!("{}{}", "(".repeat(100), ")".repeat(100)), "nest")]
    #[case::open("(", "unclosed group")]
    fn expressions_are_bounded(#[case] expression: &str, #[case] reason: &str) {
        let error = BoundedRegex::new(expression).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }

    /// Expressions for which a search of other engines takes minutes: it ends by its count of steps.
    #[rstest]
    #[case::states("(?:a|b)*a(?:a|b){400}c", 1)]
    #[case::counted("(?:[ab]{1,300}c){1,2}x", 1)]
    #[case::groups("((?:a|b)*a(?:a|b){400})", 1)]
    #[case::dots("(.*a.{1,30}b.{1,30})+", 1)]
    #[case::letters(r"(?:\w\W?){5}\b", 1)]
    #[case::not_ascii(r"\b(?:\w\W?){5}c\b", 2)]
    fn a_search_of_a_megabyte_ends_by_its_steps(#[case] expression: &str, #[case] width: usize) {
        let regex = BoundedRegex::new(expression).unwrap();
        let text = letters(1 << 20);
        let text = if width == 2 {
            text.replace("ab", "ä")
        } else {
            text
        };
        let mut search = regex.start_search();
        for line in text.lines() {
            search.find_groups(line);
        }
        assert!(search.step_count() <= 2 * MAX_STEPS + 1);
    }

    #[test]
    fn a_search_that_took_too_many_steps_finds_nothing_more() {
        let regex = BoundedRegex::new(r"\b(\w+)\b").unwrap();
        let mut search = regex.start_search();
        let line = "ä".repeat(30_000);
        let lines = MAX_STEPS / (line.len() as u64 * regex.states) + 2;
        let found = (0..lines).take_while(|_| search.find_groups(&line)).count() as u64;
        assert!(found > 0 && found < lines, "{found} of {lines}");
        assert!(search.is_exhausted() && !search.is_match("word"));
    }

    proptest! {
        #[test]
        fn groups_are_those_of_the_first_match(
            expression in "[ab(): |.*+?^$\\[\\]0-9-]{0,12}(\\(a\\+\\)|\\\\b)[ab. |*+?]{0,6}",
            line in "[abä 0-9]{0,30}",
        ) {
            let (Ok(bounded), Ok(plain)) = (BoundedRegex::new(&expression), GroupRegex::new(&expression)) else {
                return Ok(());
            };
            let mut captures = plain.create_captures();
            plain.captures(&line, &mut captures);
            let mut search = bounded.start_search();
            prop_assert_eq!(search.find_groups(&line), captures.is_match());
            for group in 0..bounded.group_count() {
                let expected = captures.get_group(group).map(|span| span.range());
                if captures.is_match() {
                    prop_assert_eq!(search.group_range(group), expected);
                }
            }
        }
    }
}
