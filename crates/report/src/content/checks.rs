//! The checks of a host: the actual state, and for problems what is required and how to fix it.

use itertools::join;

use super::marks;
use crate::document::{Block, Conclusion, Document, Item, Mark};
use retrial_document::measures::format::count;
use retrial_host::checks::{Check, CheckState};

/// The checks of a host, and whether it is ready.
pub fn document(checks: &[Check]) -> Document {
    let items = checks.iter().map(|check| item(check, &check.actual));
    let mut blocks = Vec::from_iter(Block::list(items));
    let states = checks.iter().map(|check| check.state);
    blocks.push(Block::Conclusion(conclusion(states)));
    Document::new("", blocks)
}

/// A check with the text of its state, and what is required and how to fix it if it is not met.
pub(super) fn item(check: &Check, text: &str) -> Item {
    let is_ok = check.state == CheckState::Ok;
    let details = [("required", &check.required), ("fix", &check.fix)].into_iter();
    let details = details.filter(|(_, text)| !is_ok && !text.is_empty());
    Item::keyed(&check.name, text)
        .marked(check.state)
        .detailed(details)
}

/// Concludes whether the host is ready, by the states of its checks.
pub(super) fn conclusion(states: impl Iterator<Item = CheckState>) -> Conclusion {
    let states: Vec<CheckState> = states.collect();
    let count = |state| states.iter().filter(|other| **other == state).count();
    let (errors, warnings) = (count(CheckState::Error), count(CheckState::Warning));
    let (mark, word): (Mark, &str) = match (errors, warnings) {
        (0, 0) => (marks::GOOD, "ready"),
        (0, _) => (CheckState::Warning.into(), "ready"),
        _ => (CheckState::Error.into(), "not ready"),
    };
    Conclusion::new(
        mark,
        word,
        counted([(errors, "error"), (warnings, "warning")]),
    )
}

/// The numbers of things of which there are some: `2 errors, 1 warning`.
pub(super) fn counted<const N: usize>(numbers: [(usize, &str); N]) -> String {
    let some = numbers.into_iter().filter(|(number, _)| *number > 0);
    join(some.map(|(number, noun)| count(number, noun)), ", ")
}
