//! The differences between environments by group, and what they have in common.

use super::DetailLevel;
use super::figures::NOTHING;
use crate::document::{Block, ListItem, Table};
use indexmap::IndexMap;
use itertools::join;
use retrial_batch::verdict::CellEnvironments;
use retrial_document::measures::format;
use retrial_results::verdict::comparison::{
    EnvironmentFact, EnvironmentGroup, FactGroup, components::is_library, is_known_stack,
};

/// The digits of a digest that are shown, as by Docker.
const DIGEST_DIGITS: usize = 12;
/// The differing packages of a brief report. More than a few others than those of the GPUs' software are only counted.
const MAX_BRIEF_PACKAGES: usize = 12;
const MAX_BRIEF_OTHERS: usize = 8;
/// The differences of other groups in a brief report.
const MAX_BRIEF_FACTS: usize = 20;
/// The differences of a group on a page.
const MAX_PAGE_FACTS: usize = 1000;
/// The most cells that the head of a column names: their names have commas.
const MAX_COLUMN_CELLS: usize = 1;
/// The longest common value that is shown.
const MAX_COMMON_VALUE_LETTERS: usize = 48;

/// Differences as a table, common facts in a sentence.
pub(super) fn difference_blocks<N: AsRef<str>>(
    names: &[N],
    groups: &[EnvironmentGroup],
    detail: DetailLevel,
) -> Vec<Block> {
    let differ = groups.iter().flat_map(|group| {
        let facts = visible_differences(group, detail).iter();
        facts.map(move |fact| (group.group.heading(), fact))
    });
    let empty_table = Table::builder("Differences between the environments", differ);
    let fact_table = empty_table.head("difference", |(_, fact)| &fact.what);
    let columns = names.iter().enumerate();
    let value_table = columns.fold(fact_table, |table, (at, name)| {
        table.text(name.as_ref(), |(_, fact)| {
            format_value(fact.values.get(at).and_then(Option::as_deref))
        })
    });
    let table = value_table.group_by(|(word, _)| (*word).to_owned()).into_block();
    let notes = groups.iter().flat_map(|group| group_notes(group, detail));
    let notes = Block::list(notes.map(ListItem::new));
    let alike = common_facts(groups, detail).join("; ");
    let alike = (!alike.is_empty()).then(|| Block::paragraph(format!("the same: {alike}")));
    [table, notes, alike].into_iter().flatten().collect()
}

/// The stack of a batch's cells, if it differs: a column for the cells of each stack. Other differences are counted.
pub(super) fn stack_blocks(cells: &CellEnvironments) -> Vec<Block> {
    let mut groups = cells.groups.iter();
    let Some(stack) = groups.find(|group| group.group == FactGroup::Stack) else {
        return Vec::new();
    };
    let mut columns: IndexMap<Vec<&str>, Vec<&str>> = IndexMap::new();
    for (at, cell) in cells.cells.iter().enumerate() {
        let values = stack.differs.iter().map(|fact| fact.values.get(at)?.as_deref());
        let values = values.map(|value| value.unwrap_or(NOTHING)).collect();
        columns.entry(values).or_default().push(cell);
    }
    let facts = stack.differs.iter().enumerate();
    let table = Table::builder("Components of the cells", facts);
    let table = table.head("component", |(_, fact)| &fact.what);
    let table = columns.iter().fold(table, |table, (values, cells)| {
        table.text(&format::join_first(cells, MAX_COLUMN_CELLS), |(at, _)| values[*at])
    });
    let others = groups.filter_map(|group| {
        let count = group.differs.len() + group.omitted;
        (count > 0).then(|| format::format_count(count, group_noun(group.group)))
    });
    let others = join(others, ", ");
    let others = (!others.is_empty())
        .then(|| format!("also different: {others} (in the formats html and json)"));
    table.into_block().into_iter().chain(others.map(Block::paragraph)).collect()
}

/// Notes on differences that the table omits, and on subjects of which nothing is known.
fn group_notes(group: &EnvironmentGroup, detail: DetailLevel) -> impl Iterator<Item = String> {
    let word = group.group.heading();
    let visible = visible_differences(group, detail).len();
    let hidden = group.differs.len() + group.omitted - visible;
    let other = if visible > 0 { "other " } else { "" };
    let noun = format!("{other}{}", group_noun(group.group));
    let differ = if hidden == 1 { "differs" } else { "differ" };
    let more = "-v or --output json lists all";
    let cut =
        (hidden > 0).then(|| format!("{} {differ}: {more}", format::format_count(hidden, &noun)));
    let letters = group.not_known.join(", ");
    let unknown = (!letters.is_empty()).then(|| format!("{word}: unknown for {letters}"));
    [cut, unknown].into_iter().flatten()
}

/// The differences that are shown: in brief, of packages those of the GPUs' software, and others if they are few.
fn visible_differences(group: &EnvironmentGroup, detail: DetailLevel) -> &[EnvironmentFact] {
    let count = match (detail, group.group) {
        (DetailLevel::Facts, _) => usize::MAX,
        (DetailLevel::Full, _) => MAX_PAGE_FACTS,
        (DetailLevel::Brief, FactGroup::Packages) => {
            let known = group.differs.iter().take_while(|fact| is_known_stack(&fact.what)).count();
            let others = group.differs.len() - known;
            let others = if others > MAX_BRIEF_OTHERS && known > 0 {
                0
            } else {
                others.min(MAX_BRIEF_OTHERS)
            };
            known.min(MAX_BRIEF_PACKAGES) + if known > MAX_BRIEF_PACKAGES { 0 } else { others }
        }
        (DetailLevel::Brief, _) => MAX_BRIEF_FACTS,
    };
    &group.differs[..count.min(group.differs.len())]
}

fn common_facts(groups: &[EnvironmentGroup], detail: DetailLevel) -> Vec<String> {
    let all = detail == DetailLevel::Facts;
    let mut words: Vec<String> = Vec::new();
    for group in groups {
        let counted = matches!(
            group.group,
            FactGroup::Packages | FactGroup::Variables | FactGroup::Settings | FactGroup::Telemetry
        );
        let is_short = |fact: &str, value: &str| {
            let is_minor = fact.starts_with("label ") || is_library(fact);
            all || value.chars().count() <= MAX_COMMON_VALUE_LETTERS && !is_minor
        };
        let named = group.alike.iter().filter(|_| all || !counted);
        let (short, long): (Vec<_>, Vec<_>) =
            named.partition(|fact| is_short(&fact.what, &fact.value));
        let facts = short.iter();
        words
            .extend(facts.map(|fact| format!("{} {}", fact.what, format_value(Some(&fact.value)))));
        let more = if all || counted { group.same - short.len() } else { long.len() };
        if more > 0 {
            let besides = if short.is_empty() { "" } else { "more " };
            let count =
                format::format_count(more, &format!("{besides}{}", group_noun(group.group)));
            words.push(match group.group {
                FactGroup::Telemetry => format!("{count} (within 5 %)"),
                _ => count,
            });
        }
    }
    words
}

fn group_noun(group: FactGroup) -> &'static str {
    match group {
        FactGroup::Stack => "component",
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
fn format_value(value: Option<&str>) -> String {
    let Some(value) = value else {
        return NOTHING.to_owned();
    };
    match value.strip_prefix("sha256:") {
        Some(digits) if digits.len() > DIGEST_DIGITS && digits.is_ascii() => {
            format!("sha256:{}…", &digits[..DIGEST_DIGITS])
        }
        _ => value.to_owned(),
    }
}
