//! `ROCm` on the host: the files of its installations, and the wheels of its Pythons.

use retrial_rocm::{PythonWheels, RocmEvidence, RocmInstallation, VersionFile};

use super::root::HostRoot;

const OPT: &str = "opt";
const ROCM: &str = "opt/rocm";

pub fn find_installation(root: &HostRoot) -> Option<RocmInstallation> {
    let evidence =
        RocmEvidence { pythons: list_pythons(root), files: list_files(root), packages: Vec::new() };
    evidence.find_installation()
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
