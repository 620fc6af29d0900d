//! What AMD lists for a release: drivers, operating systems and their kernels, GPUs, frameworks.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Frameworks, and the packages that contain them.
const FRAMEWORKS: [(&str, &[&str]); 6] = [
    ("torch", &["torch"]),
    ("tensorflow", &["tensorflow", "tensorflow-rocm"]),
    ("jax", &["jax"]),
    ("onnxruntime", &["onnxruntime", "onnxruntime-rocm", "onnxruntime-migraphx"]),
    ("vllm", &["vllm"]),
    ("sglang", &["sglang"]),
];

/// A release, or all that begin with its number: `7.2` and `6.4.0`. An empty list is not known.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedRelease {
    pub number: String,
    /// The series of drivers.
    #[serde(default)]
    pub drivers: Vec<String>,
    /// Operating systems as os-release names them: `ubuntu 24.04`.
    #[serde(default)]
    pub systems: Vec<String>,
    /// Kernels of a system, where they are not those of the table.
    #[serde(default)]
    pub kernels: BTreeMap<String, Vec<String>>,
    /// GPUs by target or model, and the systems of each; none: all.
    #[serde(default)]
    pub gpus: BTreeMap<String, Vec<String>>,
    /// Targets that its code has and its lists of supported GPUs do not.
    #[serde(default)]
    pub code_only: Vec<String>,
    /// Versions by the names of Python's packages.
    #[serde(default)]
    pub frameworks: BTreeMap<String, Vec<String>>,
}

impl ListedRelease {
    pub fn lists_driver(&self, series: &str) -> bool {
        self.drivers.iter().any(|driver| driver == series)
    }

    /// Returns whether the release is known to have code for a GPU's target.
    pub fn has_code_for(&self, target: &str) -> bool {
        self.gpus.contains_key(target) || self.is_code_only(target)
    }

    pub fn is_code_only(&self, target: &str) -> bool {
        self.code_only.iter().any(|listed| listed == target)
    }

    /// The systems of a GPU; none if unknown.
    pub fn systems_of(&self, model: &str, target: Option<&str>) -> &[String] {
        let systems_of = |name: &str| self.gpus.get(name).filter(|systems| !systems.is_empty());
        systems_of(model).or_else(|| systems_of(target?)).unwrap_or(&self.systems)
    }

    /// The framework that a package contains, and its listed versions; none listed: unknown.
    pub fn framework_versions(&self, package: &str) -> Option<(&'static str, &[String])> {
        let name = framework_of_package(package)?;
        Some((name, self.frameworks.get(name).map_or(&[], Vec::as_slice)))
    }
}

pub fn framework_of_package(package: &str) -> Option<&'static str> {
    let mut frameworks = FRAMEWORKS.iter();
    let found = frameworks.find(|(_, names)| names.contains(&package));
    found.map(|(name, _)| *name)
}
