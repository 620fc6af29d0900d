//! The checks of a host: the actual state, and for problems what is required and how to fix it.

use super::marks;
use crate::format::count;
use crate::host::checks::{Check, CheckState};
use crate::report::document::{Block, Conclusion, Document, Item, Line, Mark};

/// The checks of a host, and whether it is ready.
#[must_use]
pub fn document(checks: &[Check]) -> Document {
    let items = checks.iter().map(|check| item(check, &check.name));
    let mut blocks: Vec<Block> = Block::list(items).into_iter().collect();
    let states = checks.iter().map(|check| check.state);
    blocks.push(Block::Conclusion(conclusion(states)));
    Document {
        blocks,
        ..Document::default()
    }
}

/// A check by a name, with what is required and how to fix it if it is not met.
pub(super) fn item(check: &Check, name: &str) -> Item {
    let details = [("required", &check.required), ("fix", &check.fix)];
    let details = details.into_iter().filter(|(_, text)| !text.is_empty());
    let details: Vec<(Line, Line)> = details
        .map(|(label, text)| (label.into(), text.into()))
        .collect();
    let is_ok = check.state == CheckState::Ok;
    Item {
        details: if is_ok { Vec::new() } else { details },
        ..Item::keyed(name, &check.actual).marked(check.state.into())
    }
}

/// Whether everything is ready, by the states of its checks.
pub(super) fn conclusion(states: impl Iterator<Item = CheckState>) -> Conclusion {
    let states: Vec<CheckState> = states.collect();
    let of = |state| states.iter().filter(|one| **one == state).count();
    let (errors, warnings) = (of(CheckState::Error), of(CheckState::Warning));
    let (mark, word): (Mark, &str) = match (errors, warnings) {
        (0, 0) => (marks::GOOD, "ready"),
        (0, _) => (CheckState::Warning.into(), "ready"),
        _ => (CheckState::Error.into(), "not ready"),
    };
    let parts = [(errors, "error"), (warnings, "warning")];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, noun)| count(number, noun)).collect();
    Conclusion {
        mark: Some(mark),
        word: word.into(),
        sentence: parts.join(", ").into(),
        ..Conclusion::default()
    }
}
