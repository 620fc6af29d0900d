//! The packages of a run, one fact for each name and manager, wherever it is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::Path;

use itertools::join;

use super::package_names::{library_name, name_without_release};
use crate::packages::{InstalledPackages, PackageDatabase, PackageManager};
use crate::verdict::comparison::components::{self, Component};
use crate::verdict::comparison::{Fact, FactGroup};
use retrial_rocm::RocmInstallation;
use retrial_store::RunDirectory;
use retrial_store::open::read_text_beneath;
use retrial_store::packages::PACKAGES_FILE;

/// A list of 50,000 packages with the longest names is smaller.
const MAX_LIST_BYTES: u64 = 32 << 20;

/// How the packages of `ROCm` are named from 7.14 on.
const ROCM_PACKAGE_PREFIX: &str = "amdrocm-";

/// Returns the installed packages, and the release of `ROCm` in the image; none where they were not recorded.
pub fn package_facts_of_run(directory: &RunDirectory) -> Vec<Fact> {
    read_packages(directory).map(|installed| package_facts(&installed)).unwrap_or_default()
}

/// Returns the release of `ROCm` in a run's container, if it has one and it was recorded.
pub fn rocm_in_container(directory: &RunDirectory) -> Option<RocmInstallation> {
    read_packages(directory)?.rocm
}

/// Returns the packages as they were recorded, if they were.
pub fn read_packages(directory: &RunDirectory) -> Option<InstalledPackages> {
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
        let python = databases.filter(|database: &&PackageDatabase| database.manager.is_python());
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

/// Returns the stack and the other packages. A component of the stack is one fact, whatever packages carry it.
fn package_facts(installed: &InstalledPackages) -> Vec<Fact> {
    let rocm = installed.rocm.as_ref();
    let mut facts: Vec<Fact> = rocm
        .map(|release| Fact::new(FactGroup::Stack, components::ROCM, release.to_string()))
        .into_iter()
        .collect();
    let release = rocm.map(|rocm| rocm.release().to_string());
    // Several Pythons may have one package: its versions stand together.
    let mut by_name: BTreeMap<PackageName<'_>, BTreeSet<&str>> = BTreeMap::new();
    let mut by_component: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut bundled: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for database in &installed.databases {
        let is_python = database.manager.is_python();
        for (name, version) in &database.packages {
            let base = name_without_release(name, version, release.as_deref());
            let library = library_name(&base);
            let component = if is_python {
                Component::of_python_package(&base)
            } else {
                Component::of_system_package(library)
            };
            if let Some(component) = component {
                let versions = by_component.entry(component.name).or_default();
                versions.insert(component_version(library, version));
                continue;
            }
            for component in Component::of_bundle(library) {
                let within = bundled.entry(component.name).or_default();
                within.insert(version_of_package(library, version));
            }
            let key = PackageName { manager: database.manager, name, base };
            by_name.entry(key).or_default().insert(version);
        }
    }
    bundled.retain(|component, _| !by_component.contains_key(component));
    let own = by_component
        .into_iter()
        .map(|(name, versions)| Fact::new(FactGroup::Stack, name, join_versions(versions)));
    let within = bundled.into_iter().map(|(name, versions)| Fact {
        is_bundled: true,
        ..Fact::new(FactGroup::Stack, name, join(versions, ", "))
    });
    let packages = by_name.into_iter().map(|(package, versions)| {
        let PackageName { manager, name, base } = package;
        let fact =
            Fact::new(FactGroup::Packages, format!("{name} ({manager})"), join_versions(versions));
        Fact { family: Some(format!("{base} ({manager})")), ..fact }
    });
    facts.extend(own.chain(within).chain(packages));
    facts
}

/// Returns the version of a component. From 7.14 on, packages of `ROCm` have its version and not the library's.
fn component_version(library: &str, version: &str) -> String {
    if library.starts_with(ROCM_PACKAGE_PREFIX) {
        return version_of_package(library, version);
    }
    version.to_owned()
}

fn version_of_package(package: &str, version: &str) -> String {
    format!("{version} ({package})")
}

/// A package by its manager and its name, also without the releases in it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PackageName<'a> {
    manager: PackageManager,
    name: &'a str,
    base: String,
}

fn join_versions(versions: BTreeSet<impl Display>) -> String {
    let versions = Some(join(versions, ", ")).filter(|versions| !versions.is_empty());
    versions.unwrap_or_else(|| "no version".to_owned())
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
        let output = "@rocm /opt/rocm\n7.1.0\n/opt/rocm\n@python /a\nnumpy-2.0.dist-info\n@python /b\nnumpy-1.26.dist-info\nthing.egg-link\n@end";
        store_packages(&run, &parse_listing(output)).unwrap();
        let facts: Vec<(String, String)> =
            package_facts_of_run(&run).into_iter().map(|fact| (fact.what, fact.value)).collect();
        let expected = [
            ("ROCm in the image", "7.1.0"),
            ("numpy (python)", "1.26, 2.0"),
            ("thing (python)", "no version"),
        ];
        assert_eq!(facts, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn components_are_facts_of_the_stack_whatever_carries_them() {
        let facts = |listing: &str| {
            let facts = package_facts(&parse_listing(listing)).into_iter();
            facts.map(|fact| format!("{}: {}", fact.what, fact.value)).collect::<Vec<_>>()
        };
        let dpkg = |packages: &[(&str, &str)]| {
            let stanza = |(name, version): &(&str, &str)| {
                format!("Package: {name}\nStatus: install ok installed\nVersion: {version}\n")
            };
            let stanzas = packages.iter().map(stanza).collect::<String>();
            format!(
                "@rocm x\n7.2.4\n/opt/rocm\n@dpkg /s\n{stanzas}@python /a\ntorch-2.10.0.dist-info\n@end"
            )
        };
        let legacy = dpkg(&[
            ("hip-runtime-amd7.2.4", "7.2.53211.70204-93"),
            ("hipblaslt", "1.2.1.70204-93"),
            ("hipblaslt-dev", "1.2.1.70204-93"),
            ("rocfft", "1.0.36.70204-93"),
        ]);
        let expected = [
            "ROCm in the image: 7.2.4",
            "HIP: 7.2.53211.70204-93",
            "PyTorch: 2.10.0",
            "hipBLASLt: 1.2.1.70204-93",
            "rocfft (dpkg): 1.0.36.70204-93",
        ];
        assert_eq!(facts(&legacy), expected);
        // The version of a package with several libraries is not theirs, and not HIP's.
        let therock = ["amdrocm-blas10.0", "amdrocm-rccl10.0", "amdrocm-runtime10.0"];
        let therock = dpkg(&therock.map(|name| (name, "10.0.0-4")));
        let expected = [
            "ROCm in the image: 7.2.4",
            "PyTorch: 2.10.0",
            "RCCL: 10.0.0-4 (amdrocm-rccl)",
            "hipBLASLt: 10.0.0-4 (amdrocm-blas)",
            "rocBLAS: 10.0.0-4 (amdrocm-blas)",
            "amdrocm-blas10.0 (dpkg): 10.0.0-4",
            "amdrocm-runtime10.0 (dpkg): 10.0.0-4",
        ];
        assert_eq!(facts(&therock), expected);
        let debian = dpkg(&[("libamdhip64-5", "5.7.1-3"), ("librccl1", "5.4.3-3")]);
        let expected =
            ["ROCm in the image: 7.2.4", "HIP: 5.7.1-3", "PyTorch: 2.10.0", "RCCL: 5.4.3-3"];
        assert_eq!(facts(&debian), expected);
        let cuda =
            "@python /a\nnvidia_nccl_cu12-2.27.3.dist-info\nnvidia_cublas-13.1.0.dist-info\n@end";
        assert_eq!(facts(cuda), ["NCCL: 2.27.3", "cuBLAS: 13.1.0"]);
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
