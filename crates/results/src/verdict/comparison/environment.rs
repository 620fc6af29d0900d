//! Differences between the environments of the subjects, and what they have in common.

use indexmap::IndexMap;
use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

use super::fact::{Fact, FactGroup};
use super::stacks;
use retrial_document::measures::format::join_first;

/// The most differing facts of one group that are listed; an image has a few thousand packages.
const MAX_LISTED_FACTS: usize = 20_000;
/// Measured numbers that differ by less are alike: a repeated run differs by as much.
const MAX_ALIKE_DIFFERENCE: f64 = 0.05;

/// The facts of one kind, for all subjects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentGroup {
    /// The kind of the facts.
    pub group: FactGroup,
    /// The facts that differ, most important first.
    pub differs: Vec<EnvironmentFact>,
    /// How many facts are the same in all subjects.
    pub same: usize,
    /// The facts that are the same; packages are only counted.
    pub alike: Vec<AlikeFact>,
    /// Letters of the subjects without facts of this kind; they are not compared.
    pub not_known: Vec<String>,
    /// How many more facts differ than are listed here.
    pub omitted: usize,
}

/// A fact that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentFact {
    /// Its name: `kernel`, `torch (python)`, ….
    pub what: String,
    /// Its value for each subject, in order; none where it is missing or unknown.
    pub values: Vec<Option<String>>,
}

/// A fact that is the same in all subjects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AlikeFact {
    /// The fact's name, for example `kernel`.
    pub what: String,
    /// The value for all subjects.
    pub value: String,
}

/// Lays the facts of several subjects side by side; a group of which nothing is known is absent.
pub fn compare_fact_groups(letters: &[String], facts: &[&[Fact]]) -> Vec<EnvironmentGroup> {
    let groups = FactGroup::VARIANTS.iter().copied();
    groups.filter_map(|group| compare_group(group, letters, facts)).collect()
}

fn compare_group(
    group: FactGroup,
    letters: &[String],
    facts: &[&[Fact]],
) -> Option<EnvironmentGroup> {
    let mut by_name: IndexMap<&str, Vec<Option<&Fact>>> = IndexMap::new();
    let mut recorded = vec![false; facts.len()];
    for (position, facts) in facts.iter().enumerate() {
        for fact in facts.iter().filter(|fact| fact.group == group) {
            recorded[position] = true;
            let values = by_name.entry(&fact.what);
            values.or_insert_with(|| vec![None; recorded.len()])[position] = Some(fact);
        }
    }
    if by_name.is_empty() {
        return None;
    }
    let is_comparable = recorded.iter().filter(|recorded| **recorded).count() > 1;
    if group == FactGroup::Packages {
        by_name.sort_by_cached_key(|name, _| (stacks::stack_rank(name), name.to_lowercase()));
    }
    let recorded_letters = letters.iter().zip(&recorded);
    let not_known = recorded_letters.filter(|(_, recorded)| !**recorded);
    let mut result = EnvironmentGroup {
        group,
        differs: Vec::new(),
        same: 0,
        alike: Vec::new(),
        not_known: not_known.map(|(letter, _)| letter.clone()).collect(),
        omitted: 0,
    };
    // A side by itself is neither like another nor different.
    for (name, values) in by_name.into_iter().filter(|_| is_comparable) {
        let pairs = values.iter().zip(&recorded);
        let recorded_values: Vec<Option<&Fact>> =
            pairs.filter_map(|(value, recorded)| recorded.then_some(*value)).collect();
        if are_alike(&recorded_values) {
            result.same += 1;
            if let (true, Some(Some(fact))) =
                (group != FactGroup::Packages, recorded_values.first())
            {
                result.alike.push(AlikeFact { what: name.to_owned(), value: fact.value.clone() });
            }
        } else if result.differs.len() < MAX_LISTED_FACTS {
            result.differs.push(EnvironmentFact {
                what: name.to_owned(),
                values: values
                    .into_iter()
                    .map(|fact| fact.map(|fact| fact.value.clone()))
                    .collect(),
            });
        } else {
            result.omitted += 1;
        }
    }
    Some(result)
}

fn are_alike(values: &[Option<&Fact>]) -> bool {
    let numbers: Option<Vec<f64>> = values.iter().map(|fact| (*fact)?.number).collect();
    if let Some(numbers) = numbers {
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        return most - least <= MAX_ALIKE_DIFFERENCE * most.abs().max(least.abs());
    }
    let mut texts = values.iter().map(|fact| fact.map(|fact| &fact.value));
    texts.all_equal()
}

/// Values of one fact that are shown of runs that were pooled.
const MAX_SHOWN_VALUES: usize = 3;

/// Returns the facts of several runs as those of one, and the names of those in which they differ.
pub(crate) fn merge_facts(runs: &[&[Fact]]) -> (Vec<Fact>, Vec<String>) {
    if let [facts] = runs {
        return (facts.to_vec(), Vec::new());
    }
    let mut by_fact: IndexMap<(FactGroup, &str), Vec<&str>> = IndexMap::new();
    for fact in runs.iter().copied().flatten() {
        let key = (fact.group, fact.what.as_str());
        let values = by_fact.entry(key).or_default();
        if !values.contains(&fact.value.as_str()) {
            values.push(&fact.value);
        }
    }
    let differing = by_fact.iter().filter(|(_, values)| values.len() > 1);
    let several = differing.map(|((_, what), _)| (*what).to_owned()).collect();
    let groups = by_fact.iter();
    let facts = groups.map(|((group, what), values)| {
        Fact::new(*group, *what, join_first(values, MAX_SHOWN_VALUES))
    });
    (facts.collect(), several)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters() -> Vec<String> {
        vec!["A".to_owned(), "B".to_owned()]
    }

    fn packages(count: usize, version: &str) -> Vec<Fact> {
        let mut facts: Vec<Fact> = (0..count)
            .map(|number| Fact::new(FactGroup::Packages, format!("lib{number:05} (dpkg)"), version))
            .collect();
        facts.push(Fact::new(FactGroup::Packages, "zlib1g (dpkg)", "1:1.3.dfsg-3"));
        facts.push(Fact::new(FactGroup::Packages, "torch (python)", version));
        facts.push(Fact::new(FactGroup::Packages, "hipblaslt (dpkg)", format!("0.{version}")));
        facts
    }

    #[test]
    fn known_stack_packages_are_listed_first() {
        let (first, second) = (packages(300, "1.0"), packages(300, "2.0"));
        let groups = compare_fact_groups(&letters(), &[&first, &second]);
        assert_eq!(groups.len(), 1);
        let names: Vec<&str> =
            groups[0].differs.iter().take(3).map(|fact| fact.what.as_str()).collect();
        assert_eq!(names, ["hipblaslt (dpkg)", "torch (python)", "lib00000 (dpkg)"]);
        assert_eq!((groups[0].differs.len(), groups[0].same), (302, 1));
        assert!(groups[0].alike.is_empty());
    }

    #[test]
    fn surplus_differences_are_counted() {
        let (first, second) = (packages(30_000, "1.0"), packages(30_000, "2.0"));
        let groups = compare_fact_groups(&letters(), &[&first, &second]);
        assert_eq!(groups[0].differs.len(), MAX_LISTED_FACTS);
        assert_eq!(groups[0].omitted, 10_002);
    }

    #[test]
    fn a_run_without_facts_has_no_differences() {
        let first = packages(3, "1.0");
        let second = [Fact::new(FactGroup::Host, "kernel", "6.1")];
        let groups = compare_fact_groups(&letters(), &[&first, &second]);
        assert_eq!(groups[0].not_known, ["B"]);
        assert!(groups[0].differs.is_empty());
        assert_eq!(groups[0].same, 0);
        assert_eq!(groups[1].not_known, ["A"]);
    }

    #[test]
    fn a_package_only_in_one_run_is_a_difference() {
        let first = packages(1, "1.0");
        let second = &first[..first.len() - 1];
        let groups = compare_fact_groups(&letters(), &[&first, second]);
        let fact = &groups[0].differs[0];
        assert_eq!(fact.what, "hipblaslt (dpkg)");
        assert_eq!(fact.values, [Some("0.1.0".to_owned()), None]);
    }

    #[test]
    fn close_measured_numbers_are_equal() {
        let facts = |watts: f64| {
            let mut fact = Fact::new(FactGroup::Telemetry, "power", format!("{watts} W"));
            fact.number = Some(watts);
            vec![fact]
        };
        let differs = |first: f64, second: f64| {
            let (first, second) = (facts(first), facts(second));
            compare_fact_groups(&letters(), &[&first, &second])[0].differs.len()
        };
        assert_eq!((differs(600.0, 605.0), differs(600.0, 700.0)), (0, 1));
    }

    #[test]
    fn differences_within_pooled_runs_are_reported() {
        let facts = |kernel: &str| vec![Fact::new(FactGroup::Host, "kernel", kernel)];
        let runs: Vec<Vec<Fact>> = ["1", "2", "1", "3", "4"].map(facts).to_vec();
        let runs: Vec<&[Fact]> = runs.iter().map(Vec::as_slice).collect();
        let (facts, several) = merge_facts(&runs);
        assert_eq!(facts[0].value, "1, 2, 3 and 1 more");
        assert_eq!(several, ["kernel"]);
        assert!(merge_facts(&runs[..1]).1.is_empty());
    }
}
