//! The packages of a run, one fact for each name and manager, wherever it is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use itertools::join;

use crate::packages::{InstalledPackages, PackageManager};
use crate::verdict::comparison::{Fact, FactGroup};
use retrial_store::RunDirectory;
use retrial_store::open::read_text_beneath;
use retrial_store::packages::PACKAGES_FILE;

/// A list of 50,000 packages with the longest names is smaller.
const MAX_LIST_BYTES: u64 = 32 << 20;

/// Returns the installed packages, and the release of `ROCm` in the image; none where they were not recorded.
pub fn package_facts_of_run(directory: &RunDirectory) -> Vec<Fact> {
    let text = read_text_beneath(directory.path(), Path::new(PACKAGES_FILE), MAX_LIST_BYTES);
    let installed: Option<InstalledPackages> =
        text.ok().and_then(|text| serde_json::from_str(&text).ok());
    installed
        .map(|installed| package_facts(&installed))
        .unwrap_or_default()
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
        let facts: Vec<(String, String)> = package_facts_of_run(&run)
            .into_iter()
            .map(|fact| (fact.what, fact.value))
            .collect();
        let expected = [
            ("ROCm in the image", "7.1.0"),
            ("numpy (python)", "1.26, 2.0"),
            ("vllm (python)", "no version"),
        ];
        assert_eq!(
            facts,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
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
