//! How environments differ, group by group, and what they have in common.

use super::Detail;
use super::figures::NOTHING;
use crate::report::document::{Block, Column, Group, Item, Table};
use crate::results::verdict::comparison::{
    EnvironmentFact, EnvironmentGroup, FactGroup, is_known_stack,
};

/// Digits of a digest that are shown: as many as Docker shows.
const DIGEST: usize = 12;
/// Differing packages that are shown in brief, and of those that belong to no known stack.
const PACKAGES: (usize, usize) = (20, 8);
/// Differences of other groups that are shown in brief.
const FACTS: usize = 20;
/// Differences of a group that a page has room for.
const MOST: usize = 1000;
/// The longest value that is told of what is the same.
const ALIKE: usize = 48;

/// What differs as a table, what does not in a sentence.
pub(super) fn blocks(names: &[&str], groups: &[EnvironmentGroup], detail: Detail) -> Vec<Block> {
    let mut tables = Vec::new();
    let mut notes = Vec::new();
    for group in groups {
        let shown = shown(group, detail);
        let all = group.differs.len() + group.left_out;
        if !shown.is_empty() {
            let rows = shown.iter().map(|fact| {
                let values = fact
                    .values
                    .iter()
                    .map(|value| value_of(value.as_deref()).into());
                std::iter::once(fact.what.as_str().into())
                    .chain(values)
                    .collect()
            });
            tables.push(Group {
                title: Some(group.group.word().into()),
                rows: rows.collect(),
            });
        }
        if all > shown.len() {
            let word = group.group.word();
            let more = "--verbose or --output json shows all.";
            notes.push(format!(
                "{word}: {all} differ, {} shown; {more}",
                shown.len()
            ));
        }
        if !group.not_known.is_empty() {
            let of = group.not_known.join(", ");
            notes.push(format!("{}: not known of {of}.", group.group.word()));
        }
    }
    let mut blocks = Vec::new();
    if !tables.is_empty() {
        let mut columns = vec![Column::head("differs")];
        columns.extend(names.iter().map(|name| Column::text(*name)));
        let table = Table::new("Differences between the environments", columns, []);
        let groups = tables;
        blocks.push(Block::Table(Table { groups, ..table }));
    }
    blocks.extend(Block::list(notes.into_iter().map(Item::new)));
    let alike = alike(groups, detail);
    if !alike.is_empty() {
        blocks.push(Block::paragraph(format!("the same: {}", alike.join("; "))));
    }
    blocks
}

/// The differences that are told: in brief, of packages those of known stacks and a few others.
fn shown(group: &EnvironmentGroup, detail: Detail) -> &[EnvironmentFact] {
    let count = match (detail, group.group) {
        (Detail::Facts, _) => usize::MAX,
        (Detail::Full, _) => MOST,
        (Detail::Brief, FactGroup::Packages) => {
            let mut differs = group.differs.iter();
            let known = differs.position(|fact| !is_known_stack(&fact.what));
            let known = known.unwrap_or(group.differs.len());
            PACKAGES.0.min(known.saturating_add(PACKAGES.1))
        }
        (Detail::Brief, _) => FACTS,
    };
    &group.differs[..count.min(group.differs.len())]
}

fn alike(groups: &[EnvironmentGroup], detail: Detail) -> Vec<String> {
    let all = detail == Detail::Facts;
    let mut words: Vec<String> = Vec::new();
    for group in groups {
        let counted = matches!(
            group.group,
            FactGroup::Packages | FactGroup::Variables | FactGroup::Settings | FactGroup::Telemetry
        );
        let is_short = |fact: &str, value: &str| {
            all || value.chars().count() <= ALIKE && !fact.starts_with("label ")
        };
        let named = group.alike.iter().filter(|_| all || !counted);
        let (short, long): (Vec<_>, Vec<_>) =
            named.partition(|fact| is_short(&fact.what, &fact.value));
        let told = short.iter();
        words.extend(told.map(|fact| format!("{} {}", fact.what, value_of(Some(&fact.value)))));
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
    words
}

fn counted_as(group: FactGroup, count: usize) -> String {
    let noun = match group {
        FactGroup::Packages => "package",
        FactGroup::Variables => "environment variable",
        FactGroup::Settings => "host setting",
        FactGroup::Telemetry => "reading",
        FactGroup::Image => "image property",
        FactGroup::Parameters => "parameter",
        FactGroup::Gpus => "GPU property",
        FactGroup::Host => "host property",
    };
    let nouns = match (count, noun.strip_suffix('y')) {
        (1, _) => noun.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) => format!("{noun}s"),
    };
    match group {
        FactGroup::Telemetry => format!("{nouns} (within 5 %)"),
        _ => nouns,
    }
}

/// A digest is cut as Docker cuts it; whole, it is in the JSON.
fn value_of(value: Option<&str>) -> String {
    let Some(value) = value else {
        return NOTHING.to_owned();
    };
    match value.strip_prefix("sha256:") {
        Some(digits) if digits.len() > DIGEST && digits.is_ascii() => {
            format!("sha256:{}…", &digits[..DIGEST])
        }
        _ => value.to_owned(),
    }
}
