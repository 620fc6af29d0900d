//! Services of other machines.

use super::*;
use retrial_document::ErrorText;

#[test]
fn ports_models_and_other_requirements_are_checked() {
    let (host, settings) = (eight(), tuned());
    let requires = HostRequirements { ports: vec![8000, 8001], ..requirements(&["MI355X"], 8) };
    let mut found = facts(&host, &[], &settings, &requires);
    found.listening = vec![22, 8001];
    found.claims = vec!["0000:05:00.0 by run 1 of alice".to_owned()];
    let model = |name: &str, access| ModelStatus { repository: name.to_owned(), access };
    found.models = vec![
        model("a/given", ModelAccess::Granted(None)),
        model(
            "a/gated",
            ModelAccess::Refused(
                ErrorText::new("it is gated, and there is no token").with_help("set HF_TOKEN"),
            ),
        ),
        model("a/silent", ModelAccess::NoResponse("no answer".into())),
        model("a/offline", ModelAccess::NotQueried("HF_HUB_OFFLINE".to_owned())),
    ];
    found.disks[0].writable = false;
    let checks = check_host(&found);
    let state = |name: &str| find_check(&checks, name).state;
    assert_eq!(state("ports"), HostCheckState::Error);
    assert_eq!(find_check(&checks, "ports").actual, "8001 in use");
    assert!(find_check(&checks, "ports").fix.ends_with("'sport = :8001'"));
    assert_eq!(state("model a/given"), HostCheckState::Ok);
    assert_eq!(state("model a/gated"), HostCheckState::Error);
    assert_eq!(find_check(&checks, "model a/gated").fix, "set HF_TOKEN");
    assert_eq!(state("model a/silent"), HostCheckState::Error);
    assert_eq!(state("model a/offline"), HostCheckState::Unknown);
    assert_eq!(state("gpus claimed"), HostCheckState::Warning);
    assert_eq!(state("disk for runs"), HostCheckState::Error);
}

#[test]
fn unreachable_hosts_are_a_warning_and_proxies_are_honored() {
    let (host, settings, requires) = (eight(), tuned(), requirements(&["MI355X"], 8));
    let host_result = |name: &str, unknown: Option<&str>, error: Option<&str>| HostStatus {
        name: name.to_owned(),
        unknown: unknown.map(str::to_owned),
        error: error.map(str::to_owned),
    };
    let network = |hosts: Vec<HostStatus>| {
        let found = HostFacts {
            hosts: HostStatuses { hosts, from_container: true },
            ..facts(&host, &[], &settings, &requires)
        };
        let checks = check_host(&found);
        let check = checks.into_iter().find(|check| check.name == "network");
        check.map(|check| (check.state, check.actual))
    };
    assert_eq!(network(Vec::new()), None);
    let (up, down) =
        (host_result("pypi.org", None, None), host_result("hub", None, Some("refused")));
    let all = "all hosts answer from a container".to_owned();
    assert_eq!(network(vec![up.clone()]), Some((HostCheckState::Ok, all)));
    let expected = "from a container: hub: refused".to_owned();
    assert_eq!(network(vec![up, down]), Some((HostCheckState::Warning, expected)));
    let proxied = host_result("pypi.org", Some("not tried"), None);
    let unknown = "not tried".to_owned();
    assert_eq!(network(vec![proxied]), Some((HostCheckState::Unknown, unknown)));
}
