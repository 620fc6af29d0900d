//! Runs grouped along one axis, everything else being equal.

use std::collections::BTreeMap;

use super::RunSummary;
use crate::release_order::{AxisOrder, names_release};
use retrial_recipe::ImageSetting;
use retrial_results::verdict::comparison::{Fact, FactGroup, components};
use retrial_rocm::RocmRelease;

/// A property of a run, with its name.
type RunProperty = (&'static str, fn(&RunSummary) -> &String);

/// The properties, besides variants and parameters, by which runs can be compared.
pub const COMPARABLE_PROPERTIES: [RunProperty; 9] = [
    ("host", |row| &row.host),
    ("gpus", |row| &row.gpus),
    ("rocm", |row| &row.rocm),
    ("rocm_host", |row| &row.rocm_host),
    ("driver", |row| &row.driver),
    ("kernel", |row| &row.kernel),
    ("image", |row| &row.image),
    ("digest", |row| &row.digest),
    ("retrial", |row| &row.tool),
];

/// The axis of the release in the container.
const ROCM_AXIS: &str = "rocm";

/// Runs of one recipe that have everything in common but for the axis.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparableRuns<'a> {
    /// The values that they have in common: recipe, other axes, host and GPUs.
    pub title: String,
    /// The axis' values, in their order, each with its runs, the newest last.
    pub sides: Vec<(&'a str, Vec<&'a RunSummary>)>,
}

/// A history along an axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupedRuns<'a> {
    /// Groups with at least two values of the axis.
    pub groups: Vec<ComparableRuns<'a>>,
    /// Runs that do not have the axis.
    pub without_axis: usize,
    /// Runs that have no verdict.
    pub unjudged: usize,
    /// Runs without a counterpart that differs only in the axis.
    pub unmatched: usize,
    /// Runs of another text of the recipe than the newest one with the same value.
    pub of_other_text: usize,
}

impl RunSummary {
    /// The value of a variant axis, a parameter, or one of [`COMPARABLE_PROPERTIES`]. A variant `rocm` of releases is
    /// only what was chosen: the container's release counts, where it is known.
    pub fn axis_value(&self, axis: &str) -> Option<&str> {
        let is_release = |value: &&String| value.parse::<RocmRelease>().is_ok();
        let is_read = axis == ROCM_AXIS && !self.rocm.is_empty();
        let chosen = self.variant.get(axis).or_else(|| self.params.get(axis));
        let chosen = chosen.filter(|value| !(is_read && is_release(value)));
        let property = || {
            let (_, property) = COMPARABLE_PROPERTIES.iter().find(|(name, _)| *name == axis)?;
            Some(property(self))
        };
        let value = chosen.or_else(property)?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }

    /// Returns whether a chosen value only names the release in the container: variant `release` is `10.1`.
    fn is_own_release(&self, value: &str) -> bool {
        let releases = value.parse().ok().zip(self.rocm.parse().ok());
        releases.is_some_and(|(value, release)| names_release(&value, &release))
    }

    /// Returns its environment, as far as the summary states it.
    pub fn environment_facts(&self) -> Vec<Fact> {
        let mut facts = vec![
            Fact::new(FactGroup::Image, "image", &*self.image),
            Fact::new(FactGroup::Image, "image digest", &*self.digest),
        ];
        for (kind, chosen) in [("variant", &self.variant), ("param", &self.params)] {
            facts.extend(chosen.iter().map(|(name, value)| {
                Fact::new(FactGroup::Parameters, format!("{kind} {name}"), &**value)
            }));
        }
        facts.extend([
            Fact::new(FactGroup::Gpus, "GPUs", &*self.gpus),
            Fact::new(FactGroup::Stack, components::ROCM, &*self.rocm),
            Fact::new(FactGroup::Stack, "driver", &*self.driver),
            Fact::new(FactGroup::Gpus, "ROCm of the host", &*self.rocm_host),
            Fact::new(FactGroup::Host, "host", &*self.host),
            Fact::new(FactGroup::Host, "kernel", &*self.kernel),
            Fact::new(FactGroup::Host, "retrial", &*self.tool),
        ]);
        facts.retain(|fact| !fact.value.is_empty());
        facts
    }
}

/// Groups runs that differ in the axis and in nothing else that was chosen.
pub fn group_by_axis<'a>(rows: &'a [RunSummary], axis: &str) -> GroupedRuns<'a> {
    let mut grouped = GroupedRuns::default();
    let mut groups: BTreeMap<Vec<String>, BTreeMap<&str, Vec<&RunSummary>>> = BTreeMap::new();
    for row in rows {
        let Some(value) = row.axis_value(axis) else {
            grouped.without_axis += 1;
            continue;
        };
        if row.measured.is_none() {
            grouped.unjudged += 1;
            continue;
        }
        let sides = groups.entry(shared_properties(row, axis)).or_default();
        sides.entry(value).or_default().push(row);
    }
    for (rest, sides) in groups {
        if sides.len() < 2 {
            grouped.unmatched += sides.values().map(Vec::len).sum::<usize>();
            continue;
        }
        let mut sorted_sides: Vec<(&str, Vec<&RunSummary>)> = sides.into_iter().collect();
        for (_, runs) in &mut sorted_sides {
            let before = runs.len();
            // A choice changes the text, too.
            let newest = |run: &RunSummary| {
                let mut newer = runs.iter().rev();
                newer.find(|other| other.chosen_settings().eq(run.chosen_settings()))
            };
            let is_newest = |run: &&RunSummary| {
                newest(run).is_some_and(|newest| newest.recipe_hash == run.recipe_hash)
            };
            *runs = runs.iter().copied().filter(is_newest).collect();
            grouped.of_other_text += before - runs.len();
        }
        let order = AxisOrder::of(sorted_sides.iter().map(|(value, _)| *value));
        sorted_sides.sort_by_cached_key(|(value, _)| order.key(value));
        grouped.groups.push(ComparableRuns { title: rest.join(" · "), sides: sorted_sides });
    }
    grouped
}

/// Returns the common properties of a group: recipe, chosen values, host and GPUs, without the axis.
fn shared_properties(row: &RunSummary, axis: &str) -> Vec<String> {
    let chosen = row
        .chosen_settings()
        .filter(|(name, value)| {
            let carries_release = ImageSetting::parse(name).is_some() || row.is_own_release(value);
            *name != axis && !(axis == ROCM_AXIS && carries_release)
        })
        .map(|(name, value)| format!("{name}={value}"));
    let mut rest = vec![row.recipe.clone()];
    rest.extend(chosen);
    // Another machine has other GPUs: whoever compares machines compares those too.
    if axis != "host" {
        rest.extend((axis != "gpus").then(|| row.gpus.clone()));
        rest.push(row.host.clone());
    }
    rest.retain(|word| !word.is_empty());
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, host: &str, chosen: &[(&str, &str)]) -> RunSummary {
        let pairs = chosen.iter();
        RunSummary {
            id: id.to_owned(),
            recipe: "llama2".to_owned(),
            host: host.to_owned(),
            gpus: "8 x MI355X".to_owned(),
            variant: pairs.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            measured: Some("[]".to_owned()),
            ..RunSummary::default()
        }
    }

    fn render_groups(grouped: &GroupedRuns<'_>) -> Vec<String> {
        let all = grouped.groups.iter();
        all.map(|group| {
            let sides = group.sides.iter().map(|(value, runs)| {
                let ids: Vec<&str> = runs.iter().map(|row| row.id.as_str()).collect();
                format!("{value}: {}", ids.join(" "))
            });
            let sides: Vec<String> = sides.collect();
            format!("{} | {}", group.title, sides.join(" | "))
        })
        .collect()
    }

    #[test]
    fn other_axes_and_hosts_are_never_mixed() {
        let rows = [
            row("a", "one", &[("rocm", "6.10"), ("backend", "vllm")]),
            row("b", "one", &[("rocm", "6.4"), ("backend", "vllm")]),
            row("c", "one", &[("rocm", "6.10"), ("backend", "vllm")]),
            row("d", "one", &[("rocm", "6.4"), ("backend", "migraphx")]),
            row("e", "one", &[("rocm", "7.0"), ("backend", "migraphx")]),
            row("f", "two", &[("rocm", "7.0"), ("backend", "vllm")]),
            row("g", "two", &[]),
        ];
        let grouped = group_by_axis(&rows, "rocm");
        assert_eq!(
            render_groups(&grouped),
            [
                "llama2 · backend=migraphx · 8 x MI355X · one | 6.4: d | 7.0: e",
                "llama2 · backend=vllm · 8 x MI355X · one | 6.4: b | 6.10: a c",
            ]
        );
        assert_eq!((grouped.without_axis, grouped.unmatched), (1, 1));
    }

    /// They are no trials of one thing.
    #[test]
    fn texts_of_a_recipe_are_never_mixed() {
        let of_text = |id: &str, rocm: &str, text: &str| RunSummary {
            recipe_hash: format!("{text} {rocm}"),
            ..row(id, "one", &[("rocm", rocm)])
        };
        let rows = [
            of_text("a", "6.4", "old"),
            of_text("b", "7.0", "old"),
            of_text("c", "6.4", "new"),
            of_text("d", "6.4", "new"),
        ];
        let grouped = group_by_axis(&rows, "rocm");
        assert_eq!(render_groups(&grouped), ["llama2 · 8 x MI355X · one | 6.4: c d | 7.0: b"]);
        assert_eq!(grouped.of_other_text, 1);
    }

    #[test]
    fn releases_in_containers_are_an_axis_without_a_variant() {
        let with = |id: &str, rocm: &str, chosen: &[(&str, &str)]| RunSummary {
            rocm: rocm.to_owned(),
            ..row(id, "one", chosen)
        };
        let rows = [
            with("a", "10.1.0", &[]),
            with("b", "7.14.0a20260608", &[]),
            with("c", "7.14.0", &[]),
            // The recipe's own axes: one names the release, the other is something else.
            with("d", "7.2.4", &[("release", "7.2")]),
            with("e", "10.1.0", &[("release", "10.1")]),
            with("f", "10.1.0", &[("release", "3.0")]),
            with("i", "10.0.0", &[("image", "example.com/image:2")]),
            // Another image than the variant's.
            with("g", "10.0.0", &[("rocm", "7.2.4"), ("backend", "vllm")]),
            with("h", "7.2.4", &[("rocm", "7.2.4"), ("backend", "vllm")]),
        ];
        assert_eq!(
            render_groups(&group_by_axis(&rows, "rocm")),
            [
                "llama2 · 8 x MI355X · one | 7.2.4: d | 7.14.0a20260608: b | 7.14.0: c | 10.0.0: i | 10.1.0: a e",
                "llama2 · backend=vllm · 8 x MI355X · one | 7.2.4: h | 10.0.0: g",
            ]
        );
        let stock =
            [with("a", "10.1.0", &[("rocm", "stock")]), with("b", "10.1.0", &[("rocm", "tuned")])];
        assert_eq!(
            render_groups(&group_by_axis(&stock, "rocm")),
            ["llama2 · 8 x MI355X · one | stock: a | tuned: b"]
        );
    }

    #[test]
    fn hosts_are_an_axis_too() {
        let mut rows = [
            row("a", "one", &[("rocm", "6.4")]),
            row("b", "two", &[("rocm", "6.4")]),
            row("c", "two", &[("rocm", "7.0")]),
            row("d", "three", &[("rocm", "6.4")]),
        ];
        rows[3].measured = None;
        let grouped = group_by_axis(&rows, "host");
        assert_eq!(render_groups(&grouped), ["llama2 · rocm=6.4 | one: a | two: b"]);
        assert_eq!((grouped.unmatched, grouped.unjudged), (1, 1));
    }

    #[test]
    fn a_set_param_is_an_axis_and_other_params_split_groups() {
        let with = |id: &str, batch: &str, set: &[&str]| {
            let mut row = row(id, "one", &[]);
            row.params.insert("batch".to_owned(), batch.to_owned());
            row.params.insert("length".to_owned(), "128".to_owned());
            row.modified = set.iter().map(|name| (*name).to_owned()).collect();
            row
        };
        let rows = [
            with("a", "8", &[]),
            with("b", "16", &["batch"]),
            with("c", "16", &["batch", "length"]),
        ];
        let grouped = group_by_axis(&rows, "batch");
        assert_eq!(render_groups(&grouped), ["llama2 · 8 x MI355X · one | 8: a | 16: b"]);
        assert_eq!(grouped.unmatched, 1);
    }
}
