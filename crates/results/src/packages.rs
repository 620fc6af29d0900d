//! The packages that are installed in a container, as a script in it lists its databases: dpkg, rpm, apk, conda,
//! and every Python's own folder of packages.
//!
//! The container may be hostile: what it says is bounded, and nothing of it reaches a terminal raw.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use retrial_readings::sanitize;
use retrial_rocm::{PythonWheels, RocmEvidence, RocmInstallation, VersionFile};

/// Version of the file.
const SCHEMA: u32 = 2;
/// The most packages that are kept, of all databases together.
const MAX_PACKAGES: usize = 50_000;
/// The most databases that are stored.
const MAX_DATABASES: usize = 200;
/// The longest name, version or path.
const MAX_TEXT_CHARS: usize = 200;
/// The most files that state a release of `ROCm`.
const MAX_ROCM_FILES: usize = 50;
/// The heading that ends a complete list.
const END_HEADING: &str = "end";

/// The installed packages of a container: `packages.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledPackages {
    /// Version of the file.
    pub schema: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rocm: Option<RocmInstallation>,
    /// The databases that have packages, in the order in which the script lists them.
    pub databases: Vec<PackageDatabase>,
    /// Remarks on what could not be read, or is omitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageDatabase {
    /// The package manager that the database belongs to.
    pub manager: PackageManager,
    /// The path of the database in the container.
    pub path: String,
    /// Versions by name; of several that are installed, all, separated by commas.
    pub packages: BTreeMap<String, String>,
}

retrial_document::words! {
    /// The package managers whose databases are read.
    pub enum PackageManager {
        /// Debian and Ubuntu.
        Dpkg = "dpkg",
        /// Distributions with RPM packages.
        Rpm = "rpm",
        /// Alpine Linux.
        Apk = "apk",
        /// Python's own, by pip or uv.
        Python = "python",
        /// Conda environments.
        Conda = "conda",
    }
}

impl PackageManager {
    /// Returns whether its packages are Python's.
    pub fn is_python(self) -> bool {
        matches!(self, Self::Python | Self::Conda)
    }
}

/// Returns whether the script in the container has printed everything.
pub fn is_complete(text: &str) -> bool {
    let rest = text.strip_suffix('\n').unwrap_or_default();
    rest.rsplit('\n').next().and_then(|line| line.strip_prefix('@')) == Some(END_HEADING)
}

/// Reads what the script in the container printed: sections, each after a line `@manager path`.
pub fn parse_listing(text: &str) -> InstalledPackages {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix('@'), sections.last_mut()) {
            (Some(heading), _) => sections.push((heading, Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    let mut installed = InstalledPackages { schema: SCHEMA, ..InstalledPackages::default() };
    let is_complete = sections.iter().any(|(heading, _)| *heading == END_HEADING);
    let (mut count, mut omitted) = (0, 0);
    let mut rocm_files = Vec::new();
    for (heading, lines) in sections {
        let (word, path) = heading.split_once(' ').unwrap_or((heading, ""));
        if word == "rocm" {
            rocm_files.extend(read_version_file(path, &lines));
        }
        let Ok(manager) = word.parse::<PackageManager>() else {
            continue;
        };
        let mut database =
            PackageDatabase { manager, path: sanitize_entry(path), packages: BTreeMap::new() };
        for (name, version) in parse_packages(manager, &lines) {
            let name = sanitize_entry(&name);
            if count >= MAX_PACKAGES {
                omitted += usize::from(!name.is_empty());
            } else if !name.is_empty() {
                count += 1;
                database.add_version(name, sanitize_entry(version));
            }
        }
        if !database.packages.is_empty() && installed.databases.len() < MAX_DATABASES {
            installed.databases.push(database);
        }
    }
    rocm_files.truncate(MAX_ROCM_FILES);
    installed.rocm = find_rocm(rocm_files, &installed.databases);
    if omitted > 0 {
        let remark = format!("{omitted} packages are omitted: the list ends at {MAX_PACKAGES}");
        installed.remarks.push(remark);
    }
    if !is_complete {
        let remark = "the list is truncated: packages may be missing";
        installed.remarks.push(remark.to_owned());
    }
    installed
}

/// A file that states a release of `ROCm`, and the folder that it is in.
fn read_version_file(path: &str, lines: &[&str]) -> Option<VersionFile> {
    let [text, folder] = lines else { return None };
    let [path, text, folder] = [path, text, folder].map(sanitize_entry);
    Some(VersionFile { path, text, folder })
}

fn find_rocm(files: Vec<VersionFile>, databases: &[PackageDatabase]) -> Option<RocmInstallation> {
    let (python, system): (Vec<_>, Vec<_>) =
        databases.iter().partition(|database| database.manager == PackageManager::Python);
    let pythons = python.into_iter().map(|database| {
        let version = |name: &str| database.packages.get(name).cloned();
        let folder = database.path.clone();
        PythonWheels { folder, torch: version("torch"), sdk: version("rocm-sdk-core") }
    });
    let packages = system.into_iter().flat_map(|database| {
        database.packages.iter().flat_map(|(name, versions)| {
            versions.split(", ").map(|version| (name.clone(), version.to_owned()))
        })
    });
    let (pythons, packages) = (pythons.collect(), packages.collect());
    RocmEvidence { pythons, files, packages }.find_installation()
}

impl PackageDatabase {
    fn add_version(&mut self, name: String, version: String) {
        let versions = self.packages.entry(name).or_default();
        // Two architectures, or two kernels: both are installed.
        if versions.is_empty() {
            *versions = version;
        } else if !versions.split(", ").any(|existing| existing == version) {
            *versions = sanitize_entry(&format!("{versions}, {version}"));
        }
    }
}

/// Returns name and version of each package in the lines of a database.
fn parse_packages<'a>(manager: PackageManager, lines: &[&'a str]) -> Vec<(Cow<'a, str>, &'a str)> {
    let entries = lines.iter().copied();
    let borrowed = |(name, version): (&'a str, &'a str)| (Cow::Borrowed(name), version);
    match manager {
        PackageManager::Dpkg => parse_stanzas(entries, "Package: ", "Version: "),
        PackageManager::Apk => parse_stanzas(entries, "P:", "V:"),
        PackageManager::Rpm => {
            entries.filter_map(|line| line.split_once(' ')).map(borrowed).collect()
        }
        PackageManager::Conda => entries.filter_map(parse_conda_entry).map(borrowed).collect(),
        PackageManager::Python => entries
            .filter_map(parse_python_entry)
            .map(|(name, version)| (Cow::Owned(name), version))
            .collect(),
    }
}

/// Several lines for each package: its name, its version after it, and dpkg's status between them.
fn parse_stanzas<'a>(
    lines: impl Iterator<Item = &'a str>,
    name: &str,
    version: &str,
) -> Vec<(Cow<'a, str>, &'a str)> {
    let mut package = None;
    let mut packages = Vec::new();
    for line in lines {
        if let Some(name) = line.strip_prefix(name) {
            package = Some(Cow::Borrowed(name));
        } else if let Some(status) = line.strip_prefix("Status: ") {
            // `deinstall ok config-files`: removed, but for its settings.
            package = package.filter(|_| status.ends_with(" installed"));
        } else if let Some(version) = line.strip_prefix(version) {
            packages.extend(package.take().zip(Some(version)));
        }
    }
    packages
}

/// `torch-2.9.0+rocm7.1.dist-info`, `numpy-1.26.4-py3.12.egg-info`, `thing.egg-link`; the name as
/// Python compares names.
fn parse_python_entry(entry: &str) -> Option<(String, &str)> {
    let (stem, ending) = entry.rsplit_once('.')?;
    if !["dist-info", "egg-info", "egg-link"].contains(&ending) {
        return None;
    }
    let (name, version) = stem.split_once('-').unwrap_or((stem, ""));
    let release = version.split_once("-py").map_or(version, |(version, _)| version);
    let mut folded = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '-' | '_' | '.' if folded.ends_with('-') => {}
            '_' | '.' => folded.push('-'),
            letter => folded.extend(letter.to_lowercase()),
        }
    }
    (!folded.is_empty()).then_some((folded, release))
}

/// `numpy-1.26.4-py312h02b7e37_0.json`: name, version, build.
fn parse_conda_entry(entry: &str) -> Option<(&str, &str)> {
    let stem = entry.strip_suffix(".json")?;
    let (rest, _build) = stem.rsplit_once('-')?;
    rest.rsplit_once('-')
}

/// Harmless, and not too long.
fn sanitize_entry(text: &str) -> String {
    let text = sanitize(text.trim());
    text.chars().filter(|letter| !letter.is_control()).take(MAX_TEXT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn packages(text: &str) -> Vec<(PackageManager, String, String)> {
        parse_listing(text)
            .databases
            .into_iter()
            .flat_map(|place| {
                let manager = place.manager;
                let packages = place.packages.into_iter();
                packages.map(move |(name, version)| (manager, name, version))
            })
            .collect()
    }

    #[rstest]
    #[case(
        "@dpkg /s\nPackage: libc6\nStatus: install ok installed\nVersion: 2.36-9\n",
        PackageManager::Dpkg,
        "libc6",
        "2.36-9"
    )]
    #[case(
        "@dpkg /s\nPackage: libc6\nVersion: 1\nPackage: libc6\nVersion: 2\n",
        PackageManager::Dpkg,
        "libc6",
        "1, 2"
    )]
    #[case("@apk /s\nP:musl\nV:1.2.5-r0\n", PackageManager::Apk, "musl", "1.2.5-r0")]
    #[case("@rpm rpm\nbash 5.2.26-3.el10\n", PackageManager::Rpm, "bash", "5.2.26-3.el10")]
    #[case(
        "@python /s\ntorch-2.9.0+rocm7.1.dist-info\n",
        PackageManager::Python,
        "torch",
        "2.9.0+rocm7.1"
    )]
    #[case("@python /s\nNumPy-1.26.4-py3.12.egg-info\n", PackageManager::Python, "numpy", "1.26.4")]
    #[case(
        "@python /s\nruamel.yaml__clib-0.2.dist-info\n",
        PackageManager::Python,
        "ruamel-yaml-clib",
        "0.2"
    )]
    #[case("@python /s\nvllm.egg-link\n", PackageManager::Python, "vllm", "")]
    #[case(
        "@conda /c\nintel-openmp-2023.1.0-hdb19cb5_46306.json\n",
        PackageManager::Conda,
        "intel-openmp",
        "2023.1.0"
    )]
    fn databases(
        #[case] text: &str,
        #[case] manager: PackageManager,
        #[case] name: &str,
        #[case] version: &str,
    ) {
        assert_eq!(packages(text), [(manager, name.to_owned(), version.to_owned())]);
    }

    #[rstest]
    #[case("@dpkg /s\nPackage: gone\nStatus: deinstall ok config-files\nVersion: 1\n")]
    #[case("@python /s\n__pycache__\n*.dist-info.part\n.dist-info\n")]
    #[case("@conda /c\nhistory\n")]
    #[case("@unknown /x\nPackage: a\nVersion: 1\n")]
    #[case("Package: a\nVersion: 1\n")]
    #[case("")]
    fn lines_that_are_not_packages_are_ignored(#[case] text: &str) {
        assert_eq!(packages(text), []);
    }

    #[rstest]
    #[case("@rocm /opt/rocm/.info/version\n7.1.0-42\n/opt/rocm-7.1.0\n@end\n", "7.1.0")]
    #[case(
        "@rocm /opt/rocm/core/.info/version\n10.2.0\n/opt/rocm/core-10.2\n@dpkg /s\nPackage: amdrocm-base10.2\nVersion: 10.2.0~20260930\n@end\n",
        "10.2.0a20260930"
    )]
    #[case(
        "@rocm /opt/rocm/core/.info/version\n10.0.0\n/opt/rocm/core-10.0\n@python /v\nrocm_sdk_core-10.1.0.dist-info\ntorch-2.13.0+rocm10.1.0.dist-info\n@end\n",
        "10.1.0, mixed with 10.0.0"
    )]
    fn the_rocm_release_is_read(#[case] text: &str, #[case] release: &str) {
        let list = parse_listing(text);
        assert_eq!(list.rocm.unwrap().to_string(), release);
        assert!(list.remarks.is_empty());
    }

    #[test]
    fn a_truncated_list_is_reported() {
        let list = parse_listing("@rpm rpm\nbash 5\n");
        assert_eq!(list.remarks, ["the list is truncated: packages may be missing"]);
    }

    #[test]
    fn a_hostile_list_is_bounded_and_sanitized() {
        let mut lines = vec!["@rpm \u{1b}[31mrpm".to_owned()];
        lines.extend((0..MAX_PACKAGES + 10).map(|number| format!("package{number} 1")));
        lines.push(format!("long {}", "9".repeat(10_000)));
        lines.push("\u{1b}]0;title\u{7}name 1\n@end\n".to_owned());
        let mut text = lines.join("\n");
        text += &"@rpm again\nx 1\n".repeat(1000);
        let list = parse_listing(&text);
        let count: usize = list.databases.iter().map(|place| place.packages.len()).sum();
        assert_eq!(count, MAX_PACKAGES);
        assert!(list.databases.len() <= MAX_DATABASES);
        assert!(list.remarks[0].contains("omitted"), "{:?}", list.remarks);
        let written = serde_json::to_string(&list).unwrap();
        assert!(!written.contains("\\u001b"), "{}", list.databases[0].path);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(@(dpkg|python|conda|apk|rpm|rocm|end) ?|Package: |Version: |P:|V:|[a-z.\\-_\u{1b}\n]){0,60}") {
            let installed = parse_listing(&text);
            let written = serde_json::to_string(&installed).unwrap();
            prop_assert_eq!(serde_json::from_str::<InstalledPackages>(&written).unwrap(), installed);
        }
    }
}
