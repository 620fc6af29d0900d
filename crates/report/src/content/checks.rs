//! The checks of a host: the actual state, and for problems what is required and how to fix it.

use itertools::join;

use super::marks;
use crate::document::{Block, Conclusion, Document, ListItem, StatusMark};
use retrial_document::measures::format::format_count;
use retrial_host::checks::{HostCheck, HostCheckState};

/// The checks of a host, and whether it is ready.
pub fn checks_document(checks: &[HostCheck]) -> Document {
    let items = checks.iter().map(|check| check_item(check, &check.actual));
    let mut blocks = Vec::from_iter(Block::list(items));
    let states = checks.iter().map(|check| check.state);
    blocks.push(Block::Conclusion(checks_conclusion(states)));
    Document::new("", blocks)
}

/// A check with the text of its state, and what is required and how to fix it if it is not met.
pub(super) fn check_item(check: &HostCheck, text: &str) -> ListItem {
    let is_ok = check.state == HostCheckState::Ok;
    let details = [("required", &check.required), ("help", &check.fix)].into_iter();
    let details = details.filter(|(_, text)| !is_ok && !text.is_empty());
    ListItem::with_key(&check.name, text).with_mark(check.state).with_details(details)
}

/// Concludes whether the host is ready, by the states of its checks.
pub(super) fn checks_conclusion(states: impl Iterator<Item = HostCheckState>) -> Conclusion {
    let states: Vec<HostCheckState> = states.collect();
    let count = |state| states.iter().filter(|other| **other == state).count();
    let (errors, warnings) = (count(HostCheckState::Error), count(HostCheckState::Warning));
    let (mark, word): (StatusMark, &str) = match (errors, warnings) {
        (0, 0) => (marks::GOOD, "ready"),
        (0, _) => (HostCheckState::Warning.into(), "ready"),
        _ => (HostCheckState::Error.into(), "not ready"),
    };
    Conclusion::new(mark, word, count_nouns([(errors, "error"), (warnings, "warning")]))
}

/// The numbers of things of which there are some: `2 errors, 1 warning`.
pub(super) fn count_nouns<const N: usize>(numbers: [(usize, &str); N]) -> String {
    let some = numbers.into_iter().filter(|(number, _)| *number > 0);
    join(some.map(|(number, noun)| format_count(number, noun)), ", ")
}
