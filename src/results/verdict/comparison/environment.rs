//! What differs between the places where the subjects were measured, and what does not.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::fact::{Fact, FactGroup};
use super::stacks;
use crate::format::first;

/// The most differing facts of one group that are listed; an image has a few thousand packages.
const MOST: usize = 20_000;
/// Measured numbers that differ by less are alike: another run of one thing differs by as much.
const CLOSE: f64 = 0.05;

/// What is known of one kind, of all subjects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentGroup {
    /// What it is about.
    pub group: FactGroup,
    /// What differs, most telling first.
    pub differs: Vec<EnvironmentFact>,
    /// How many facts are alike in all.
    pub same: usize,
    /// Those; packages are only counted.
    pub alike: Vec<AlikeFact>,
    /// Letters of the subjects of which nothing of this is known: they have no say in what differs.
    pub not_known: Vec<String>,
    /// How many more facts differ than are listed here.
    pub omitted: usize,
}

/// One fact that is not the same everywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentFact {
    /// What it is: `kernel`, `torch (python)`, ….
    pub what: String,
    /// Of each subject, in their order; none where it has none, or nothing is known.
    pub values: Vec<Option<String>>,
}

/// One fact that is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AlikeFact {
    /// What it is.
    pub what: String,
    /// Of all subjects.
    pub value: String,
}

/// Lays the facts of several subjects side by side; a group of which nothing is known is absent.
pub fn environments(letters: &[String], facts: &[&[Fact]]) -> Vec<EnvironmentGroup> {
    let groups = FactGroup::VARIANTS.iter().copied();
    groups
        .filter_map(|group| side_by_side(group, letters, facts))
        .collect()
}

fn side_by_side(
    group: FactGroup,
    letters: &[String],
    facts: &[&[Fact]],
) -> Option<EnvironmentGroup> {
    let mut order: Vec<&str> = Vec::new();
    let mut by_name: HashMap<&str, Vec<Option<&Fact>>> = HashMap::new();
    let mut known = vec![false; facts.len()];
    for (position, facts) in facts.iter().enumerate() {
        for fact in facts.iter().filter(|fact| fact.group == group) {
            known[position] = true;
            let values = by_name.entry(&fact.what).or_insert_with(|| {
                order.push(&fact.what);
                vec![None; known.len()]
            });
            values[position] = Some(fact);
        }
    }
    if order.is_empty() {
        return None;
    }
    if group == FactGroup::Packages {
        order.sort_by_cached_key(|what| (stacks::rank(what), what.to_lowercase()));
    }
    let mut found = EnvironmentGroup {
        group,
        differs: Vec::new(),
        same: 0,
        alike: Vec::new(),
        not_known: letters
            .iter()
            .zip(&known)
            .filter(|(_, known)| !**known)
            .map(|(letter, _)| letter.clone())
            .collect(),
        omitted: 0,
    };
    for what in order {
        let values = by_name.remove(what).unwrap_or_default();
        let told: Vec<Option<&Fact>> = values
            .iter()
            .zip(&known)
            .filter(|(_, known)| **known)
            .map(|(value, _)| *value)
            .collect();
        if are_alike(&told) {
            found.same += 1;
            if let (true, Some(Some(fact))) = (group != FactGroup::Packages, told.first()) {
                found.alike.push(AlikeFact {
                    what: what.to_owned(),
                    value: fact.value.clone(),
                });
            }
        } else if found.differs.len() < MOST {
            found.differs.push(EnvironmentFact {
                what: what.to_owned(),
                values: values
                    .into_iter()
                    .map(|fact| fact.map(|fact| fact.value.clone()))
                    .collect(),
            });
        } else {
            found.omitted += 1;
        }
    }
    Some(found)
}

fn are_alike(values: &[Option<&Fact>]) -> bool {
    let numbers: Option<Vec<f64>> = values.iter().map(|fact| (*fact)?.number).collect();
    if let Some(numbers) = numbers {
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        return most - least <= CLOSE * most.abs().max(least.abs());
    }
    values.windows(2).all(|pair| match (pair[0], pair[1]) {
        (Some(one), Some(other)) => one.value == other.value,
        (one, other) => one.is_none() && other.is_none(),
    })
}

/// Values of one fact that are shown of runs that were pooled.
const SHOWN: usize = 3;

/// The facts of several runs as those of one, and the names of those in which they differ.
pub(crate) fn merged(runs: &[&[Fact]]) -> (Vec<Fact>, Vec<String>) {
    if let [one] = runs {
        return (one.to_vec(), Vec::new());
    }
    let mut order: Vec<(FactGroup, &str)> = Vec::new();
    let mut found: BTreeMap<(FactGroup, &str), Vec<&str>> = BTreeMap::new();
    for fact in runs.iter().copied().flatten() {
        let key = (fact.group, fact.what.as_str());
        let values = found.entry(key).or_insert_with(|| {
            order.push(key);
            Vec::new()
        });
        if !values.contains(&fact.value.as_str()) {
            values.push(&fact.value);
        }
    }
    let mut several = Vec::new();
    let facts = order
        .into_iter()
        .map(|key| {
            let values = found.get(&key).map(Vec::as_slice).unwrap_or_default();
            if values.len() > 1 {
                several.push(key.1.to_owned());
            }
            Fact::new(key.0, key.1, first(values, SHOWN))
        })
        .collect();
    (facts, several)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters() -> Vec<String> {
        vec!["A".to_owned(), "B".to_owned()]
    }

    fn packages(count: usize, version: &str) -> Vec<Fact> {
        let mut facts: Vec<Fact> = (0..count)
            .map(|number| {
                Fact::new(
                    FactGroup::Packages,
                    format!("lib{number:05} (dpkg)"),
                    version,
                )
            })
            .collect();
        facts.push(Fact::new(
            FactGroup::Packages,
            "zlib1g (dpkg)",
            "1:1.3.dfsg-3",
        ));
        facts.push(Fact::new(FactGroup::Packages, "torch (python)", version));
        facts.push(Fact::new(
            FactGroup::Packages,
            "hipblaslt (dpkg)",
            format!("0.{version}"),
        ));
        facts
    }

    #[test]
    fn known_stack_packages_are_listed_first() {
        let (one, other) = (packages(300, "1.0"), packages(300, "2.0"));
        let groups = environments(&letters(), &[&one, &other]);
        assert_eq!(groups.len(), 1);
        let told: Vec<&str> = groups[0]
            .differs
            .iter()
            .take(3)
            .map(|fact| fact.what.as_str())
            .collect();
        assert_eq!(
            told,
            ["hipblaslt (dpkg)", "torch (python)", "lib00000 (dpkg)"]
        );
        assert_eq!((groups[0].differs.len(), groups[0].same), (302, 1));
        assert!(groups[0].alike.is_empty());
    }

    #[test]
    fn surplus_differences_are_counted() {
        let (one, other) = (packages(30_000, "1.0"), packages(30_000, "2.0"));
        let groups = environments(&letters(), &[&one, &other]);
        assert_eq!(groups[0].differs.len(), MOST);
        assert_eq!(groups[0].omitted, 10_002);
    }

    #[test]
    fn a_run_without_facts_has_no_differences() {
        let one = packages(3, "1.0");
        let other = [Fact::new(FactGroup::Host, "kernel", "6.1")];
        let groups = environments(&letters(), &[&one, &other]);
        assert_eq!(groups[0].not_known, ["B"]);
        assert!(groups[0].differs.is_empty());
        assert_eq!(groups[0].same, 6);
        assert_eq!(groups[1].not_known, ["A"]);
    }

    #[test]
    fn a_package_only_in_one_run_is_a_difference() {
        let one = packages(1, "1.0");
        let other = &one[..one.len() - 1];
        let groups = environments(&letters(), &[&one, other]);
        let fact = &groups[0].differs[0];
        assert_eq!(fact.what, "hipblaslt (dpkg)");
        assert_eq!(fact.values, [Some("0.1.0".to_owned()), None]);
    }

    #[test]
    fn close_measured_numbers_are_equal() {
        let of = |watts: f64| {
            let mut fact = Fact::new(FactGroup::Telemetry, "power", format!("{watts} W"));
            fact.number = Some(watts);
            vec![fact]
        };
        let differs = |one: f64, other: f64| {
            let (one, other) = (of(one), of(other));
            environments(&letters(), &[&one, &other])[0].differs.len()
        };
        assert_eq!((differs(600.0, 605.0), differs(600.0, 700.0)), (0, 1));
    }

    #[test]
    fn differences_within_pooled_runs_are_reported() {
        let of = |kernel: &str| vec![Fact::new(FactGroup::Host, "kernel", kernel)];
        let runs: Vec<Vec<Fact>> = ["1", "2", "1", "3", "4"].map(of).to_vec();
        let runs: Vec<&[Fact]> = runs.iter().map(Vec::as_slice).collect();
        let (facts, several) = merged(&runs);
        assert_eq!(facts[0].value, "1, 2, 3 and 1 more");
        assert_eq!(several, ["kernel"]);
        assert!(merged(&runs[..1]).1.is_empty());
    }
}
