//! AMD's compatibility data of `ROCm` releases: drivers, GPUs, operating systems and their kernels, frameworks.
//! The data and its sources are in `rocm.yaml`; unlisted versions are reported as such, not guessed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use itertools::join;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::model::{Gpu, OperatingSystem};

/// Drivers and kernels.
static SYSTEM_MATRIX: LazyLock<SystemMatrix> = LazyLock::new(|| read_part(0));
/// The releases. They are read apart from the drivers, which most plans need alone: that takes a tenth of the time.
static RELEASES: LazyLock<Vec<RocmRelease>> = LazyLock::new(|| read_part(1));

/// Reads one of the file's documents.
fn read_part<T: DeserializeOwned>(index: usize) -> T {
    let part = include_str!("rocm.yaml").split("\n---\n").nth(index);
    // Without it nothing would be compared, and no check would report that.
    serde_saphyr::from_str(part.unwrap_or_default())
        .unwrap_or_else(|error| panic!("rocm.yaml, which is built in, cannot be read: {error}"))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SystemMatrix {
    drivers: BTreeMap<String, String>,
    kernels: BTreeMap<String, Vec<String>>,
}

/// A release of `ROCm`, or several with a common prefix.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RocmRelease {
    /// The release, `7.1`, or the prefix of several.
    pub number: String,
    /// The series of drivers that are listed.
    drivers: Vec<String>,
    /// Operating systems: `ubuntu 24.04`.
    systems: Vec<String>,
    /// GPUs by target or model, and the systems of each; none: all.
    gpus: BTreeMap<String, Vec<String>>,
    /// Versions that are listed, by the names of Python's packages.
    frameworks: BTreeMap<String, Vec<String>>,
}

/// A driver's series by the version of its kernel module; none for an unknown version.
pub fn driver_series(module: &str) -> Option<&'static str> {
    SYSTEM_MATRIX.drivers.get(module).map(String::as_str)
}

/// The entry of a release such as `7.1.1-38`; none if unknown. `6.4` is 6.4.0.
pub fn find_release(rocm: &str) -> Option<&'static RocmRelease> {
    let mut number = rocm.split('-').next().unwrap_or_default().to_owned();
    if number.matches('.').count() == 1 {
        number.push_str(".0");
    }
    RELEASES
        .iter()
        .filter(|release| is_version_of(&number, &release.number))
        .max_by_key(|release| release.number.len())
}

impl RocmRelease {
    pub fn lists_driver(&self, series: &str) -> bool {
        self.drivers.iter().any(|driver| driver == series)
    }

    /// Returns whether it has code for a GPU.
    pub fn has_code_for(&self, target: &str) -> bool {
        self.gpus.contains_key(target)
    }

    fn listed_systems(&self, gpu: &Gpu) -> &[String] {
        let systems_of = |name: &str| self.gpus.get(name).filter(|systems| !systems.is_empty());
        let target = gpu.gfx.as_deref().and_then(systems_of);
        systems_of(&gpu.model).or(target).unwrap_or(&self.systems)
    }

    pub fn lists_system(&self, system: &OperatingSystem, gpu: &Gpu) -> bool {
        let mut systems = self.listed_systems(gpu).iter();
        systems.any(|listed| system.matches(listed))
    }

    /// The systems listed for a GPU, for display: `Ubuntu 24.04, 22.04; RHEL 9.6, 9.4`.
    pub fn format_systems(&self, gpu: &Gpu) -> String {
        let mut words: Vec<(&str, Vec<&str>)> = Vec::new();
        let pairs = self.listed_systems(gpu).iter();
        for (id, version) in pairs.filter_map(|system| system.split_once(' ')) {
            match words.iter_mut().find(|(listed, _)| *listed == id) {
                Some((_, versions)) => versions.push(version),
                None => words.push((id, vec![version])),
            }
        }
        let entries = words.iter();
        join(
            entries
                .map(|(id, versions)| format!("{} {}", distribution_name(id), versions.join(", "))),
            "; ",
        )
    }

    /// The listed versions of a framework; none for a package that is no framework.
    pub fn listed_versions(&self, package: &str) -> Option<(&'static str, &[String])> {
        let name = framework_of_package(package)?;
        Some((name, self.frameworks.get(name)?))
    }
}

/// Frameworks, and the packages that contain them.
const FRAMEWORKS: [(&str, &[&str]); 4] = [
    ("torch", &["torch"]),
    ("tensorflow", &["tensorflow", "tensorflow-rocm"]),
    ("jax", &["jax"]),
    ("onnxruntime", &["onnxruntime", "onnxruntime-rocm", "onnxruntime-migraphx"]),
];

pub fn framework_of_package(package: &str) -> Option<&'static str> {
    let mut frameworks = FRAMEWORKS.iter();
    let found = frameworks.find(|(_, names)| names.contains(&package));
    found.map(|(name, _)| *name)
}

/// Kernels listed for an operating system; none for an unknown one.
pub fn listed_kernels(system: &OperatingSystem) -> Option<&'static [String]> {
    let mut kernels = SYSTEM_MATRIX.kernels.iter();
    let entry = kernels.find(|(listed, _)| system.matches(listed));
    entry.map(|(_, kernels)| kernels.as_slice())
}

/// Returns whether a version equals a listed one, or starts with its parts: `2.6.0+rocm6.4` is of 2.6.
pub fn is_version_of(version: &str, listed: &str) -> bool {
    let rest = version.strip_prefix(listed);
    rest.is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

fn distribution_name(id: &str) -> &str {
    match id {
        "ubuntu" => "Ubuntu",
        "rhel" => "RHEL",
        "sles" => "SLES",
        "rocky" => "Rocky Linux",
        "ol" => "Oracle Linux",
        "debian" => "Debian",
        "azurelinux" => "Azure Linux",
        "centos" => "CentOS",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn gpu(model: &str, target: &str) -> Gpu {
        Gpu { gfx: Some(target.to_owned()), ..Gpu::with_model(model, "") }
    }

    fn system(id: &str, version: &str) -> OperatingSystem {
        OperatingSystem { id: id.to_owned(), version: version.to_owned(), name: String::new() }
    }

    #[test]
    fn the_table_can_be_read() {
        assert!(!SYSTEM_MATRIX.drivers.is_empty() && !SYSTEM_MATRIX.kernels.is_empty());
        assert!(RELEASES.len() > 7);
        for release in RELEASES.iter() {
            assert!(!release.systems.is_empty() && release.gpus.contains_key("gfx942"));
            let listed = release.gpus.values().flatten();
            assert_eq!(listed.filter(|system| !release.systems.contains(system)).count(), 0);
            assert_eq!(release.frameworks.len(), FRAMEWORKS.len());
        }
    }

    #[rstest]
    #[case("6.4", "gfx1201", false)]
    #[case("6.4.0-47", "gfx1201", false)]
    #[case("6.4.1", "gfx1201", true)]
    #[case("6.4.4", "gfx1200", true)]
    #[case("6.4.1", "gfx950", false)]
    #[case("7.0.0", "gfx950", true)]
    #[case("7.2.4", "gfx1100", true)]
    fn each_release_supports_certain_targets(
        #[case] rocm: &str,
        #[case] target: &str,
        #[case] has: bool,
    ) {
        assert_eq!(find_release(rocm).unwrap().has_code_for(target), has);
    }

    #[rstest]
    #[case("7.10.0")]
    #[case("5.7.0")]
    #[case("10.0.0")]
    fn unlisted_releases_are_unknown(#[case] rocm: &str) {
        assert!(find_release(rocm).is_none());
    }

    #[rstest]
    #[case("7.1.1", "MI355X", "gfx950", "ubuntu", "24.04", true)]
    #[case("7.1.1", "MI355X", "gfx950", "rhel", "9.6", true)]
    #[case("7.1.1", "MI355X", "gfx950", "ol", "9.6", true)]
    #[case("7.1.1", "MI355X", "gfx950", "debian", "12", false)]
    #[case("7.1.1", "MI300X", "gfx942", "debian", "12", true)]
    #[case("7.0.0", "MI325X", "gfx942", "debian", "12", false)]
    #[case("6.4.1", "RX 9070 XT", "gfx1201", "debian", "12", false)]
    #[case("6.4.1", "RX 9070 XT", "gfx1201", "rhel", "9.4", true)]
    fn systems_depend_on_the_gpu(
        #[case] rocm: &str,
        #[case] model: &str,
        #[case] target: &str,
        #[case] id: &str,
        #[case] version: &str,
        #[case] is_listed: bool,
    ) {
        let (gpu, system) = (gpu(model, target), system(id, version));
        let release = find_release(rocm).unwrap();
        assert_eq!(release.lists_system(&system, &gpu), is_listed);
    }

    #[test]
    fn operating_systems_are_listed_together() {
        let radeon = find_release("6.4.2").unwrap();
        let text = radeon.format_systems(&gpu("RX 9070 XT", "gfx1201"));
        assert_eq!(text, "Ubuntu 24.04, 22.04; RHEL 9.6, 9.4");
    }

    #[test]
    fn versions_are_compared_by_their_parts() {
        assert!(is_version_of("2.6.0+rocm6.4.1", "2.6"));
        assert!(!is_version_of("2.60.0", "2.6"));
        assert!(is_version_of("6.8.0-107-generic", "6.8"));
        assert_eq!(framework_of_package("onnxruntime-migraphx"), Some("onnxruntime"));
        assert_eq!(framework_of_package("numpy"), None);
    }
}
