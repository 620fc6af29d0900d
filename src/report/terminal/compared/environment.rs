//! What differs between the environments, group by group; what does not, in one line.

use unicode_width::UnicodeWidthStr;

use super::super::grid::{Cell, GAP, columns, wrapped};
use super::super::line_of;
use super::super::style::Paint;
use super::NOTHING;
use crate::format;
use crate::report::words::clean;
use crate::verdict::comparison::{
    Comparison, EnvironmentFact, EnvironmentGroup, FactGroup, is_known_stack,
};

/// Digits of a digest that are shown: as many as Docker shows.
const DIGEST: usize = 12;
/// Differing packages that are shown, and of those that belong to no known stack.
const PACKAGES: (usize, usize) = (20, 8);
/// Differences of other groups that are shown.
const FACTS: usize = 20;
/// Before the facts of a group.
const INDENT: &str = "  ";
/// The longest value that is told of what is the same.
const ALIKE: usize = 48;

/// What differs as a table, what does not as a line; `all`: nothing is left out or cut.
pub(super) fn environment(
    comparison: &Comparison,
    width: usize,
    paint: Paint,
    all: bool,
) -> String {
    let letters: Vec<&str> = comparison
        .subjects
        .iter()
        .map(|subject| subject.letter.as_str())
        .collect();
    let mut text = String::new();
    let differing: Vec<&EnvironmentGroup> = comparison
        .environment
        .iter()
        .filter(|group| !group.differs.is_empty())
        .collect();
    if !differing.is_empty() {
        text += &differences(&differing, &letters, width, paint, all);
    }
    for group in &differing {
        let shown = shown(group, all).len();
        let more = group.differs.len() - shown + group.left_out;
        if more > 0 {
            let line = format!(
                "• {}: {} differ, {shown} shown: all of them with --verbose or --output json.",
                group.group.word(),
                group.differs.len() + group.left_out
            );
            text += &wrapped(&line, width, 2);
        }
    }
    for group in &comparison.environment {
        if !group.not_known.is_empty() {
            let of = group.not_known.join(", ");
            let line = format!("• {}: not known of {of}.", group.group.word());
            text += &wrapped(&line, width, 2);
        }
    }
    text + &alike(comparison, width, all)
}

/// The differences that are told: of packages those of known stacks, and a few others.
fn shown(group: &EnvironmentGroup, all: bool) -> &[EnvironmentFact] {
    let count = if all {
        group.differs.len()
    } else if group.group == FactGroup::Packages {
        let mut differs = group.differs.iter();
        let known = differs.position(|fact| !is_known_stack(&fact.what));
        let known = known.unwrap_or(group.differs.len());
        PACKAGES.0.min(known.saturating_add(PACKAGES.1))
    } else {
        FACTS
    };
    &group.differs[..count.min(group.differs.len())]
}

fn differences(
    groups: &[&EnvironmentGroup],
    letters: &[&str],
    width: usize,
    paint: Paint,
    all: bool,
) -> String {
    let facts = || groups.iter().flat_map(|group| shown(group, all));
    let name = |fact: &EnvironmentFact| format!("{INDENT}{}", clean(&fact.what));
    let widest = facts()
        .map(|fact| name(fact).width())
        .chain([group_width(groups)])
        .max()
        .unwrap_or(0);
    let room = width.saturating_sub(widest) / letters.len().max(1);
    let room = if all {
        usize::MAX
    } else {
        room.saturating_sub(GAP)
    };
    let values = |fact: &EnvironmentFact| -> Vec<String> {
        let values = fact.values.iter();
        values
            .map(|value| cut(&value_of(value.as_deref()), room))
            .collect()
    };
    // Cut so far that they look alike they are no difference.
    let tells = |fact: &EnvironmentFact| {
        let shown = values(fact);
        let pairs = shown.windows(2).zip(fact.values.windows(2));
        pairs
            .filter(|(_, whole)| whole[0] != whole[1])
            .all(|(shown, _)| shown[0] != shown[1])
    };
    if !facts().all(tells) {
        return listed(groups, letters, width, paint, all);
    }
    let mut head = vec![("differs", "")];
    head.extend(letters.iter().map(|letter| (*letter, "")));
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for group in groups {
        rows.push(vec![Cell::painted(group.group.word().to_owned(), "1")]);
        rows.extend(shown(group, all).iter().map(|fact| {
            let cells = values(fact).into_iter().map(|value| Cell::of([value]));
            std::iter::once(Cell::of([name(fact)]))
                .chain(cells)
                .collect()
        }));
    }
    columns(&head, &rows, width, paint)
        .unwrap_or_else(|| listed(groups, letters, width, paint, all))
}

fn group_width(groups: &[&EnvironmentGroup]) -> usize {
    let words = groups.iter().map(|group| group.group.word().width());
    words.max().unwrap_or(0)
}

/// On a narrow terminal each value has a line of its own.
fn listed(
    groups: &[&EnvironmentGroup],
    letters: &[&str],
    width: usize,
    paint: Paint,
    all: bool,
) -> String {
    let widest = letters.iter().map(|letter| letter.width()).max();
    let widest = widest.unwrap_or(1) + GAP;
    // What was seen meanwhile is no fact of the place.
    let of_place = groups
        .iter()
        .filter(|group| group.group != FactGroup::Telemetry);
    let facts: usize = of_place
        .map(|group| group.differs.len() + group.left_out)
        .sum();
    let mut text = String::new();
    let verb = if facts == 1 { "differs" } else { "differ" };
    let head = format!(
        "{} of the environment {verb}:",
        format::count(facts, "fact")
    );
    line_of(&mut text, &paint.dim(&head));
    for group in groups {
        line_of(&mut text, &paint.bold(group.group.word()));
        for fact in shown(group, all) {
            text += &broken(&format!("{INDENT}{}\n", clean(&fact.what)), width, 4);
            for (letter, value) in letters.iter().zip(&fact.values) {
                let padding = " ".repeat(widest - letter.width());
                let value = value_of(value.as_deref());
                let room = if all { usize::MAX } else { 3 * width };
                let line = format!("    {letter}{padding}{}\n", cut(&value, room));
                text += &broken(&line, width, 4 + widest);
            }
        }
    }
    text
}

/// Lines that are too long for want of a space (a path, a list of flags) are broken anywhere.
fn broken(text: &str, width: usize, indent: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let (mut first, mut rest) = at_width(line, width);
        while !rest.is_empty() {
            out += first;
            out.push('\n');
            out += &" ".repeat(indent);
            (first, rest) = at_width(rest, width.saturating_sub(indent).max(1));
        }
        out += first;
        out.push('\n');
    }
    out
}

fn at_width(text: &str, width: usize) -> (&str, &str) {
    let mut taken = 0;
    for (at, letter) in text.char_indices() {
        taken += letter.to_string().width();
        if taken > width {
            return text.split_at(at);
        }
    }
    (text, "")
}

fn alike(comparison: &Comparison, width: usize, all: bool) -> String {
    let mut words: Vec<String> = Vec::new();
    for group in &comparison.environment {
        let counted = matches!(
            group.group,
            FactGroup::Packages | FactGroup::Variables | FactGroup::Settings | FactGroup::Telemetry
        );
        let (short, long): (Vec<_>, Vec<_>) = group
            .alike
            .iter()
            .filter(|_| all || !counted)
            .partition(|fact| {
                let is_short = fact.value.width() <= ALIKE && !fact.what.starts_with("label ");
                all || is_short
            });
        words.extend(
            short
                .iter()
                .map(|fact| format!("{} {}", fact.what, value_of(Some(&fact.value)))),
        );
        let more = if all || counted {
            group.same - short.len()
        } else {
            long.len()
        };
        if more > 0 {
            let besides = if short.is_empty() { "" } else { " more" };
            words.push(format!("{more}{besides} {}", counted_as(group.group, more)));
        }
    }
    if words.is_empty() {
        return String::new();
    }
    let line = format!("the same: {}", clean(&words.join("; ")));
    broken(&wrapped(&line, width, 2), width, 2)
}

fn counted_as(group: FactGroup, count: usize) -> &'static str {
    match (group, count) {
        (FactGroup::Packages, 1) => "package",
        (FactGroup::Packages, _) => "packages",
        (FactGroup::Variables, 1) => "environment variable",
        (FactGroup::Variables, _) => "environment variables",
        (FactGroup::Settings, 1) => "setting of the host",
        (FactGroup::Settings, _) => "settings of the host",
        (FactGroup::Telemetry, 1) => "reading (within 5 %)",
        (FactGroup::Telemetry, _) => "readings (within 5 %)",
        (FactGroup::Image, _) => "of the image",
        (FactGroup::Parameters, 1) => "parameter",
        (FactGroup::Parameters, _) => "parameters",
        (FactGroup::Gpus, _) => "of the GPUs",
        (FactGroup::Host, _) => "of the host",
    }
}

/// A digest is cut as Docker cuts it; whole, it is in the JSON.
fn value_of(value: Option<&str>) -> String {
    let Some(value) = value else {
        return NOTHING.to_owned();
    };
    let value = clean(value);
    match value.strip_prefix("sha256:") {
        Some(digits) if digits.len() > DIGEST && digits.is_ascii() => {
            format!("sha256:{}…", &digits[..DIGEST])
        }
        _ => value,
    }
}

fn cut(value: &str, room: usize) -> String {
    if value.width() <= room {
        return value.to_owned();
    }
    let (kept, _) = at_width(value, room.saturating_sub(1));
    format!("{kept}…")
}
