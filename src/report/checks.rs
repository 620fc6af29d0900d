//! The checks of a host, as a person reads them.

use std::fmt::Write as _;

use crate::doctor::{Check, CheckState};
use crate::logs::sanitize;

/// One check a line; what is wanted, and what would mend it, below where something is to be done.
#[must_use]
pub fn render(checks: &[Check], color: bool) -> String {
    let width = checks
        .iter()
        .map(|check| check.name.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for check in checks {
        let (sign, code) = match check.state {
            CheckState::Ok => ("✓", "32"),
            CheckState::Unknown => ("?", "2"),
            CheckState::Warning => ("!", "33"),
            CheckState::Error => ("✗", "31"),
        };
        let sign = if color {
            format!("\u{1b}[{code}m{sign}\u{1b}[0m")
        } else {
            sign.to_owned()
        };
        let found = sanitize(&check.found);
        let _ = writeln!(text, "{sign} {:width$}  {found}", check.name);
        if check.state == CheckState::Ok {
            continue;
        }
        for (word, what) in [("wanted", &check.wanted), ("mend", &check.mend)] {
            if !what.is_empty() {
                let _ = writeln!(text, "  {:width$}    {word}: {}", "", sanitize(what));
            }
        }
    }
    text.push('\n');
    text.push_str(&summary(checks));
    text.push('\n');
    text
}

fn summary(checks: &[Check]) -> String {
    let count = |state| checks.iter().filter(|check| check.state == state).count();
    let (errors, warnings) = (count(CheckState::Error), count(CheckState::Warning));
    match (errors, warnings) {
        (0, 0) => "ready".to_owned(),
        (0, warnings) => format!(
            "ready, with {} that may cost speed or trust",
            things(warnings)
        ),
        (errors, 0) => format!("not ready: {} in the way", things(errors)),
        (errors, warnings) => format!(
            "not ready: {} in the way, and {} to know of",
            things(errors),
            things(warnings)
        ),
    }
}

fn things(count: usize) -> String {
    if count == 1 {
        "one thing".to_owned()
    } else {
        format!("{count} things")
    }
}
