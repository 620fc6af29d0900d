//! The container that we create and the one that `docker run -d` makes of the same flags have
//! the same configuration.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use crate::support::lab::{Lab, Named, docker, inspect};
use retrial_container::ExtraFlags;
use retrial_container::Ulimit;
use retrial_container::{ContainerSpec, GpuDevices, Mount};
use retrial_engine::endpoint::EngineEnvironment;
use retrial_engine::{DockerEngine, Engine};
use serde_json::Value;

/// What two containers of one configuration cannot have in common.
fn comparable(mut container: Value) -> Value {
    let top = container.as_object_mut().unwrap();
    for own in [
        "Id",
        "Name",
        "Created",
        "State",
        "ResolvConfPath",
        "HostnamePath",
        "HostsPath",
        "LogPath",
        "GraphDriver",
    ] {
        top.shift_remove(own).expect(own);
    }
    let config = top["Config"].as_object_mut().unwrap();
    config.shift_remove("Labels");
    if config["Hostname"].as_str().is_some_and(|name| name.len() == 12) {
        config.shift_remove("Hostname");
    }
    // The command line keeps volumes and environment in maps and sends them in any order.
    if let Some(variables) = top["Config"]["Env"].as_array_mut() {
        variables.sort_by_key(ToString::to_string);
    }
    if let Some(binds) = top["HostConfig"]["Binds"].as_array_mut() {
        binds.sort_by_key(ToString::to_string);
    }
    if let Some(mounts) = top["Mounts"].as_array_mut() {
        mounts.sort_by_key(ToString::to_string);
    }
    let network = top["NetworkSettings"].as_object_mut().unwrap();
    network.retain(|key, _| key == "Ports" || key == "Networks");
    for endpoint in network["Networks"].as_object_mut().unwrap().values_mut() {
        let endpoint = endpoint.as_object_mut().unwrap();
        for own in ["EndpointID", "IPAddress", "MacAddress", "DNSNames"] {
            endpoint.shift_remove(own);
        }
    }
    container
}

/// Every leaf as `path = value`, so that a difference reads as a line.
fn leaves(value: &Value, path: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, inner) in map {
                leaves(inner, &format!("{path}.{key}"), into);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            for (index, inner) in list.iter().enumerate() {
                leaves(inner, &format!("{path}[{index}]"), into);
            }
        }
        leaf => into.push(format!("{path} = {leaf}")),
    }
}

fn lines(container: &str) -> Vec<String> {
    let mut lines = Vec::new();
    leaves(&comparable(inspect(container)), "", &mut lines);
    lines.sort();
    lines
}

/// Makes both containers and compares them; `run` starts them, `create` does not.
async fn compare(
    lab: &Lab,
    label: &str,
    verb: &str,
    flags: &[&str],
    change: impl Fn(&mut ContainerSpec),
) {
    let (ours, theirs) = (Named::new(label), Named::new(label));
    let mut spec = lab.waiting(&ours);
    spec.labels.clear();
    change(&mut spec);
    lab.engine.create_container(&spec).await.unwrap();
    if verb == "run" {
        lab.engine.start_container(&ours.0).await.unwrap();
    }

    let image = lab.busybox();
    let mut arguments = vec![verb, "--name", &theirs.0];
    arguments.extend((verb == "run").then_some("-d"));
    arguments.extend(flags);
    if !flags.contains(&"--entrypoint") {
        arguments.extend(["--entrypoint", "/bin/sh"]);
    }
    arguments.push(&image);
    let entrypoint = spec.entrypoint.iter().flatten().skip(1);
    arguments.extend(entrypoint.chain(&spec.command).map(String::as_str));
    docker(&arguments);

    // `docker create` has no -d: it notes that its start may attach.
    let compared = |container: &str| {
        let mut lines = lines(container);
        lines.retain(|line| verb == "run" || !line.starts_with(".Config.Attach"));
        lines
    };
    let (ours, theirs) = (compared(&ours.0), compared(&theirs.0));
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        these.iter().filter(|line| !those.contains(line)).cloned().collect()
    };
    assert_eq!(
        only(&ours, &theirs),
        only(&theirs, &ours),
        "{label}: left is ours, right is docker run's"
    );
    assert!(ours.len() > 80, "{label}: compared {} leaves", ours.len());
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn a_container_without_flags_equals_that_of_docker_run() {
    let lab = Lab::here().await;
    compare(&lab, "plain", "run", &[], |_| {}).await;
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn every_flag_gives_the_container_of_docker_run() {
    let lab = Lab::here().await;
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().to_str().unwrap().to_owned();
    let bind = format!("{source}:/data:ro");
    let control = format!("{source}:/.retrial");
    let flag_words = format!(
        "--ipc host --network host --uts host --pid host --device /dev/null:/dev/kfd:rw --device /dev/zero \
         --cap-add CAP_SYS_ADMIN --cap-add sys_ptrace --security-opt seccomp=unconfined --security-opt apparmor=unconfined \
         --group-add 44 --group-add 109 --shm-size 1073741824 --ulimit nofile=1024:2048 --ulimit core=0:0 --env A=1 \
         --volume {bind} --volume {control} --volume retrial-test-volume:/cache --workdir /tmp --user 1000:1000 --init"
    );
    let flag_words = flag_words.split_whitespace();
    let flags: Vec<&str> = ["--env", "B=two words"].into_iter().chain(flag_words).collect();
    compare(&lab, "flags", "run", &flags, |spec| {
        let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        spec.ipc = Some("host".into());
        spec.network = Some("host".into());
        spec.uts = Some("host".into());
        spec.pid = Some("host".into());
        spec.devices = text(&["/dev/null:/dev/kfd:rw", "/dev/zero"]);
        spec.cap_add = text(&["CAP_SYS_ADMIN", "sys_ptrace"]);
        spec.security_opt = text(&["seccomp=unconfined", "apparmor=unconfined"]);
        spec.group_add = text(&["44", "109"]);
        spec.shm_size = Some(1 << 30);
        let limit = |name: &str, soft, hard| (name.into(), Ulimit { soft, hard });
        spec.ulimits = vec![limit("nofile", 1024, 2048), limit("core", 0, 0)];
        spec.env = vec![("B".into(), "two words".into()), ("A".into(), "1".into())];
        let mount = |source: &str, target: &str, read_only| Mount {
            source: source.into(),
            target: target.into(),
            read_only,
        };
        spec.mounts = vec![
            mount(&source, "/data", true),
            mount(&source, "/.retrial", false),
            mount("retrial-test-volume", "/cache", false),
        ];
        spec.workdir = Some("/tmp".into());
        spec.user = Some("1000:1000".into());
        spec.init = true;
    })
    .await;
    docker(&["volume", "rm", "retrial-test-volume"]);
}

/// Created, not run: some engines may not limit CPUs or set the requested options.
#[tokio::test]
#[ignore = "needs the lab"]
async fn rarer_flags_give_the_container_of_docker_run() {
    let lab = Lab::here().await;
    let extra = ExtraFlags {
        cap_drop: vec!["NET_RAW".into(), "cap_mknod".into()],
        hostname: Some("bench".into()),
        runtime: Some("runc".into()),
        memory: Some(64 << 20),
        cpus: Some("1.5".into()),
        cpuset_cpus: Some("0".into()),
        cpuset_mems: Some("0".into()),
        pids_limit: Some(99),
        sysctls: vec![("net.ipv4.ip_forward".into(), "1".into())],
        tmpfs: vec!["/scratch:size=1m".into(), "/more".into()],
        read_only: true,
        dns: vec!["10.0.0.2".into()],
        add_host: vec!["vendor:10.0.0.1".into()],
        cgroupns: Some("host".into()),
        userns: Some("host".into()),
    };
    let spec = ContainerSpec { extra: extra.clone(), ..ContainerSpec::default() };
    let flags: Vec<String> = spec.run_options().iter().map(ToString::to_string).collect();
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    assert_eq!(flags.len(), 17);
    compare(&lab, "extra", "create", &flags, |spec| {
        spec.extra = extra.clone();
    })
    .await;
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn privileged_as_in_vendors_guides() {
    let lab = Lab::here().await;
    let flags = [
        "--privileged",
        "--ipc=host",
        "--network=host",
        "--device=/dev/null",
        "--cap-add=CAP_SYS_ADMIN",
        "--cap-add=SYS_PTRACE",
        "--security-opt=seccomp=unconfined",
        "--security-opt=systempaths=unconfined",
    ];
    compare(&lab, "privileged", "run", &flags, |spec| {
        spec.privileged = true;
        spec.ipc = Some("host".into());
        spec.network = Some("host".into());
        spec.devices = vec!["/dev/null".into()];
        spec.cap_add = vec!["CAP_SYS_ADMIN".into(), "SYS_PTRACE".into()];
        spec.security_opt = vec!["seccomp=unconfined".into(), "systempaths=unconfined".into()];
    })
    .await;
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn without_the_images_entrypoint() {
    let lab = Lab::here().await;
    compare(&lab, "empty", "run", &["--network", "none", "--entrypoint", ""], |spec| {
        spec.network = Some("none".into());
        spec.entrypoint = Some(Vec::new());
        spec.command = vec!["sleep".into(), "600".into()];
    })
    .await;
}

/// Devices that only a machine with GPUs can start: the configuration is there before the start.
#[tokio::test]
#[ignore = "needs the lab"]
async fn gpus_by_request_and_by_cdi_name() {
    let lab = Lab::here().await;
    let cases = [
        (GpuDevices::All, "all"),
        (GpuDevices::Ids(vec!["0".into(), "1".into()]), "\"device=0,1\""),
    ];
    for (gpus, written) in cases {
        let flags = [
            "--gpus",
            written,
            "--device",
            "amd.com/gpu=0",
            "--device",
            "/dev/kfd",
            "--device",
            "/dev/dri",
        ];
        compare(&lab, "gpus", "create", &flags, |spec| {
            spec.gpus = Some(gpus.clone());
            spec.devices = ["amd.com/gpu=0", "/dev/kfd", "/dev/dri"].map(String::from).to_vec();
        })
        .await;
    }
}

/// `docker run` hands the proxies of config.json to the container.
#[tokio::test]
#[ignore = "needs the lab"]
async fn proxies_reach_the_container_as_with_docker_run() {
    let lab = Lab::here().await;
    let directory = tempfile::tempdir().unwrap();
    let text =
        r#"{"proxies": {"default": {"httpProxy": "http://proxy:1", "noProxy": "localhost"}}}"#;
    std::fs::write(directory.path().join("config.json"), text).unwrap();
    let around = EngineEnvironment {
        configuration: directory.path().to_owned(),
        ..EngineEnvironment::from_environment()
    };
    let engine = DockerEngine::connect_with_environment(None, &around).await.unwrap();
    let (ours, theirs) = (Named::new("proxies"), Named::new("proxies"));
    let mut spec = lab.waiting(&ours);
    spec.env = vec![("NO_PROXY".into(), "mine".into())];
    engine.create_container(&spec).await.unwrap();
    let config = directory.path().to_str().unwrap();
    let image = lab.busybox();
    docker(&["--config", config, "create", "--name", &theirs.0, "-e", "NO_PROXY=mine", &image]);
    let variables = |container: &str| comparable(inspect(container))["Config"]["Env"].clone();
    assert_eq!(variables(&ours.0), variables(&theirs.0));
    assert_eq!(variables(&ours.0).as_array().unwrap().len(), 5);
}
