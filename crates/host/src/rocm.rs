//! `ROCm` on the host: the files of its installations, the wheels of its Pythons, and Debian's packages. The database
//! of rpm is not read: its formats are rpm's own.

use retrial_rocm::{PythonWheels, RocmEvidence, RocmInstallation, VersionFile};

use super::root::HostRoot;

const OPT: &str = "opt";
const ROCM: &str = "opt/rocm";

pub fn find_installation(root: &HostRoot) -> Option<RocmInstallation> {
    let files = list_files(root);
    // The packages are large, and the files of an installation say the same but for the date of a nightly build.
    let packages = if files.is_empty() { Vec::new() } else { list_packages(root) };
    RocmEvidence { pythons: list_pythons(root), files, packages }.find_installation()
}

/// The installed packages of Debian and Ubuntu whose names may be of `ROCm`, with their versions.
fn list_packages(root: &HostRoot) -> Vec<(String, String)> {
    let status = root.read_large_text("var/lib/dpkg/status").unwrap_or_default();
    let packages = status.split("\n\n").filter_map(|package| {
        let field = |name: &str| {
            let mut lines = package.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        };
        let name = field("Package").filter(|name| name.contains("rocm"))?;
        let is_installed = field("Status")?.ends_with(" installed");
        is_installed.then_some((name.to_owned(), field("Version")?.to_owned()))
    });
    packages.collect()
}

/// The version files, in the order in which they count.
fn list_files(root: &HostRoot) -> Vec<VersionFile> {
    let rocm = root.resolve_link(ROCM);
    // `core-10` is a link to `core-10.1`.
    let is_numbered = |name: &String, start: &str| {
        let rest = name.strip_prefix(start).unwrap_or_default();
        rest.contains('.') && rest.starts_with(|first: char| first.is_ascii_digit())
    };
    let cores = root.list_names(&rocm).into_iter().filter(|name| is_numbered(name, "core-"));
    let others = root.list_names(OPT).into_iter().filter(|name| is_numbered(name, "rocm-"));
    let core = ["core".to_owned()].into_iter().chain(cores);
    // The path as people know it, and where it really is.
    let core = core.map(|name| (format!("{ROCM}/{name}"), format!("{rocm}/{name}")));
    let other = others.map(|name| (format!("{OPT}/{name}"), format!("{OPT}/{name}")));
    let places = [(ROCM.to_owned(), rocm.clone())].into_iter().chain(core).chain(other);
    let files = places.filter_map(|(path, place)| {
        let folder = root.resolve_link(&place);
        let text = root.read_text(&format!("{folder}/.info/version"))?;
        let text = text.lines().next()?.trim().to_owned();
        Some(VersionFile { path: format!("/{path}/.info/version"), folder, text })
    });
    files.collect()
}

/// The Pythons below `/usr/local`, `/usr` and `/opt/*` that have wheels of `ROCm` or torch.
fn list_pythons(root: &HostRoot) -> Vec<PythonWheels> {
    let environments = root.list_names(OPT).into_iter().map(|name| format!("{OPT}/{name}"));
    let prefixes = ["usr/local".to_owned(), "usr".to_owned()].into_iter().chain(environments);
    let folders = prefixes.flat_map(|prefix| {
        let versions = root.list_names(&format!("{prefix}/lib"));
        let pythons = versions.into_iter().filter(|name| name.starts_with("python3"));
        let python = pythons.map(move |name| format!("{prefix}/lib/{name}"));
        python.flat_map(|python| {
            ["site-packages", "dist-packages"].map(|folder| format!("{python}/{folder}"))
        })
    });
    let pythons = folders.map(|folder| {
        let names = root.list_names(&folder);
        let version = |package: &str| {
            let mut versions = names.iter().filter_map(|name| {
                name.strip_prefix(package)?.strip_prefix('-')?.strip_suffix(".dist-info")
            });
            versions.next().map(str::to_owned)
        };
        let (torch, sdk) = (version("torch"), version("rocm_sdk_core"));
        PythonWheels { folder: format!("/{folder}"), torch, sdk }
    });
    pythons.filter(|python| python.torch.is_some() || python.sdk.is_some()).collect()
}
