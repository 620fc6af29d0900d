//! The request compared with recorded ones of Docker's command line (28.2).

use super::*;
use retrial_container::Ulimit;

#[test]
fn devices_are_parsed_like_the_docker_cli_does() {
    let parts = |written: &str| {
        let mapping = parse_device_mapping(written);
        (
            mapping.path_on_host.unwrap(),
            mapping.path_in_container.unwrap(),
            mapping.cgroup_permissions.unwrap(),
        )
    };
    let three = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    assert_eq!(parts("/dev/kfd"), three("/dev/kfd", "/dev/kfd", "rwm"));
    assert_eq!(parts("/dev/fuse:rm"), three("/dev/fuse", "/dev/fuse", "rm"));
    assert_eq!(parts("/dev/dri:/dev/x"), three("/dev/dri", "/dev/x", "rwm"));
    assert_eq!(parts("/dev/dri:/dev/x:rw"), three("/dev/dri", "/dev/x", "rw"));
}

#[test]
fn capabilities_are_normalized() {
    let written = ["sys_ptrace", "CAP_SYS_ADMIN", "SYS_ADMIN", "all"].map(String::from);
    assert_eq!(normalize_capabilities(&written), ["ALL", "CAP_SYS_ADMIN", "CAP_SYS_PTRACE"]);
}

#[test]
fn gpus_and_cdi_devices_become_device_requests() {
    let spec = ContainerSpec {
        gpus: Some(GpuDevices::Ids(vec!["0".into(), "1".into()])),
        devices: vec!["amd.com/gpu=0".into(), "/dev/kfd".into()],
        ..ContainerSpec::default()
    };
    let host = host_config(&spec);
    let requests = host.device_requests.unwrap();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].count, Some(0));
    assert_eq!(requests[0].device_ids.as_ref().unwrap(), &["0", "1"]);
    assert_eq!(requests[1].driver.as_deref(), Some("cdi"));
    assert_eq!(requests[1].device_ids.as_ref().unwrap(), &["amd.com/gpu=0"]);
    assert_eq!(host.devices.unwrap().len(), 1);

    let all = ContainerSpec { gpus: Some(GpuDevices::All), ..ContainerSpec::default() };
    let requests = host_config(&all).device_requests.unwrap();
    assert_eq!((requests[0].count, &requests[0].device_ids), (Some(-1), &None));
}

#[test]
fn extra_entrypoint_words_are_prepended_to_the_command() {
    let spec = |entrypoint: Option<Vec<&str>>| ContainerSpec {
        entrypoint: entrypoint.map(|words| words.into_iter().map(String::from).collect()),
        command: vec!["sleep".into()],
        ..ContainerSpec::default()
    };
    assert_eq!(entrypoint_and_command(&spec(None)), (None, vec!["sleep".to_owned()]));
    assert_eq!(
        entrypoint_and_command(&spec(Some(vec!["sh", "-c"]))),
        (Some(vec!["sh".into()]), vec!["-c".to_owned(), "sleep".into()])
    );
    assert_eq!(
        entrypoint_and_command(&spec(Some(vec![]))),
        (Some(vec![String::new()]), vec!["sleep".to_owned()])
    );
}

#[test]
fn unmasked_system_paths_are_sent_as_empty_lists() {
    let spec =
        ContainerSpec { security_opt: vec![SYSTEM_PATHS.into()], ..ContainerSpec::default() };
    let host = host_config(&spec);
    assert_eq!(host.security_opt, None);
    assert_eq!(host.masked_paths, Some(Vec::new()));
    assert_eq!(host.readonly_paths, Some(Vec::new()));
}

#[test]
fn ulimits_are_sorted_and_unlimited_is_minus_one() {
    let limit = |name: &str, soft, hard| (name.into(), Ulimit { soft, hard });
    let spec = ContainerSpec {
        ulimits: vec![limit("nofile", 10, 20), limit("memlock", -1, -1)],
        ..ContainerSpec::default()
    };
    let sent = sorted_ulimits(&spec.ulimits);
    assert_eq!(sent[0].name.as_deref(), Some("memlock"));
    assert_eq!((sent[0].soft, sent[0].hard), (Some(-1), Some(-1)));
    assert_eq!((sent[1].soft, sent[1].hard), (Some(10), Some(20)));
}

#[test]
fn fractional_cpus_convert_to_nano_cpus() {
    assert_eq!(parse_nano_cpus("1.5"), Some(1_500_000_000));
    assert_eq!(parse_nano_cpus("16"), Some(16_000_000_000));
    assert_eq!(parse_nano_cpus(".1"), Some(100_000_000));
}
