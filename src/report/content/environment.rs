//! The differences between environments by group, and what they have in common.

use super::Detail;
use super::figures::NOTHING;
use crate::format;
use crate::report::document::{Block, Column, Group, Item, Table};
use crate::results::verdict::comparison::{
    EnvironmentFact, EnvironmentGroup, FactGroup, is_known_stack,
};

/// The digits of a digest that are shown, as by Docker.
const DIGEST: usize = 12;
/// The differing packages of a brief report, and those of no known stack among them.
const PACKAGES: (usize, usize) = (20, 8);
/// The differences of other groups in a brief report.
const FACTS: usize = 20;
/// The differences of a group on a page.
const MOST: usize = 1000;
/// The longest common value that is shown.
const ALIKE: usize = 48;

/// Differences as a table, common facts in a sentence.
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
            let more = "--verbose or --output json shows all";
            notes.push(format!(
                "{word}: {all} differ, {} shown; {more}",
                shown.len()
            ));
        }
        if !group.not_known.is_empty() {
            let of = group.not_known.join(", ");
            notes.push(format!("{}: unknown of {of}", group.group.word()));
        }
    }
    let mut blocks = Vec::new();
    if !tables.is_empty() {
        let mut columns = vec![Column::head("difference")];
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

/// The differences that are shown: in brief, of packages those of known stacks and a few others.
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
        let facts = short.iter();
        words.extend(facts.map(|fact| format!("{} {}", fact.what, value_of(Some(&fact.value)))));
        let more = if all || counted {
            group.same - short.len()
        } else {
            long.len()
        };
        if more > 0 {
            let besides = if short.is_empty() { "" } else { "more " };
            let count = format::count(more, &format!("{besides}{}", noun(group.group)));
            words.push(match group.group {
                FactGroup::Telemetry => format!("{count} (within 5 %)"),
                _ => count,
            });
        }
    }
    words
}

fn noun(group: FactGroup) -> &'static str {
    match group {
        FactGroup::Packages => "package",
        FactGroup::Variables => "environment variable",
        FactGroup::Settings => "host setting",
        FactGroup::Telemetry => "similar reading",
        FactGroup::Image => "image property",
        FactGroup::Parameters => "parameter",
        FactGroup::Gpus => "GPU property",
        FactGroup::Host => "host property",
    }
}

/// A digest is cut as by Docker; the JSON has all of it.
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
