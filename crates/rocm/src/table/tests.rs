use rstest::rstest;

use super::*;
use crate::known_issue::Remedy;
use crate::listed_release::framework_of_package;

fn listed(release: &str) -> &'static ListedRelease {
    ReleaseTable::built_in().listed(&release.parse().unwrap()).unwrap()
}

#[test]
fn the_table_is_consistent() {
    let table = ReleaseTable::built_in();
    assert_eq!(table.driver_series("6.19.14"), Some("31.40"));
    for release in &table.releases {
        assert!(!release.drivers.is_empty() && release.gpus.contains_key("gfx942"));
        let systems = release.gpus.values().flatten().chain(release.kernels.keys());
        let unknown: Vec<_> = systems.filter(|system| !release.systems.contains(system)).collect();
        assert_eq!(unknown, [""; 0], "{}", release.number);
        for framework in release.frameworks.keys() {
            assert_eq!(framework_of_package(framework), Some(framework.as_str()));
        }
    }
    let days: Vec<_> = table.dates().collect();
    assert!(days.iter().all(|(release, day)| release.is_exact() && day.len() == 10));
    let unlisted = days.iter().filter(|(release, _)| table.listed(release).is_err());
    assert!(unlisted.clone().all(|(release, _)| release.series() == (6, 0)), "{days:?}");
}

/// 7.14.1 is the lower number, and the younger one.
#[test]
fn the_order_of_releases_is_not_that_of_their_days() {
    let table = ReleaseTable::built_in();
    let day = |release: &str| table.date(&release.parse().unwrap());
    assert_eq!((day("7.14.1"), day("10.0.0")), (Some("2026-09-02"), Some("2026-08-26")));
}

#[rstest]
#[case("6.4", "gfx1201", false)]
#[case("6.4.0-47", "gfx1201", false)]
#[case("6.4.1", "gfx1201", true)]
#[case("6.4.4", "gfx1200", true)]
#[case("6.4.1", "gfx950", false)]
#[case("7.0.0", "gfx950", true)]
#[case("7.2.4", "gfx1100", true)]
#[case("10.1.0", "gfx1103", true)]
#[case("10.0.0", "gfx1250", true)]
#[case("7.14.0a20260608", "gfx950", true)]
fn each_release_supports_certain_targets(
    #[case] release: &str,
    #[case] target: &str,
    #[case] has: bool,
) {
    assert_eq!(listed(release).has_code_for(target), has);
    let is_known = has || ReleaseTable::built_in().is_complete_for(target);
    assert!(is_known, "{target} is not complete");
}

#[rstest]
#[case("10.2.0", "newer than this build's table (2026-10)")]
#[case("10.2.0a20260930", "newer than this build's table (2026-10)")]
#[case("11.0", "newer than this build's table (2026-10)")]
#[case("7.10.0", "not in this build's table (2026-10)")]
#[case("5.7.0", "not in this build's table (2026-10)")]
fn unlisted_releases_are_unknown(#[case] release: &str, #[case] reason: &str) {
    let unlisted = ReleaseTable::built_in().listed(&release.parse().unwrap()).unwrap_err();
    assert_eq!(unlisted.to_string(), reason);
}

#[test]
fn an_incomplete_list_excludes_nothing() {
    assert!(!listed("7.1.1").has_code_for("gfx1151"));
    assert!(!ReleaseTable::built_in().is_complete_for("gfx1151"));
}

#[test]
fn systems_of_a_model_count_before_those_of_its_target() {
    let release = listed("7.0.0");
    let systems = |model, target| release.systems_of(model, Some(target)).join(", ");
    assert_eq!(systems("MI325X", "gfx942"), "ubuntu 24.04, ubuntu 22.04, rhel 9.6, rhel 9.4");
    assert_eq!(systems("MI300X", "gfx942"), release.systems.join(", "));
}

#[rstest]
#[case("10.1.0", "gfx950", 8792)]
#[case("10.1.1", "gfx950", 8792)]
#[case("10.0.0", "gfx1100", 7699)]
fn issues_depend_on_release_and_target(
    #[case] release: &str,
    #[case] target: &str,
    #[case] number: u32,
) {
    let release = release.parse().unwrap();
    let has = |target: &str| {
        let targets = [target];
        let mut issues = ReleaseTable::built_in().known_issues(&release, &targets);
        issues.any(|issue| issue.id == format!("TheRock#{number}"))
    };
    assert!(has(target) && !has("gfx90a"));
}

#[test]
fn an_issue_states_what_to_set() {
    let release = "10.1.0".parse().unwrap();
    let issues = ReleaseTable::built_in().known_issues(&release, &["gfx950"]);
    let remedies: Vec<_> = issues.map(|issue| &issue.remedy).collect();
    let variable =
        Remedy::Variable { name: "NCCL_PROTO".to_owned(), value: "LL128,Simple".to_owned() };
    let program = Remedy::Program { missing: "rocm-smi".to_owned(), instead: "amd-smi".to_owned() };
    assert_eq!(remedies, [&variable, &program]);
}

#[test]
fn a_file_of_the_user_adds_and_replaces() {
    let text = "
dates: { 10.2.0: 2026-11-20 }
releases: [{ number: \"10.2\", drivers: [\"31.60\"], gpus: { gfx950: [] } }]
drivers: { 6.20.1: \"31.60\" }
images: { rocm/primus: { v26.9: 10.2.0 } }
known_issues:
  - id: TheRock#8792
    link: https://example.org
    releases: \"10.1.0\"
    targets: [gfx950]
    reason: fixed in 10.1.1
    remedy: { variable: { name: NCCL_PROTO, value: Simple } }
";
    let table = ReleaseTable::with_additions(text).unwrap();
    let new = "10.2.0".parse().unwrap();
    assert!(table.listed(&new).unwrap().lists_driver(table.driver_series("6.20.1").unwrap()));
    assert!(table.listed(&"7.2.4".parse().unwrap()).is_ok());
    assert_eq!(table.documented_release("rocm/primus", "v26.9"), Some(&new));
    assert!(table.documented_release("rocm/primus", "v26.7").is_some());
    let patched = "10.1.1".parse().unwrap();
    let issues = table.known_issues(&patched, &["gfx950"]);
    assert!(issues.into_iter().all(|issue| issue.id != "TheRock#8792"));
}

#[rstest]
#[case("releases: 5", "releases")]
#[case("gpus: {}", "unknown field `gpus`")]
#[case("dates: { newest: 2026-11-20 }", "`newest` is not a release of ROCm")]
fn a_wrong_file_is_refused(#[case] text: &str, #[case] message: &str) {
    let error = ReleaseTable::with_additions(text).unwrap_err().to_string();
    assert!(error.contains(message), "{error}");
}

#[test]
fn versions_are_compared_by_their_parts() {
    assert!(is_version_of("2.6.0+rocm6.4.1", "2.6"));
    assert!(!is_version_of("2.60.0", "2.6"));
    assert!(is_version_of("6.8.0-107-generic", "6.8"));
    assert_eq!(framework_of_package("onnxruntime-migraphx"), Some("onnxruntime"));
    assert_eq!(framework_of_package("numpy"), None);
}
