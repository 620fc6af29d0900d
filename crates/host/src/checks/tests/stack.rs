//! Driver, release, operating system and frameworks.

use retrial_rocm::GpuFamily;
use rstest::rstest;

use super::*;
use crate::assign::{AssignedGpu, AssignedGpus, InjectionMethod};

#[test]
fn a_release_without_support_for_the_gpu_is_an_error() {
    let (host, settings, requires) = (eight(), tuned(), requirements(&["MI355X"], 8));
    let mut old = facts(&host, &[], &settings, &requires);
    old.image.rocm = Some(image_release("6.4.1"));
    let checks = check_host(&old);
    let target = find_check(&checks, "image for these GPUs");
    assert_eq!(
        (target.state, target.actual.as_str()),
        (HostCheckState::Error, "ROCm 6.4.1 has no code for gfx950")
    );
    assert_eq!(find_check(&checks, "amdgpu driver").state, HostCheckState::Ok);
    let mut newer = host.clone();
    newer.amdgpu = Some("6.19.4".to_owned());
    let checks = check_host(&facts(&newer, &[], &settings, &requires));
    assert_eq!(find_check(&checks, "amdgpu driver").state, HostCheckState::Warning);
    newer.amdgpu = None;
    let checks = check_host(&facts(&newer, &[], &settings, &requires));
    assert_eq!(find_check(&checks, "amdgpu driver").state, HostCheckState::Unknown);
}

/// The state and text of the check of the image's code, for a host with GPUs of one target.
fn image_check(model: &str, target: &str, image: ImageContent) -> (HostCheckState, String) {
    let (mut host, settings, requires) = (eight(), tuned(), requirements(&[model], 8));
    for gpu in &mut host.gpus {
        gpu.gfx = Some(target.to_owned());
    }
    let mut found = facts(&host, &[], &settings, &requires);
    found.image = image;
    let check = find_check(&check_host(&found), "image for these GPUs").clone();
    (check.state, check.actual)
}

#[rstest]
#[case(
    "7.1.1",
    "gfx1031",
    HostCheckState::Unknown,
    "ROCm 7.1.1: this build's table does not list gfx1031 for it"
)]
#[case(
    "7.1.1",
    "gfx1151",
    HostCheckState::Unknown,
    "ROCm 7.1.1: this build's table does not list gfx1151 for it"
)]
#[case("6.4.0", "gfx1201", HostCheckState::Error, "ROCm 6.4.0 has no code for gfx1201")]
#[case(
    "10.2.0",
    "gfx950",
    HostCheckState::Unknown,
    "ROCm 10.2.0: newer than this build's table (2026-10)"
)]
#[case(
    "10.0.0",
    "gfx1250",
    HostCheckState::Ok,
    "ROCm 10.0.0 has code for these GPUs; AMD does not list gfx1250 as supported"
)]
#[case(
    "7.14.0a20260608",
    "gfx950",
    HostCheckState::Ok,
    "ROCm 7.14.0a20260608 has code for these GPUs"
)]
fn only_a_complete_list_excludes_a_target(
    #[case] release: &str,
    #[case] target: &str,
    #[case] state: HostCheckState,
    #[case] text: &str,
) {
    let image = ImageContent { rocm: Some(image_release(release)), ..ImageContent::default() };
    assert_eq!(image_check("X", target, image), (state, text.to_owned()));
}

#[test]
fn an_image_for_a_family_has_no_code_for_the_other() {
    let image = |family| ImageContent {
        rocm: Some(image_release("7.14.0")),
        family: Some(family),
        ..ImageContent::default()
    };
    let text = "an image for RDNA GPUs has no code for gfx950".to_owned();
    let check = image_check("MI355X", "gfx950", image(GpuFamily::Rdna));
    assert_eq!(check, (HostCheckState::Error, text));
    let (state, _) = image_check("MI355X", "gfx950", image(GpuFamily::Cdna));
    assert_eq!(state, HostCheckState::Ok);
}

#[test]
fn an_image_without_a_known_release_is_reported() {
    let (state, text) = image_check("MI355X", "gfx950", ImageContent::default());
    assert_eq!(state, HostCheckState::Unknown);
    assert!(text.contains("the name does not state it; pull it"), "{text}");
}

/// A release that the table does not know leaves out none of the checks.
#[test]
fn a_newer_release_is_said_to_be_unknown() {
    let (mut host, settings, requires) = (eight(), tuned(), requirements(&["MI355X"], 8));
    host.amdgpu = Some("6.19.14".to_owned());
    let mut found = facts(&host, &[], &settings, &requires);
    found.image.rocm = Some(image_release("10.2.0"));
    found.image.packages = vec![("torch".to_owned(), "2.15.0".to_owned())];
    let checks = check_host(&found);
    for name in ["amdgpu driver", "operating system", "frameworks in the image"] {
        let check = find_check(&checks, name);
        let unknown = "unknown: ROCm 10.2.0 is newer than this build's table (2026-10)";
        assert_eq!((check.state, check.required.as_str()), (HostCheckState::Unknown, unknown));
    }
    found.image.rocm = Some(image_release("10.0.0"));
    let checks = check_host(&found);
    assert_eq!(find_check(&checks, "amdgpu driver").state, HostCheckState::Ok);
}

/// Code of another target runs on the GPU, as the recipe says.
#[test]
fn the_target_that_the_container_sets_is_the_one_that_counts() {
    let (mut host, settings, requires) = (eight(), tuned(), requirements(&["RX 6700 XT"], 8));
    for gpu in &mut host.gpus {
        gpu.gfx = Some("gfx1031".to_owned());
    }
    let mut found = facts(&host, &[], &settings, &requires);
    let target = |found: &HostFacts<'_>| {
        let check = find_check(&check_host(found), "image for these GPUs").clone();
        (check.state, check.actual)
    };
    assert_eq!(target(&found).0, HostCheckState::Unknown);
    found.target_override = Some("10.3.0");
    let set = "ROCm 7.1.1 has code for gfx1030, which HSA_OVERRIDE_GFX_VERSION sets";
    assert_eq!(target(&found), (HostCheckState::Ok, set.to_owned()));
    found.target_override = Some("10.3");
    assert_eq!(target(&found).0, HostCheckState::Unknown);
}

#[test]
fn systems_and_frameworks_are_checked_against_amds_list() {
    let (mut host, settings, requires) = (eight(), tuned(), requirements(&["MI355X"], 8));
    let system = |host: &HostView, packages: &[(&str, &str)]| {
        let mut found = facts(host, &[], &settings, &requires);
        let packages = packages.iter();
        found.image.packages =
            packages.map(|(name, version)| ((*name).to_owned(), (*version).to_owned())).collect();
        check_host(&found)
    };
    let checks = system(&host, &[("torch", "2.9.0+rocm7.1.1"), ("numpy", "1")]);
    let check = find_check(&checks, "operating system");
    assert_eq!(
        (check.state, check.actual.as_str()),
        (HostCheckState::Ok, "Ubuntu 24.04.3 LTS, kernel 6.8.0-79-generic")
    );
    let check = find_check(&checks, "frameworks in the image");
    assert_eq!(
        (check.state, check.to_string().as_str()),
        (
            HostCheckState::Ok,
            "frameworks in the image: torch 2.9.0+rocm7.1.1; required: torch 2.9, 2.8, 2.7, 2.6, which ROCm 7.1 lists"
        )
    );
    host.kernel = "6.17.0".to_owned();
    let checks = system(&host, &[("torch", "2.10.0")]);
    assert_eq!(find_check(&checks, "operating system").state, HostCheckState::Unknown);
    let check = find_check(&checks, "frameworks in the image");
    assert_eq!(check.state, HostCheckState::Unknown);
    host.system = Some(OperatingSystem {
        id: "debian".to_owned(),
        version: "12".to_owned(),
        name: "Debian GNU/Linux 12 (bookworm)".to_owned(),
    });
    let checks = system(&host, &[]);
    let check = find_check(&checks, "operating system");
    assert_eq!(check.state, HostCheckState::Warning);
    assert!(check.required.contains("MI355X: Ubuntu 24.04, 22.04; RHEL 10.1"), "{check}");
    host.system = None;
    let checks = system(&host, &[]);
    assert_eq!(find_check(&checks, "operating system").state, HostCheckState::Unknown);
}

#[test]
fn listed_systems_depend_only_on_assigned_gpus() {
    let (mut host, settings) = (eight(), tuned());
    let requires = requirements(&["MI300X", "MI355X"], 1);
    host.gpus[0] = gpu("MI300X", "gfx942", 0);
    host.system = Some(OperatingSystem {
        id: "debian".to_owned(),
        version: "12".to_owned(),
        name: "Debian GNU/Linux 12 (bookworm)".to_owned(),
    });
    let state = |index: u32| {
        let assigned = AssignedGpus {
            method: InjectionMethod::Devices,
            reason: String::new(),
            gpus: vec![AssignedGpu { index, gpu: host.gpus[index as usize].clone() }],
            isolated: true,
        };
        let mut found = facts(&host, &[], &settings, &requires);
        found.assigned = Some(&assigned);
        find_check(&check_host(&found), "operating system").state
    };
    // AMD lists Debian 12 for MI300X, and not for MI355X.
    assert_ne!(state(0), HostCheckState::Warning);
    assert_eq!(state(1), HostCheckState::Warning);
}

#[test]
fn a_known_issue_of_the_image_is_a_warning() {
    let (host, settings, requires) = (eight(), tuned(), requirements(&["MI355X"], 8));
    let mut found = facts(&host, &[], &settings, &requires);
    found.image.rocm = Some(image_release("10.1.0"));
    let issues = |found: &HostFacts<'_>| check_known_issues(found, ReleaseTable::built_in());
    let found_issues = issues(&found);
    let [check] = found_issues.as_slice() else { panic!("{found_issues:?}") };
    assert_eq!(check.state, HostCheckState::Warning);
    assert!(check.fix.contains("NCCL_PROTO=LL128,Simple"), "{check:?}");
    found.recipe_use.variables = vec!["NCCL_PROTO"];
    assert_eq!(issues(&found), []);
}

#[rstest]
#[case("7.14.0a20260608")]
#[case("10.1.0~rc0")]
fn a_prerelease_meets_a_requirement(#[case] release: &str) {
    let (mut host, settings, mut requires) = (eight(), tuned(), requirements(&["MI355X"], 8));
    host.rocm = host_rocm(release);
    requires.rocm = Some(">=7.2.2".to_owned());
    let checks = check_host(&facts(&host, &[], &settings, &requires));
    assert_eq!(find_check(&checks, "rocm on the host").state, HostCheckState::Ok);
}
