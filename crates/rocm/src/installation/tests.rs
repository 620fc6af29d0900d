use rstest::rstest;

use super::*;

/// A version file; its folder is that which its link leads to.
fn file(path: &str, folder: &str, text: &str) -> VersionFile {
    let path = format!("{path}/.info/version");
    VersionFile { path, folder: folder.to_owned(), text: text.to_owned() }
}

fn python(torch: Option<&str>, sdk: Option<&str>) -> PythonWheels {
    let folder = "/opt/venv/lib/python3.12/site-packages".to_owned();
    PythonWheels { folder, torch: torch.map(str::to_owned), sdk: sdk.map(str::to_owned) }
}

fn evidence(
    files: &[VersionFile],
    packages: &[(&str, &str)],
    pythons: &[PythonWheels],
) -> RocmEvidence {
    let packages = packages.iter().map(|(name, version)| (name.to_string(), version.to_string()));
    RocmEvidence { files: files.to_vec(), packages: packages.collect(), pythons: pythons.to_vec() }
}

fn legacy() -> RocmEvidence {
    let files =
        [("/opt/rocm"), ("/opt/rocm-7.2.3")].map(|path| file(path, "/opt/rocm-7.2.3", "7.2.3-90"));
    evidence(&files, &[("rocm-core", "7.2.3.70203-90")], &[])
}

fn core(number: &str, text: &str) -> Vec<VersionFile> {
    let folder = format!("/opt/rocm/core-{number}");
    vec![file("/opt/rocm/core", &folder, text), file(&folder, &folder, text)]
}

fn two_cores() -> RocmEvidence {
    let old = "/opt/rocm/core-7.14";
    let files = [core("10.0", "10.0.0"), vec![file(old, old, "7.14.1")]].concat();
    evidence(&files, &[("amdrocm-base7.14", "7.14.1-1"), ("amdrocm-base10.0", "10.0.0-4")], &[])
}

fn both_layouts() -> RocmEvidence {
    let old = "/opt/rocm-7.2.4";
    let files = [core("10.0", "10.0.0"), vec![file(old, old, "7.2.4-93")]].concat();
    evidence(&files, &[("rocm-core", "7.2.4.70204-93")], &[])
}

fn nightly_tarball() -> RocmEvidence {
    evidence(&[file("/opt/rocm", "/opt/rocm-10.2.0a20260930", "10.2.0")], &[], &[])
}

fn nightly_packages() -> RocmEvidence {
    let packages = [("amdrocm-base10.2", "10.2.0~20260930"), ("amdrocm-blas10.2", "10.2.0-1")];
    evidence(&core("10.2", "10.2.0"), &packages, &[])
}

fn wheels(torch: &str, sdk: &str, files: &[VersionFile]) -> RocmEvidence {
    evidence(files, &[], &[python(None, None), python(Some(torch), Some(sdk))])
}

#[rstest]
#[case::legacy(legacy(), "7.2.3", "7.2.3 (build 90), by /opt/rocm/.info/version")]
#[case::core(
    evidence(&core("10.1", "10.1.0"), &[("amdrocm-core10.1", "10.1.0-4")], &[]),
    "10.1.0",
    "10.1.0, by /opt/rocm/core/.info/version"
)]
#[case::two_cores(
    two_cores(),
    "10.0.0",
    "10.0.0, by /opt/rocm/core/.info/version; also installed: 7.14.1, by /opt/rocm/core-7.14/.info/version"
)]
#[case::wheel(
    wheels("2.13.0+rocm10.0.0", "10.0.0", &[]),
    "10.0.0",
    "10.0.0, by rocm-sdk-core in /opt/venv/lib/python3.12/site-packages"
)]
#[case::nightly_wheel(
    wheels("2.12.0+rocm7.14.0a20260608", "7.14.0a20260608", &[]),
    "7.14.0a20260608",
    "7.14.0a20260608, by rocm-sdk-core in /opt/venv/lib/python3.12/site-packages"
)]
#[case::both_layouts(
    both_layouts(),
    "10.0.0, mixed with 7.2.4",
    "10.0.0, by /opt/rocm/core/.info/version; mixed with 7.2.4, by /opt/rocm-7.2.4/.info/version"
)]
#[case::wheels_and_system(
    wheels("2.13.0+rocm10.1.0", "10.1.0", &core("10.0", "10.0.0")),
    "10.1.0, mixed with 10.0.0",
    "10.1.0, by rocm-sdk-core in /opt/venv/lib/python3.12/site-packages; mixed with 10.0.0, by /opt/rocm/core/.info/version"
)]
#[case::nightly_tarball(
    nightly_tarball(),
    "10.2.0a20260930",
    "10.2.0a20260930, by /opt/rocm/.info/version"
)]
#[case::nightly_packages(
    nightly_packages(),
    "10.2.0a20260930",
    "10.2.0a20260930, by /opt/rocm/core/.info/version"
)]
#[case::torch_alone(
    evidence(&[], &[], &[python(Some("2.11.0+rocm7.2"), None)]),
    "7.2 (torch's wheel)",
    "7.2, by torch in /opt/venv/lib/python3.12/site-packages"
)]
#[case::package_alone(
    evidence(&[], &[("amdrocm-core-sdk10.0-gfx942", "10.0.0~pre1")], &[]),
    "10.0.0rc1",
    "10.0.0rc1, by the package amdrocm-core-sdk10.0-gfx942"
)]
#[case::torch_of_another_release(
    evidence(&legacy().files, &[], &[python(Some("2.9.0+rocm7.1.1.git4e1a"), None)]),
    "7.2.3, mixed with 7.1.1",
    "7.2.3 (build 90), by /opt/rocm/.info/version; mixed with 7.1.1, by torch in /opt/venv/lib/python3.12/site-packages"
)]
#[case::torch_of_the_series(
    evidence(&legacy().files, &[], &[python(Some("2.11.0+rocm7.2"), None)]),
    "7.2.3",
    "7.2.3 (build 90), by /opt/rocm/.info/version"
)]
fn one_release_counts(
    #[case] evidence: RocmEvidence,
    #[case] shown: &str,
    #[case] described: &str,
) {
    let found = evidence.find_installation().unwrap();
    assert_eq!((found.to_string().as_str(), found.describe().as_str()), (shown, described));
    let json = serde_json::to_string(&found).unwrap();
    assert_eq!(serde_json::from_str::<RocmInstallation>(&json).unwrap(), found);
}

#[test]
fn other_texts_state_no_release() {
    let none = evidence(
        &[file("/opt/rocm", "/opt/rocm", "unknown")],
        &[("rocm-device-libs", "7.2.3.70203-90"), ("rocm-core", "from-source")],
        &[python(Some("2.11.0+cu128"), None), python(Some("2.13.0a0+git12ab"), None)],
    );
    assert_eq!(none.find_installation(), None);
}
