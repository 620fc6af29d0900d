//! A container's description as the request that `docker run -d` would send for the same
//! flags, so that a shell plan and a run make the same container. Compared field by field with
//! the command line's own requests (Docker 28.2) and, in the tests, through `docker inspect`.

use std::collections::{BTreeSet, HashMap};

use bollard::models::{
    ContainerCreateBody, DeviceMapping, DeviceRequest, EndpointSettings, HostConfig,
    HostConfigCgroupnsModeEnum, HostConfigLogConfig, Mount, MountType, NetworkingConfig,
    ResourcesUlimits, RestartPolicy, RestartPolicyNameEnum,
};

use crate::proxies;
use retrial_container::{
    CONTROL_MOUNT, ContainerSpec, ExtraFlags, GpuDevices, Ulimit, is_cdi_device,
};

const SYSTEM_PATHS: &str = "systempaths=unconfined";

/// Returns the create request.
pub fn create_request(spec: &ContainerSpec, proxies: &[(String, String)]) -> ContainerCreateBody {
    let set: Vec<&str> = spec.env.iter().map(|(name, _)| name.as_str()).collect();
    let mut variables = spec.env.clone();
    variables.extend(proxies::missing_variables(proxies, &set));
    let (entrypoint, command) = entrypoint_and_command(spec);
    let or_none = |list: Vec<String>| (!list.is_empty()).then_some(list);
    ContainerCreateBody {
        hostname: Some(spec.extra.hostname.clone().unwrap_or_default()),
        domainname: Some(String::new()),
        user: Some(spec.user.clone().unwrap_or_default()),
        attach_stdin: Some(false),
        attach_stdout: Some(false),
        attach_stderr: Some(false),
        tty: Some(false),
        open_stdin: Some(false),
        stdin_once: Some(false),
        env: or_none(format_environment(&variables)),
        cmd: or_none(command),
        image: Some(spec.image.clone()),
        working_dir: Some(spec.workdir.clone().unwrap_or_default()),
        entrypoint,
        labels: Some(spec.labels.clone().into_iter().collect()),
        host_config: Some(host_config(spec)),
        networking_config: Some(NetworkingConfig {
            endpoints_config: Some(match spec.network {
                Some(_) => HashMap::new(),
                None => HashMap::from([("default".into(), EndpointSettings::default())]),
            }),
        }),
        ..ContainerCreateBody::default()
    }
}

/// Formats variables as `NAME=value`.
pub fn format_environment(variables: &[(String, String)]) -> Vec<String> {
    variables.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// `--entrypoint` has one word, so the others belong to the command; `--entrypoint ''`
/// removes the image's entrypoint.
fn entrypoint_and_command(spec: &ContainerSpec) -> (Option<Vec<String>>, Vec<String>) {
    let Some(entrypoint) = &spec.entrypoint else {
        return (None, spec.command.clone());
    };
    let first = entrypoint.first().cloned().unwrap_or_default();
    let rest = entrypoint.iter().skip(1).chain(&spec.command);
    (Some(vec![first]), rest.cloned().collect())
}

#[expect(clippy::too_many_lines, reason = "one list of all settings")]
fn host_config(spec: &ContainerSpec) -> HostConfig {
    // Every setting by name: a new one does not compile until the request has it, or it is named here as part of the
    // body.
    let ContainerSpec {
        name: _,
        image: _,
        entrypoint: _,
        command: _,
        env: _,
        labels: _,
        workdir: _,
        user: _,
        // Among the mounts, once their sources are known.
        cache_mounts: _,
        privileged,
        ipc,
        network,
        uts,
        pid,
        devices,
        gpus,
        cap_add,
        security_opt,
        group_add,
        shm_size,
        ulimits,
        mounts,
        control,
        init,
        extra,
    } = spec;
    let ExtraFlags {
        hostname: _,
        cap_drop,
        runtime,
        memory,
        cpus,
        cpuset_cpus,
        cpuset_mems,
        pids_limit,
        sysctls,
        tmpfs,
        read_only,
        dns,
        add_host,
        cgroupns,
        userns,
    } = extra;
    let some = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
    let text = |value: &Option<String>| Some(value.clone().unwrap_or_default());
    // The command line itself turns one option into something else.
    let (system_paths, security_options): (Vec<String>, Vec<String>) =
        security_opt.iter().cloned().partition(|option| option == SYSTEM_PATHS);
    let open_paths = !system_paths.is_empty();
    let (device_names, device_paths): (Vec<_>, Vec<_>) =
        devices.iter().partition(|device| is_cdi_device(device));
    let binds: Vec<String> = mounts.iter().map(ToString::to_string).collect();
    let tmpfs_options = tmpfs.iter().map(|text| {
        let (path, options) = text.split_once(':').unwrap_or((text, ""));
        (path.to_owned(), options.to_owned())
    });
    HostConfig {
        binds: some(&binds),
        mounts: control.as_deref().map(|control| vec![control_mount(control)]),
        log_config: Some(HostConfigLogConfig {
            typ: Some(String::new()),
            config: Some(HashMap::new()),
        }),
        network_mode: Some(network.clone().unwrap_or_else(|| "default".into())),
        port_bindings: Some(HashMap::new()),
        restart_policy: Some(RestartPolicy {
            name: Some(RestartPolicyNameEnum::NO),
            maximum_retry_count: Some(0),
        }),
        console_size: Some(vec![0, 0]),
        cap_add: some(&normalize_capabilities(cap_add)),
        cap_drop: some(&normalize_capabilities(cap_drop)),
        dns: Some(dns.clone()),
        dns_options: Some(Vec::new()),
        dns_search: Some(Vec::new()),
        extra_hosts: some(add_host),
        group_add: some(group_add),
        cgroupns_mode: match cgroupns.as_deref() {
            Some("host") => Some(HostConfigCgroupnsModeEnum::HOST),
            Some("private") => Some(HostConfigCgroupnsModeEnum::PRIVATE),
            _ => None,
        },
        ipc_mode: text(ipc),
        pid_mode: text(pid),
        userns_mode: userns.clone(),
        uts_mode: text(uts),
        privileged: Some(*privileged),
        readonly_rootfs: read_only.then_some(true),
        security_opt: some(&security_options),
        shm_size: Some(to_i64_saturating(shm_size.unwrap_or(0))),
        sysctls: (!sysctls.is_empty()).then(|| sysctls.iter().cloned().collect()),
        tmpfs: (!tmpfs.is_empty()).then(|| tmpfs_options.collect()),
        runtime: runtime.clone(),
        memory: memory.map(to_i64_saturating),
        nano_cpus: cpus.as_deref().and_then(parse_nano_cpus),
        cpuset_cpus: cpuset_cpus.clone(),
        cpuset_mems: cpuset_mems.clone(),
        blkio_weight_device: Some(Vec::new()),
        blkio_device_read_bps: Some(Vec::new()),
        blkio_device_write_bps: Some(Vec::new()),
        blkio_device_read_iops: Some(Vec::new()),
        blkio_device_write_iops: Some(Vec::new()),
        devices: Some(device_paths.into_iter().map(|d| parse_device_mapping(d)).collect()),
        device_requests: device_requests(gpus.as_ref(), &device_names),
        memory_swappiness: Some(-1),
        oom_kill_disable: Some(false),
        pids_limit: Some(pids_limit.unwrap_or(0)),
        ulimits: Some(sorted_ulimits(ulimits)),
        masked_paths: open_paths.then(Vec::new),
        readonly_paths: open_paths.then(Vec::new),
        init: init.then_some(true),
        ..HostConfig::default()
    }
}

/// Converts a decimal number of CPUs to billionths, without the rounding of a float.
fn parse_nano_cpus(cpus: &str) -> Option<i64> {
    let (whole, decimals) = cpus.split_once('.').unwrap_or((cpus, ""));
    let part = decimals.get(..9).unwrap_or(decimals);
    let billionths: i64 = format!("{part:0<9}").parse().ok()?;
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    whole.checked_mul(1_000_000_000)?.checked_add(billionths)
}

fn to_i64_saturating(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// `--mount type=bind`: refused where the engine does not have the source, while `--volume`
/// would make an empty directory there.
fn control_mount(control: &str) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(control.to_owned()),
        target: Some(CONTROL_MOUNT.to_owned()),
        ..Mount::default()
    }
}

/// Upper case with `CAP_`, each once, sorted: the command line's own normal form.
fn normalize_capabilities(written: &[String]) -> Vec<String> {
    let normal = written.iter().map(|written_name| {
        let name = written_name.trim().to_uppercase();
        if name == "ALL" || name.starts_with("CAP_") { name } else { format!("CAP_{name}") }
    });
    normal.collect::<BTreeSet<_>>().into_iter().collect()
}

/// `host[:container[:permissions]]`; a second part of only r, w and m is the permissions.
fn parse_device_mapping(written: &str) -> DeviceMapping {
    let is_mode = |text: &str| !text.is_empty() && text.chars().all(|c| "rwm".contains(c));
    let parts: Vec<&str> = written.split(':').collect();
    let (host, container, permissions) = match *parts.as_slice() {
        [host, mode] if is_mode(mode) => (host, host, mode),
        [host, container] => (host, container, "rwm"),
        [host, container, mode] => (host, container, mode),
        _ => (written, written, "rwm"),
    };
    let container = if container.is_empty() { host } else { container };
    DeviceMapping {
        path_on_host: Some(host.into()),
        path_in_container: Some(container.into()),
        cgroup_permissions: Some(permissions.into()),
    }
}

fn device_requests(gpus: Option<&GpuDevices>, cdi: &[&String]) -> Option<Vec<DeviceRequest>> {
    let toolkit_request = gpus.map(|gpus| {
        let (count, ids) = match gpus {
            GpuDevices::All => (-1, None),
            GpuDevices::Ids(ids) => (0, Some(ids.clone())),
        };
        DeviceRequest {
            driver: Some(String::new()),
            count: Some(count),
            device_ids: ids,
            capabilities: Some(vec![vec!["gpu".into()]]),
            options: Some(HashMap::new()),
        }
    });
    let cdi_request = (!cdi.is_empty()).then(|| DeviceRequest {
        driver: Some("cdi".into()),
        count: Some(0),
        device_ids: Some(cdi.iter().map(|name| (*name).clone()).collect()),
        ..DeviceRequest::default()
    });
    let requests: Vec<DeviceRequest> = toolkit_request.into_iter().chain(cdi_request).collect();
    (!requests.is_empty()).then_some(requests)
}

fn sorted_ulimits(ulimits: &[(String, Ulimit)]) -> Vec<ResourcesUlimits> {
    let mut limits: Vec<ResourcesUlimits> = ulimits
        .iter()
        .map(|(name, limit)| ResourcesUlimits {
            name: Some(name.clone()),
            soft: Some(limit.soft),
            hard: Some(limit.hard),
        })
        .collect();
    limits.sort_by(|one, other| one.name.cmp(&other.name));
    limits
}

#[cfg(test)]
#[path = "create_tests.rs"]
mod tests;
