//! Regular expressions of recipes: of bounded size, and searched with bounded work, whatever text they meet.
//!
//! A search is done by a lazy DFA, which reads most texts at the speed of memory. What it cannot decide that way is
//! counted in steps: its states are built from those of the NFA, and the groups of a match are found by simulating
//! the NFA. The count depends on expression and text alone, so that a verdict does not depend on the machine.

mod search;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex_automata::MatchKind;
use regex_automata::hybrid::dfa::DFA;
use regex_automata::meta::Regex as GroupRegex;
use regex_automata::nfa::thompson::{Compiler, NFA, WhichCaptures};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

pub use search::BoundedSearch;
use search::RunningSearch;

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
    #[error("it has {0} bytes; the limit is {MAX_EXPRESSION_BYTES}")]
    TooLong(usize),
    /// It is too large once it is compiled: a class of many letters counts once for each repetition.
    #[error("it is larger than {MAX_COMPILED_BYTES} bytes when compiled")]
    TooLarge,
}

/// The largest NFA, bytes, and the most groups with which an expression is within the limits in its other forms, too:
/// each group adds two states to a state at most, and reading backwards takes a few times as many.
const SURELY_BOUNDED: (usize, usize) = (MAX_COMPILED_BYTES / 16, 8);

/// A regular expression that can be searched for in texts of others.
#[derive(Clone)]
pub struct BoundedRegex(Arc<Expression>);

struct Expression {
    text: String,
    parsed: Hir,
    group_names: Vec<Option<String>>,
    /// Reads forward. A byte may take as many steps as it has states.
    nfa: NFA,
    /// Built at the first search, since most expressions are only checked.
    searchers: OnceLock<Result<Searchers, RegexError>>,
}

/// The forms in which an expression is searched for.
#[derive(Debug)]
struct Searchers {
    /// Finds the end of a match.
    forward: DFA,
    /// Finds its beginning, from its end.
    reverse: DFA,
    /// Finds the groups of a match.
    groups: GroupRegex,
}

impl fmt::Debug for BoundedRegex {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tuple = formatter.debug_tuple("BoundedRegex");
        tuple.field(&self.0.text).finish()
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
        let mut group_names = vec![None];
        name_groups(&parsed, &mut group_names);
        let expression = Expression {
            text: expression.to_owned(),
            nfa: compile_nfa(&parsed, false)?,
            group_names,
            parsed,
            searchers: OnceLock::new(),
        };
        let (max_bytes, max_groups) = SURELY_BOUNDED;
        if expression.nfa.memory_usage() > max_bytes || expression.group_names.len() > max_groups {
            expression.searchers()?;
        }
        Ok(Self(Arc::new(expression)))
    }

    /// Returns the expression as it was written.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// Returns the number of its groups, the whole match included.
    pub fn group_count(&self) -> usize {
        self.0.group_names.len()
    }

    /// Returns the names of its groups by their index.
    pub fn group_names(&self) -> impl Iterator<Item = Option<&str>> {
        self.0.group_names.iter().map(Option::as_deref)
    }

    /// Returns a search of one text, line by line.
    pub fn start_search(&self) -> BoundedSearch<'_> {
        let searchers = self.0.searchers().ok();
        BoundedSearch {
            states: self.0.states(),
            running: searchers.map(|searchers| RunningSearch {
                searchers,
                caches: [searchers.forward.create_cache(), searchers.reverse.create_cache()],
                captures: searchers.groups.create_captures(),
            }),
            simulated: 0,
            gave_up: searchers.is_none(),
        }
    }
}

impl Expression {
    fn states(&self) -> u64 {
        self.nfa.states().len() as u64
    }

    fn searchers(&self) -> Result<&Searchers, RegexError> {
        let built = self.searchers.get_or_init(|| self.build_searchers());
        built.as_ref().map_err(Clone::clone)
    }

    fn build_searchers(&self) -> Result<Searchers, RegexError> {
        let per_fill = (DFA_CACHE_LIMIT_BYTES as u64 / CACHE_BYTES_PER_STEP) * self.states();
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
        Ok(Searchers {
            forward: dfa(self.nfa.clone(), MatchKind::LeftmostFirst)?,
            reverse: dfa(compile_nfa(&self.parsed, true)?, MatchKind::All)?,
            groups: GroupRegex::builder()
                .configure(GroupRegex::config().nfa_size_limit(Some(2 * MAX_COMPILED_BYTES)))
                .build_from_hir(&self.parsed)
                .map_err(|_| RegexError::TooLarge)?,
        })
    }
}

fn compile_nfa(parsed: &Hir, reverse: bool) -> Result<NFA, RegexError> {
    let config = NFA::config()
        .nfa_size_limit(Some(MAX_COMPILED_BYTES))
        .which_captures(WhichCaptures::None)
        .reverse(reverse);
    let built = Compiler::new().configure(config).build_from_hir(parsed);
    built.map_err(|_| RegexError::TooLarge)
}

/// Adds the names of the groups by their index.
fn name_groups(parsed: &Hir, names: &mut Vec<Option<String>>) {
    if let HirKind::Capture(group) = parsed.kind() {
        let index = group.index as usize;
        names.resize(names.len().max(index + 1), None);
        names[index] = group.name.as_deref().map(str::to_owned);
    }
    for part in parsed.kind().subs() {
        name_groups(part, names);
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
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
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
        let text = if width == 2 { text.replace("ab", "ä") } else { text };
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
        let lines = MAX_STEPS / (line.len() as u64 * regex.0.states()) + 2;
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
            prop_assert_eq!(bounded.group_count(), plain.captures_len());
            for group in 0..bounded.group_count() {
                let expected = captures.get_group(group).map(|span| span.range());
                if captures.is_match() {
                    prop_assert_eq!(search.group_range(group), expected);
                }
            }
        }
    }
}
