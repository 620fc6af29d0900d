//! One release of those that the files and packages of a machine or a container state.
//!
//! HIP's version is not among them: 7.15 is that of `ROCm` 10.0.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::release::RocmRelease;

/// What was read, each list in the order in which its entries count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RocmEvidence {
    pub pythons: Vec<PythonWheels>,
    /// Of `$ROCM_PATH`, `/opt/rocm`, `/opt/rocm/core`, `/opt/rocm/core-*` and `/opt/rocm-*`.
    pub files: Vec<VersionFile>,
    /// Names and versions of the system's packages.
    pub packages: Vec<(String, String)>,
}

/// The wheels of one Python.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PythonWheels {
    /// Its folder of packages.
    pub folder: String,
    pub torch: Option<String>,
    /// The version of rocm-sdk-core.
    pub sdk: Option<String>,
}

/// `.info/version` of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionFile {
    pub path: String,
    pub text: String,
    /// The installation's folder, with its links resolved: `/opt/rocm/core-10.1`.
    pub folder: String,
}

/// How a release is installed. Several of one layout may be installed next to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Python's wheels, of which torch uses the libraries.
    Wheels,
    /// A folder of its own: `/opt/rocm-7.2.4`.
    Folder,
    /// Packages since 7.14: `/opt/rocm/core-10.1`.
    Core,
    /// Libraries within torch's wheel.
    Torch,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedRelease {
    pub release: RocmRelease,
    pub layout: Layout,
    /// A file, a folder of Python's packages, or a package.
    pub source: String,
}

/// The release of a machine or a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RocmInstallation {
    #[serde(flatten)]
    pub stated: StatedRelease,
    /// Other releases that are installed, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<StatedRelease>,
}

impl RocmEvidence {
    /// Returns the release that counts: the wheels of a Python whose torch uses them, then files, then packages.
    pub fn find_installation(&self) -> Option<RocmInstallation> {
        let packages: Vec<_> = self.packages.iter().filter_map(read_package).collect();
        let files = self.files.iter().filter_map(|file| {
            let stated = read_file(file)?;
            // The file of a nightly build states no date. The folder's name may, or the package.
            let folder = folder_release(&file.folder);
            let mut hints = packages.iter().map(|package| &package.release).chain(&folder);
            let dated =
                hints.find(|hint| hint.is_prerelease() && hint.agrees_with(&stated.release));
            let release = dated.cloned().unwrap_or(stated.release);
            Some(StatedRelease { release, ..stated })
        });
        let (used, unused): (Vec<_>, Vec<_>) =
            self.pythons.iter().partition(|python| python.torch.is_some());
        let sdk = |python: &&PythonWheels| {
            let text = python.sdk.as_deref()?;
            read_stated(text, Layout::Wheels, format!("rocm-sdk-core in {}", python.folder))
        };
        let torch = self.pythons.iter().filter_map(|python| {
            let (_, local) = python.torch.as_deref()?.split_once("+rocm")?;
            let (release, _) = RocmRelease::parse_prefix(local)?;
            let source = format!("torch in {}", python.folder);
            Some(StatedRelease { release, layout: Layout::Torch, source })
        });
        let mut stated = used
            .iter()
            .filter_map(sdk)
            .chain(files)
            .chain(packages.iter().cloned())
            .chain(unused.iter().filter_map(sdk))
            .chain(torch);
        let first = stated.next()?;
        let mut others: Vec<StatedRelease> = Vec::new();
        for other in stated {
            let known = [&first].into_iter().chain(&others);
            if !known.into_iter().any(|known| known.release.agrees_with(&other.release)) {
                others.push(other);
            }
        }
        Some(RocmInstallation { stated: first, others })
    }
}

impl RocmInstallation {
    pub fn release(&self) -> &RocmRelease {
        &self.stated.release
    }

    /// The releases of other layouts: libraries of both may be loaded into one process.
    pub fn mixed_with(&self) -> impl Iterator<Item = &StatedRelease> {
        self.others.iter().filter(|other| other.layout != self.stated.layout)
    }

    /// The release with its build, source, and the others: `7.2.3 (build 90), by /opt/rocm/.info/version`.
    pub fn describe(&self) -> String {
        let build = self.release().build().filter(|_| self.stated.layout == Layout::Folder);
        let build = build.map(|build| format!(" (build {build})")).unwrap_or_default();
        let also = self.others.iter().map(|other| {
            let is_mixed = other.layout != self.stated.layout;
            let words = if is_mixed { "mixed with" } else { "also installed:" };
            format!("; {words} {}, by {}", other.release, other.source)
        });
        let also: String = also.collect();
        format!("{}{build}, by {}{also}", self.release(), self.stated.source)
    }
}

/// `7.2.4`, `7.2 (torch's wheel)`, `10.1.0, mixed with 10.0.0`.
impl fmt::Display for RocmInstallation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.release())?;
        if self.stated.layout == Layout::Torch {
            write!(formatter, " (torch's wheel)")?;
        }
        let mut words = ", mixed with";
        for other in self.mixed_with() {
            write!(formatter, "{words} {}", other.release)?;
            words = ",";
        }
        Ok(())
    }
}

fn read_stated(text: &str, layout: Layout, source: String) -> Option<StatedRelease> {
    Some(StatedRelease { release: text.parse().ok()?, layout, source })
}

fn read_file(file: &VersionFile) -> Option<StatedRelease> {
    let layout = match folder_name(&file.folder) {
        name if name.starts_with("core-") => Layout::Core,
        // `$ROCM_PATH` may lead into wheels.
        name if name.starts_with("_rocm_sdk") => Layout::Wheels,
        _ => Layout::Folder,
    };
    read_stated(&file.text, layout, file.path.clone())
}

/// `rocm-core` up to 7.2, `amdrocm-base10.0` and `amdrocm-core-sdk10.0-gfx942` since.
fn read_package((name, version): &(String, String)) -> Option<StatedRelease> {
    let is_core = ["amdrocm-base", "amdrocm-core"].iter().any(|start| name.starts_with(start));
    let layout = match name.as_str() {
        "rocm-core" => Layout::Folder,
        _ if is_core => Layout::Core,
        _ => return None,
    };
    read_stated(version, layout, format!("the package {name}"))
}

/// `/opt/rocm-10.2.0a20260930` is a nightly build from a tarball.
fn folder_release(folder: &str) -> Option<RocmRelease> {
    folder_name(folder).strip_prefix("rocm-")?.parse().ok()
}

fn folder_name(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
