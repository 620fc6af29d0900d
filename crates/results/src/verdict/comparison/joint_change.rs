//! Versions that changed together between two software stacks: a difference in speed may be of any of them.

use std::collections::BTreeMap;

use itertools::{Itertools as _, join};
use retrial_rocm::RocmRelease;

use super::components::{Component, ROCM, is_framework, is_library};
use super::{Fact, FactGroup};

/// The release of `ROCm` and the frameworks that a container has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StackVersions {
    rocm: Option<String>,
    /// By name: `PyTorch`.
    frameworks: BTreeMap<String, String>,
}

impl StackVersions {
    /// Returns what a recipe states of its image: `{rocm: 7.2.4, torch: 2.10.0}`.
    pub fn from_contents(contents: &BTreeMap<String, String>) -> Self {
        let frameworks = contents.iter().filter(|(name, _)| *name != "rocm");
        let frameworks = frameworks.map(|(name, version)| {
            let component = Component::of_python_package(name);
            (component.map_or(name.as_str(), |component| component.name), version)
        });
        Self::new(contents.get("rocm"), frameworks)
    }

    /// Returns what was read in a run's container.
    pub fn from_facts(facts: &[Fact]) -> Self {
        let stack = facts.iter().filter(|fact| fact.group == FactGroup::Stack);
        let (rocm, others): (Vec<&Fact>, Vec<&Fact>) = stack.partition(|fact| fact.what == ROCM);
        let frameworks = others.into_iter().filter(|fact| is_framework(&fact.what));
        Self::new(
            rocm.first().map(|fact| &fact.value),
            frameworks.map(|fact| (fact.what.as_str(), &fact.value)),
        )
    }

    fn new<'a>(
        rocm: Option<&String>,
        frameworks: impl Iterator<Item = (&'a str, &'a String)>,
    ) -> Self {
        let frameworks = frameworks.filter(|(name, _)| !is_library(name));
        let frameworks =
            frameworks.map(|(name, version)| (name.to_owned(), public_version(version).to_owned()));
        // `7.2.4-93` names a build of 7.2.4.
        let release = |text: &String| match text.parse::<RocmRelease>() {
            Ok(release) => release.to_string(),
            Err(_) => text.clone(),
        };
        Self { rocm: rocm.map(release), frameworks: frameworks.collect() }
    }

    /// Returns whether the frameworks of another stack are these.
    fn has_frameworks_of(&self, other: &Self, names: &[&String]) -> bool {
        names.iter().all(|name| self.frameworks.get(*name) == other.frameworks.get(*name))
    }
}

/// Returns a version without the part that names its build: 2.10.0 of 2.10.0+rocm7.2.4.
fn public_version(version: &str) -> &str {
    version.split_once('+').map_or(version, |(public, _)| public)
}

/// Says of each pair what changed together, each sentence once.
pub fn describe_joint_changes<'a>(
    pairs: impl IntoIterator<Item = (&'a StackVersions, &'a StackVersions)>,
    others: &[StackVersions],
) -> Vec<String> {
    let sentences = pairs.into_iter();
    let sentences = sentences.filter_map(|(from, to)| describe_joint_change(from, to, others));
    sentences.unique().collect()
}

/// Says that `ROCm` and a framework changed together, if they did, and through which release one can compare in two
/// steps: the last of the others that has the frameworks of both. The others are in their order.
pub fn describe_joint_change(
    from: &StackVersions,
    to: &StackVersions,
    others: &[StackVersions],
) -> Option<String> {
    let releases = from.rocm.as_ref().zip(to.rocm.as_ref()).filter(|(from, to)| from != to)?;
    let common = from.frameworks.keys().filter(|name| to.frameworks.contains_key(*name));
    let changed: Vec<&String> =
        common.filter(|name| from.frameworks[*name] != to.frameworks[*name]).collect();
    let (last, first) = changed.split_last()?;
    let describe =
        |name: &String| format!("{name} {} → {}", from.frameworks[name], to.frameworks[name]);
    let listed = std::iter::once(format!("ROCm {} → {}", releases.0, releases.1))
        .chain(first.iter().map(|name| describe(name)));
    let sentence = format!("{} and {} changed together", join(listed, ", "), describe(last));
    let has = |release: &String, side: &StackVersions| {
        let mut same = others.iter().filter(|other| other.rocm.as_ref() == Some(release));
        same.any(|other| other.has_frameworks_of(side, &changed))
    };
    let both = |release: &&String| has(release, from) && has(release, to);
    let bridge = others.iter().rev().filter_map(|other| other.rocm.as_ref()).find(both);
    Some(match bridge {
        Some(release) => {
            let versions = changed.iter().map(|name| {
                format!("{name} {} and {}", from.frameworks[*name], to.frameworks[*name])
            });
            format!("{sentence}: {release} has {}: compare through it", join(versions, ", "))
        }
        None => sentence,
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn stack(text: &str) -> StackVersions {
        let versions = text.split(' ').map(|one| one.split_once('=').unwrap());
        let contents = versions.map(|(name, version)| (name.to_owned(), version.to_owned()));
        StackVersions::from_contents(&contents.collect())
    }

    const BOTH: &str = "ROCm 7.2.4 → 10.1.0 and PyTorch 2.10.0 → 2.12.0 changed together";

    #[rstest]
    #[case("rocm=7.2.4 torch=2.10.0", "rocm=10.1.0 torch=2.12.0", &[], Some(BOTH))]
    #[case(
        "rocm=7.2.4 torch=2.10.0+rocm7.2.4.git1",
        "rocm=10.1.0 torch=2.12.0+rocm10.1.0",
        &["rocm=7.14.0 torch=2.10.0", "rocm=7.14.1 torch=2.10.0", "rocm=7.14.1 torch=2.12.0", "rocm=10.0.0 torch=2.12.0"],
        Some("ROCm 7.2.4 → 10.1.0 and PyTorch 2.10.0 → 2.12.0 changed together: 7.14.1 has PyTorch 2.10.0 and 2.12.0: compare through it"),
    )]
    #[case("rocm=7.2.4-93 torch=2.10.0", "rocm=10.1.0 torch=2.12.0", &[], Some(BOTH))]
    #[case("rocm=7.2.4 torch=2.10.0", "rocm=7.14.1 torch=2.10.0", &[], None)]
    #[case("rocm=7.2.4-93 torch=2.10.0", "rocm=7.2.4 torch=2.12.0", &[], None)]
    #[case("rocm=7.2.4 torch=2.10.0", "rocm=7.2.4 torch=2.12.0", &[], None)]
    #[case("rocm=7.2.4 torch=2.10.0", "rocm=7.14.1", &[], None)]
    #[case("torch=2.10.0", "rocm=7.14.1 torch=2.12.0", &[], None)]
    #[case(
        "rocm=7.14.1 torch=2.11.0 vllm=0.23.0",
        "rocm=10.0.0 torch=2.12.0 vllm=0.27.0",
        &[],
        Some("ROCm 7.14.1 → 10.0.0, PyTorch 2.11.0 → 2.12.0 and vLLM 0.23.0 → 0.27.0 changed together"),
    )]
    fn a_framework_that_changed_with_rocm_is_named(
        #[case] from: &str,
        #[case] to: &str,
        #[case] others: &[&str],
        #[case] sentence: Option<&str>,
    ) {
        let others: Vec<StackVersions> = others.iter().map(|text| stack(text)).collect();
        assert_eq!(describe_joint_change(&stack(from), &stack(to), &others).as_deref(), sentence);
    }
}
