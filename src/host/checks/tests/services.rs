//! What a run needs of other machines.

use super::*;

#[test]
fn ports_models_and_other_requirements_are_checked() {
    let (host, settings) = (eight(), tuned());
    let requires = Requires {
        ports: vec![8000, 8001],
        ..asks(&["MI355X"], 8)
    };
    let mut found = facts(&host, &[], &settings, &requires);
    found.listening = vec![22, 8001];
    found.claims = vec!["0000:05:00.0 by run 1 of alice".to_owned()];
    let seen = |name: &str, access| ModelSeen {
        repository: name.to_owned(),
        access,
    };
    found.models = vec![
        seen("a/given", Access::Granted(None)),
        seen(
            "a/gated",
            Access::Refused("it is gated, and there is no token\n  set HF_TOKEN".to_owned()),
        ),
        seen("a/silent", Access::Silent("no answer".to_owned())),
        seen("a/offline", Access::NotAsked("HF_HUB_OFFLINE".to_owned())),
    ];
    found.disks[0].writable = false;
    let checks = examine(&found);
    let state = |name: &str| of(&checks, name).state;
    assert_eq!(state("ports"), CheckState::Error);
    assert_eq!(of(&checks, "ports").actual, "8001 in use");
    assert!(of(&checks, "ports").fix.ends_with("'sport = :8001'"));
    assert_eq!(state("model a/given"), CheckState::Ok);
    assert_eq!(state("model a/gated"), CheckState::Error);
    assert_eq!(of(&checks, "model a/gated").fix, "set HF_TOKEN");
    assert_eq!(state("model a/silent"), CheckState::Warning);
    assert_eq!(state("model a/offline"), CheckState::Unknown);
    assert_eq!(state("gpus claimed"), CheckState::Warning);
    assert_eq!(state("disk for runs"), CheckState::Error);
}

#[test]
fn unreachable_hosts_are_a_warning_and_proxies_are_honored() {
    let (host, settings, requires) = (eight(), tuned(), asks(&["MI355X"], 8));
    let seen = |name: &str, unknown: Option<&str>, error: Option<&str>| HostSeen {
        name: name.to_owned(),
        unknown: unknown.map(str::to_owned),
        error: error.map(str::to_owned),
    };
    let network = |hosts: Vec<HostSeen>| {
        let found = Facts {
            hosts: HostsSeen {
                hosts,
                from_container: true,
            },
            ..facts(&host, &[], &settings, &requires)
        };
        let checks = examine(&found);
        let check = checks.into_iter().find(|check| check.name == "network");
        check.map(|check| (check.state, check.actual))
    };
    assert_eq!(network(Vec::new()), None);
    let (up, down) = (
        seen("pypi.org", None, None),
        seen("hub", None, Some("refused")),
    );
    let all = "all hosts answer from a container".to_owned();
    assert_eq!(network(vec![up.clone()]), Some((CheckState::Ok, all)));
    let one = "from a container: hub: refused".to_owned();
    assert_eq!(network(vec![up, down]), Some((CheckState::Warning, one)));
    let proxied = seen("pypi.org", Some("not tried"), None);
    let unknown = "not tried".to_owned();
    assert_eq!(network(vec![proxied]), Some((CheckState::Unknown, unknown)));
}
