//! The packages of a run, one fact for each name and manager, wherever it is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use itertools::join;

use crate::packages::{InstalledPackages, PackageDatabase, PackageManager};
use crate::verdict::comparison::{Fact, FactGroup};
use retrial_store::RunDirectory;
use retrial_store::open::read_text_beneath;
use retrial_store::packages::PACKAGES_FILE;

/// A list of 50,000 packages with the longest names is smaller.
const MAX_LIST_BYTES: u64 = 32 << 20;

/// Returns the installed packages, and the release of `ROCm` in the image; none where they were not recorded.
pub fn package_facts_of_run(directory: &RunDirectory) -> Vec<Fact> {
    read_packages(directory).map(|installed| package_facts(&installed)).unwrap_or_default()
}

/// Returns the packages as they were recorded, if they were.
fn read_packages(directory: &RunDirectory) -> Option<InstalledPackages> {
    let text = read_text_beneath(directory.path(), Path::new(PACKAGES_FILE), MAX_LIST_BYTES);
    serde_json::from_str(&text.ok()?).ok()
}

/// Describes each Python package of the container that has another version than the published run's.
pub fn describe_other_packages(
    directory: &RunDirectory,
    published: &BTreeMap<String, String>,
) -> Vec<String> {
    if published.is_empty() {
        return Vec::new();
    }
    let installed = read_packages(directory);
    let versions_of = |name: &str| {
        let databases = installed.iter().flat_map(|installed| &installed.databases);
        let is_python = |database: &&PackageDatabase| {
            matches!(database.manager, PackageManager::Python | PackageManager::Conda)
        };
        let python = databases.filter(is_python);
        let packages = python.flat_map(|database| &database.packages);
        let wanted = normalize_name(name);
        let named = packages.filter(|(own, _)| normalize_name(own) == wanted);
        let all = named.flat_map(|(_, versions)| versions.split(", "));
        all.collect::<BTreeSet<&str>>()
    };
    let differing = published.iter().filter_map(|(name, version)| {
        let versions = versions_of(name);
        let is_other =
            !versions.is_empty() && !versions.iter().any(|own| has_version(own, version));
        let own = join(versions, ", ");
        is_other.then(|| format!("{name} {own} is installed, the published run had {version}"))
    });
    differing.collect()
}

/// Returns the name by which Python's tools compare packages: `Flash_Attn` is `flash-attn` (PEP 503).
fn normalize_name(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    join(parts, "-").to_ascii_lowercase()
}

/// Returns whether a version is the published one, or a part of it: 2.9.0+rocm7.0 is 2.9.0, 2.9.0 is 2.9.
fn has_version(own: &str, published: &str) -> bool {
    let rest = own.strip_prefix(published);
    rest.is_some_and(|rest| !rest.starts_with(|first: char| first.is_ascii_alphanumeric()))
}

fn package_facts(installed: &InstalledPackages) -> Vec<Fact> {
    let rocm = installed.rocm.iter();
    let mut facts: Vec<Fact> = rocm
        .map(|release| Fact::new(FactGroup::Image, "ROCm in the image", release.as_str()))
        .collect();
    // Several Pythons may have one package: its versions stand together.
    let mut by_name: BTreeMap<(PackageManager, &str), BTreeSet<&str>> = BTreeMap::new();
    for database in &installed.databases {
        for (name, version) in &database.packages {
            let versions = by_name.entry((database.manager, name)).or_default();
            versions.insert(version);
        }
    }
    facts.extend(by_name.into_iter().map(|((manager, name), versions)| {
        let package = format!("{name} ({manager})");
        let versions = Some(join(versions, ", ")).filter(|versions| !versions.is_empty());
        let version = versions.unwrap_or_else(|| "no version".to_owned());
        Fact::new(FactGroup::Packages, package, version)
    }));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packages::parse_listing;
    use retrial_store::packages::store_packages;

    #[test]
    fn a_package_of_two_python_installations_is_one_fact() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::from_path(folder.path().to_owned());
        assert_eq!(package_facts_of_run(&run), []);
        let output = "@rocm /opt/rocm\n7.1.0\n@python /a\nnumpy-2.0.dist-info\n@python /b\nnumpy-1.26.dist-info\nvllm.egg-link\n@end";
        store_packages(&run, &parse_listing(output)).unwrap();
        let facts: Vec<(String, String)> =
            package_facts_of_run(&run).into_iter().map(|fact| (fact.what, fact.value)).collect();
        let expected = [
            ("ROCm in the image", "7.1.0"),
            ("numpy (python)", "1.26, 2.0"),
            ("vllm (python)", "no version"),
        ];
        assert_eq!(facts, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn packages_of_another_version_than_the_published_are_described() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::from_path(folder.path().to_owned());
        let output = "@python /a\ntorch-2.9.0+rocm7.0.dist-info\nflash_attn-2.8.3.dist-info\nPyYAML-6.0.dist-info\nnumpy-2.0.dist-info\n@python /b\nnumpy-1.26.dist-info\n@end";
        store_packages(&run, &parse_listing(output)).unwrap();
        let describe = |published: &[(&str, &str)]| {
            let published = published.iter().copied();
            let owned = published.map(|(name, version)| (name.to_owned(), version.to_owned()));
            describe_other_packages(&run, &owned.collect())
        };
        let same = [("torch", "2.9.0"), ("Torch", "2.9"), ("numpy", "1.26"), ("pyyaml", "6.0")];
        assert_eq!(describe(&same), [""; 0]);
        let other =
            [("torch", "2.9.1"), ("flash-attn", "2.8.0"), ("numpy", "1.2"), ("absent", "1")];
        let expected = [
            "flash-attn 2.8.3 is installed, the published run had 2.8.0",
            "numpy 1.26, 2.0 is installed, the published run had 1.2",
            "torch 2.9.0+rocm7.0 is installed, the published run had 2.9.1",
        ];
        assert_eq!(describe(&other), expected);
    }

    #[test]
    fn a_hostile_file_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDirectory::from_path(folder.path().to_owned());
        for text in [
            "",
            "null",
            "[]",
            "{\"schema\":1}",
            "{\"schema\":1,\"databases\":[{\"manager\":\"x\"}]}",
            "\u{0}",
        ] {
            std::fs::write(run.join(PACKAGES_FILE), text).unwrap();
            assert_eq!(package_facts_of_run(&run), [], "{text}");
        }
        let deep = "[".repeat(100_000);
        std::fs::write(run.join(PACKAGES_FILE), deep).unwrap();
        assert_eq!(package_facts_of_run(&run), []);
        std::fs::remove_file(run.join(PACKAGES_FILE)).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", run.join(PACKAGES_FILE)).unwrap();
        assert_eq!(package_facts_of_run(&run), []);
        std::fs::remove_file(run.join(PACKAGES_FILE)).unwrap();
        let file = std::fs::File::create(run.join(PACKAGES_FILE)).unwrap();
        file.set_len(MAX_LIST_BYTES + 1).unwrap();
        assert_eq!(package_facts_of_run(&run), []);
    }
}
