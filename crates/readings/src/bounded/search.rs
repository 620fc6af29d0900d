//! Searches lines for an expression, and counts the steps.

use std::ops::Range;

use regex_automata::hybrid::dfa::Cache;
use regex_automata::util::captures::Captures;
use regex_automata::{Anchored, Input, MatchError, MatchErrorKind, Span};

use super::{CACHE_BYTES_PER_STEP, DFA_CACHE_LIMIT_BYTES, MAX_STEPS, Searchers};

/// A search for an expression in the lines of a text, which counts its steps. After too many steps it finds nothing
/// more.
#[derive(Debug, Clone)]
pub struct BoundedSearch<'a> {
    /// The steps that a byte may take.
    pub(super) states: u64,
    /// None if the expression is larger than any that [`BoundedRegex::new`] lets pass.
    pub(super) running: Option<RunningSearch<'a>>,
    /// Steps other than those of the lazy DFA.
    pub(super) simulated: u64,
    /// The lazy DFA was built again too often.
    pub(super) gave_up: bool,
}

#[derive(Debug, Clone)]
pub(super) struct RunningSearch<'a> {
    pub(super) searchers: &'a Searchers,
    /// The caches of the lazy DFAs, forward and reverse.
    pub(super) caches: [Cache; 2],
    pub(super) captures: Captures,
}

impl RunningSearch<'_> {
    fn find_by_dfa(&mut self, rest: &Input<'_>) -> Result<Option<Range<usize>>, MatchError> {
        let Searchers { forward, reverse, .. } = self.searchers;
        let [ahead, back] = &mut self.caches;
        let Some(end) = forward.try_search_fwd(ahead, rest)? else {
            return Ok(None);
        };
        let before = rest.clone().span(rest.start()..end.offset()).anchored(Anchored::Yes);
        let begin = reverse.try_search_rev(back, &before)?;
        Ok(begin.map(|begin| begin.offset()..end.offset()))
    }
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
        match self.running.as_mut()?.find_by_dfa(&rest) {
            Ok(found) => found,
            Err(error) if matches!(error.kind(), MatchErrorKind::GaveUp { .. }) => {
                self.gave_up = true;
                None
            }
            // A boundary of words next to letters that are not ASCII.
            Err(_) if self.charge_steps(line.len()) => {
                let groups = &self.running.as_ref()?.searchers.groups;
                groups.find(rest).map(|found| found.range())
            }
            Err(_) => None,
        }
    }

    pub fn is_match(&mut self, line: &str) -> bool {
        self.find(line).is_some()
    }

    /// Finds the groups of the first match in a line; returns whether there is one.
    pub fn find_groups(&mut self, line: &str) -> bool {
        self.find_groups_from(line, 0)
    }

    /// Finds the groups of the first match in a line that begins at this byte or behind it.
    pub fn find_groups_from(&mut self, line: &str, from: usize) -> bool {
        let Some(found) = self.find_from(line, from) else {
            return false;
        };
        if !self.charge_steps(found.len()) {
            return false;
        }
        let Some(running) = &mut self.running else {
            return false;
        };
        let within = Input::new(line).span(found).anchored(Anchored::Yes);
        let groups = &running.searchers.groups;
        groups.search_captures(&within, &mut running.captures);
        running.captures.is_match()
    }

    /// Returns the part of the line that a group of the latest match captured.
    pub fn group_range(&self, index: usize) -> Option<Range<usize>> {
        let group = self.running.as_ref()?.captures.get_group(index);
        group.map(|Span { start, end }| start..end)
    }

    /// Returns the part of the line that a group of the latest match captured, by its name.
    pub fn named_group_range(&self, name: &str) -> Option<Range<usize>> {
        let group = self.running.as_ref()?.captures.get_group_by_name(name);
        group.map(|Span { start, end }| start..end)
    }

    /// Returns the steps so far.
    pub fn step_count(&self) -> u64 {
        if self.gave_up {
            return MAX_STEPS + 1;
        }
        let caches = self.running.iter().flat_map(|running| &running.caches);
        let built = caches.map(|cache| {
            let cleared = cache.clear_count() * DFA_CACHE_LIMIT_BYTES;
            (cleared + cache.memory_usage()) as u64
        });
        let bytes: u64 = built.sum();
        self.simulated + bytes / CACHE_BYTES_PER_STEP * self.states
    }

    /// Counts the simulation of the NFA over this many bytes; returns whether it may be done.
    pub(crate) fn charge_steps(&mut self, bytes: usize) -> bool {
        let steps = (bytes as u64 + 1) * self.states;
        self.simulated = self.simulated.saturating_add(steps);
        !self.is_exhausted()
    }

    /// Returns whether it exceeded the steps that an expression may take.
    pub fn is_exhausted(&self) -> bool {
        self.gave_up || self.simulated > MAX_STEPS
    }
}
