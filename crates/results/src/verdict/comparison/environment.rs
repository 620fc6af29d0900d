//! Differences between the environments of the subjects, and what they have in common.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use itertools::{Itertools as _, join};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::components::stack_position;
use super::fact::{Fact, FactGroup};
use super::stacks;
use retrial_document::measures::format::join_first;
use retrial_plan::difference::{PlanDifference, find_differences};

/// The most differing facts of one group that are listed; an image has a few thousand packages.
const MAX_LISTED_FACTS: usize = 20_000;
/// The fact that has the SHA-256 of a run's recipe, with what was chosen of it.
pub const RECIPE_DIGEST: &str = "recipe digest";
/// The fact that has the name of a run's recipe, and what begins the name of one that has the choice on an axis.
pub const RECIPE_NAME: &str = "recipe";
pub const VARIANT_PREFIX: &str = "variant ";
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
    let groups = FactGroup::ALL.into_iter();
    groups.filter_map(|group| compare_group(group, letters, facts)).collect()
}

/// The facts of each subject that a row has: several where two packages are one in two releases.
type Row<'a> = Vec<Vec<&'a Fact>>;

fn compare_group(
    group: FactGroup,
    letters: &[String],
    facts: &[&[Fact]],
) -> Option<EnvironmentGroup> {
    let sides = facts.iter().map(|facts| facts.iter().filter(|fact| fact.group == group));
    let sides: Vec<Vec<&Fact>> = sides.map(Iterator::collect).collect();
    let recorded: Vec<bool> = sides.iter().map(|facts| !facts.is_empty()).collect();
    let rows = arrange_rows(group, &sides)?;
    let is_comparable = recorded.iter().filter(|recorded| **recorded).count() > 1;
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
    for (name, row) in rows.into_iter().filter(|_| is_comparable) {
        let values: Vec<Option<String>> = row.iter().map(|facts| join_values(facts)).collect();
        let known = row.iter().zip(&values).zip(&recorded).filter(|(_, recorded)| **recorded);
        let (known_facts, known_values): (Vec<_>, Vec<_>) = known.map(|(known, _)| known).unzip();
        if are_alike(&known_facts, &known_values) {
            result.same += 1;
            if let (true, Some(Some(value))) = (group != FactGroup::Packages, known_values.first())
            {
                result.alike.push(AlikeFact { what: name.to_owned(), value: value.clone() });
            }
        } else if result.differs.len() < MAX_LISTED_FACTS {
            result.differs.push(EnvironmentFact { what: name.to_owned(), values });
        } else {
            result.omitted += 1;
        }
    }
    if group == FactGroup::Parameters {
        // Choices change it, too, and are listed themselves.
        result.alike.retain(|fact| fact.what != RECIPE_DIGEST);
        let has_other = result.differs.iter().any(|fact| fact.what != RECIPE_DIGEST);
        // What a variant overlays cannot be told from an edit.
        let is_overlaid = |fact: &EnvironmentFact| {
            fact.what == RECIPE_NAME || fact.what.starts_with(VARIANT_PREFIX)
        };
        let is_comparable = !result.differs.iter().any(is_overlaid);
        let edits = if is_comparable { list_recipe_edits(&sides) } else { Vec::new() };
        result.differs.retain(|fact| fact.what != RECIPE_DIGEST || !has_other && edits.is_empty());
        result.differs.extend(edits);
    }
    Some(result)
}

/// Returns the keys in which the recipes of the subjects differ from that of the first.
fn list_recipe_edits(sides: &[Vec<&Fact>]) -> Vec<EnvironmentFact> {
    let recipe =
        |facts: &Vec<&Fact>| facts.iter().find(|fact| fact.what == RECIPE_DIGEST)?.document.clone();
    let recipes: Vec<_> = sides.iter().map(recipe).collect();
    let Some(Some(first)) = recipes.first() else {
        return Vec::new();
    };
    let mut edits: IndexMap<String, Vec<Option<String>>> = IndexMap::new();
    for (position, other) in recipes.iter().enumerate().skip(1) {
        let differences = other.iter().flat_map(|other| find_differences(first, other));
        for PlanDifference { path, recorded, derived } in differences {
            let known = recipes.iter().map(|recipe| recorded.clone().filter(|_| recipe.is_some()));
            edits.entry(path).or_insert_with(|| known.collect())[position] = derived;
        }
    }
    let named = edits.into_iter();
    named.map(|(path, values)| EnvironmentFact { what: format!("recipe {path}"), values }).collect()
}

/// Returns the rows of a group in their order; none without facts.
fn arrange_rows<'a>(
    group: FactGroup,
    sides: &[Vec<&'a Fact>],
) -> Option<IndexMap<&'a str, Row<'a>>> {
    let families = family_rows(sides);
    let mut rows: IndexMap<&str, Row<'_>> = IndexMap::new();
    for (position, facts) in sides.iter().enumerate() {
        for fact in facts {
            let name = fact.what.as_str();
            let row = rows.entry(families.get(name).copied().unwrap_or(name));
            row.or_insert_with(|| vec![Vec::new(); sides.len()])[position].push(*fact);
        }
    }
    // The package itself has a row.
    rows.retain(|_, row| row.iter().flatten().any(|fact| !fact.is_bundled));
    match group {
        FactGroup::Stack => rows.sort_by_cached_key(|name, _| stack_position(name)),
        FactGroup::Packages => {
            rows.sort_by_cached_key(|name, _| (stacks::stack_rank(name), name.to_lowercase()));
        }
        _ => {}
    }
    (!rows.is_empty()).then_some(rows)
}

/// Returns the row of each package that a side lacks and another side has in another release, by the package's name.
fn family_rows<'a>(sides: &[Vec<&'a Fact>]) -> HashMap<&'a str, &'a str> {
    let recorded = sides.iter().filter(|facts| !facts.is_empty()).count();
    let facts =
        || sides.iter().flatten().filter_map(|fact| Some((&*fact.what, fact.family.as_deref()?)));
    let sides_with = facts().map(|(name, _)| name).counts();
    let is_partial = |name: &str| sides_with[name] < recorded;
    let members = facts().filter(|(name, family)| name == family || is_partial(name));
    let members: HashMap<&str, HashSet<&str>> =
        members.map(|(name, family)| (family, name)).into_grouping_map().collect();
    let partial = facts().filter(|(name, family)| is_partial(name) && members[family].len() > 1);
    partial.collect()
}

/// The values of a subject in a row.
fn join_values(facts: &[&Fact]) -> Option<String> {
    let values = facts.iter().map(|fact| fact.value.as_str()).sorted_unstable().dedup();
    (!facts.is_empty()).then(|| join(values, ", "))
}

fn are_alike(facts: &[&Vec<&Fact>], values: &[&Option<String>]) -> bool {
    let numbers: Option<Vec<f64>> =
        facts.iter().map(|facts| facts.first().and_then(|fact| fact.number)).collect();
    if let Some(numbers) = numbers {
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        return most - least <= MAX_ALIKE_DIFFERENCE * most.abs().max(least.abs());
    }
    values.iter().all_equal()
}

/// Values of one fact that are shown of runs that were pooled.
const MAX_SHOWN_VALUES: usize = 3;

/// Returns the facts of several runs as those of one, and the names of those in which they differ.
pub(crate) fn merge_facts(runs: &[&[Fact]]) -> (Vec<Fact>, Vec<String>) {
    if let [facts] = runs {
        return (facts.to_vec(), Vec::new());
    }
    let mut by_fact: IndexMap<(FactGroup, &str), (&Fact, Vec<&str>)> = IndexMap::new();
    for fact in runs.iter().copied().flatten() {
        let key = (fact.group, fact.what.as_str());
        let (_, values) = by_fact.entry(key).or_insert_with(|| (fact, Vec::new()));
        if !values.contains(&fact.value.as_str()) {
            values.push(&fact.value);
        }
    }
    let differing = by_fact.iter().filter(|(_, (_, values))| values.len() > 1);
    let several = differing.map(|((_, what), _)| (*what).to_owned()).collect();
    let facts = by_fact.values().map(|(fact, values)| Fact {
        value: join_first(values, MAX_SHOWN_VALUES),
        number: None,
        document: fact.document.clone().filter(|_| values.len() == 1),
        ..(*fact).clone()
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
        facts.push(Fact::new(FactGroup::Packages, "torchvision (python)", version));
        facts.push(Fact::new(FactGroup::Packages, "hipblas (dpkg)", format!("0.{version}")));
        facts
    }

    #[test]
    fn known_stack_packages_are_listed_first() {
        let (first, second) = (packages(300, "1.0"), packages(300, "2.0"));
        let groups = compare_fact_groups(&letters(), &[&first, &second]);
        assert_eq!(groups.len(), 1);
        let names: Vec<&str> =
            groups[0].differs.iter().take(3).map(|fact| fact.what.as_str()).collect();
        assert_eq!(names, ["hipblas (dpkg)", "torchvision (python)", "lib00000 (dpkg)"]);
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
        assert_eq!(fact.what, "hipblas (dpkg)");
        assert_eq!(fact.values, [Some("0.1.0".to_owned()), None]);
    }

    #[test]
    fn a_package_in_two_releases_is_one_row() {
        let package = |name: &str, family: &str, version: &str| Fact {
            family: Some(family.to_owned()),
            ..Fact::new(FactGroup::Packages, name, version)
        };
        let first = [
            package("amdrocm-blas10.0", "amdrocm-blas", "10.0.0-4"),
            package("amdrocm-blas", "amdrocm-blas", "10.0.0-4"),
            package("gcc-11", "gcc", "11.4"),
            package("gcc-12", "gcc", "12.3"),
            package("libssl3", "libssl", "3.0"),
            package("only10.0", "only", "10.0"),
        ];
        let second = [
            package("amdrocm-blas10.1", "amdrocm-blas", "10.1.0-4"),
            package("amdrocm-blas", "amdrocm-blas", "10.1.0-4"),
            package("gcc-12", "gcc", "12.3"),
            package("gcc-13", "gcc", "13.2"),
            package("libssl3", "libssl", "3.0"),
        ];
        let groups = compare_fact_groups(&letters(), &[&first, &second]);
        let value = |value: &Option<String>| value.clone().unwrap_or_default();
        let rows = groups[0].differs.iter().map(|fact| {
            format!("{}: {} | {}", fact.what, value(&fact.values[0]), value(&fact.values[1]))
        });
        let expected =
            ["amdrocm-blas: 10.0.0-4 | 10.1.0-4", "gcc: 11.4 | 13.2", "only10.0: 10.0 | "];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
        assert_eq!(groups[0].same, 2);
    }

    #[test]
    fn the_stack_is_in_order_and_has_no_bundled_components() {
        let stack = |name: &str, value: &str| Fact::new(FactGroup::Stack, name, value);
        let bundled = |name: &str, value: &str| Fact { is_bundled: true, ..stack(name, value) };
        let legacy = [stack("rocBLAS", "5.2"), stack("PyTorch", "2.10")];
        let older = [
            bundled("rocBLAS", "10.0 (blas)"),
            bundled("MIOpen", "10.0 (dnn)"),
            stack("ROCm in the image", "10.0"),
        ];
        let newer = [bundled("rocBLAS", "10.1 (blas)"), stack("ROCm in the image", "10.1")];
        let names = |sides: &[&[Fact]]| {
            let groups = compare_fact_groups(&letters(), sides);
            let facts = groups[0].differs.iter().map(|fact| fact.what.clone());
            facts.collect::<Vec<_>>()
        };
        assert_eq!(names(&[&older, &newer]), ["ROCm in the image"]);
        assert_eq!(names(&[&legacy, &older]), ["ROCm in the image", "PyTorch", "rocBLAS"]);
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

    /// The facts that differ between two runs, each with the digest of its recipe and a parameter.
    fn differing(one: [&str; 2], other: [&str; 2]) -> Vec<String> {
        let facts = [one, other].map(|[digest, size]| {
            let named = [("recipe", "./r.yaml"), (RECIPE_DIGEST, digest), ("param size", size)];
            named.map(|(name, value)| Fact::new(FactGroup::Parameters, name, value))
        });
        let groups = compare_fact_groups(&letters(), &[&facts[0], &facts[1]]);
        let group = &groups[0];
        assert!(group.alike.iter().all(|fact| fact.what != RECIPE_DIGEST));
        group.differs.iter().map(|fact| fact.what.clone()).collect()
    }

    #[test]
    fn a_changed_recipe_is_a_difference_unless_its_choices_are() {
        assert_eq!(differing(["1", "8"], ["2", "8"]), [RECIPE_DIGEST]);
        assert_eq!(differing(["1", "8"], ["2", "9"]), ["param size"]);
        assert_eq!(differing(["1", "8"], ["1", "8"]), [""; 0]);
    }

    #[test]
    fn an_edited_recipe_is_compared_key_by_key() {
        let recipe = |digest: &str, document: serde_json::Value| Fact {
            document: Some(std::sync::Arc::new(document)),
            ..Fact::new(FactGroup::Parameters, RECIPE_DIGEST, digest)
        };
        let [before, after, other] = [
            recipe("1", serde_json::json!({ "run": "bench", "trials": 3 })),
            recipe("2", serde_json::json!({ "run": "bench -x", "trials": 3 })),
            recipe("3", serde_json::json!({ "run": "bench", "trials": 5, "timeout": "1h" })),
        ]
        .map(|fact| vec![fact]);
        // A parameter that was chosen otherwise hides no edit; a variant does, which is one itself.
        for (choice, edits) in [("param size", 1), ("variant model", 0)] {
            let chosen = |value| Fact::new(FactGroup::Parameters, choice, value);
            let [before, after] = [(&before, "8"), (&after, "9")]
                .map(|(recipe, value)| [recipe.clone(), vec![chosen(value)]].concat());
            let groups = compare_fact_groups(&letters(), &[&before, &after]);
            let differing = groups[0].differs.iter().map(|fact| fact.what.as_str());
            assert_eq!(
                differing.collect::<Vec<_>>(),
                [&[choice][..], &["recipe run"][..edits]].concat()
            );
        }
        let letters = ["A", "B", "C"].map(str::to_owned);
        let groups = compare_fact_groups(&letters, &[&before, &after, &other]);
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let rows = groups[0]
            .differs
            .iter()
            .map(|fact| format!("{}: {}", fact.what, join(fact.values.iter().map(text), " | ")));
        assert_eq!(
            rows.collect::<Vec<_>>(),
            [
                r#"recipe run: "bench" | "bench -x" | "bench""#,
                "recipe trials: 3 | 3 | 5",
                r#"recipe timeout: - | - | "1h""#
            ]
        );
    }
}
