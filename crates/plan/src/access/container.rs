//! Lists the accesses of a container. Every field is named, so that a new one does not compile before its access is
//! decided.

use super::{AccessKind, HostAccess, HostPath, Namespace};
use retrial_container::{
    ContainerSpec, ExtraFlags, Mount, is_device_request, requests_more_than_gpus,
};

/// Returns what a container can use of this machine. `recipient` is its key in the recipe.
pub fn container_accesses(container: &ContainerSpec, recipient: &str) -> Vec<HostAccess> {
    let ContainerSpec {
        privileged,
        ipc,
        network,
        uts,
        pid,
        devices,
        cap_add,
        security_opt,
        mounts,
        env,
        extra,
        // Of its own image, or without access to anything.
        name: _,
        image: _,
        entrypoint: _,
        command: _,
        group_add: _,
        shm_size: _,
        ulimits: _,
        workdir: _,
        user: _,
        init: _,
        labels: _,
        // The GPUs that the recipe requires, and directories of Retrial's own.
        gpus: _,
        cache_mounts: _,
        control: _,
    } = container;
    let ExtraFlags {
        userns,
        cgroupns,
        cap_drop: _,
        hostname: _,
        runtime,
        memory: _,
        cpus: _,
        cpuset_cpus: _,
        cpuset_mems: _,
        pids_limit: _,
        // The engine takes those of the container's own namespaces only.
        sysctls: _,
        tmpfs: _,
        read_only: _,
        dns: _,
        add_host: _,
    } = extra;
    let namespaces = [
        (Namespace::Network, network),
        (Namespace::Ipc, ipc),
        (Namespace::Pid, pid),
        (Namespace::Uts, uts),
        (Namespace::User, userns),
        (Namespace::Cgroup, cgroupns),
    ];
    let mut kinds = Vec::new();
    kinds.extend(privileged.then_some(AccessKind::Privileged));
    kinds.extend(cap_add.iter().map(|name| AccessKind::Capability { name: name.clone() }));
    kinds.extend(
        security_opt.iter().map(|option| AccessKind::SecurityOption { option: option.clone() }),
    );
    kinds.extend(devices.iter().map(|device| AccessKind::Device { device: device.clone() }));
    kinds.extend(namespaces.into_iter().filter_map(|(namespace, value)| {
        let value = value.clone()?;
        Some(AccessKind::Namespace { namespace, value })
    }));
    kinds.extend(runtime.iter().map(|runtime| AccessKind::Runtime { runtime: runtime.clone() }));
    let requests = env.iter().filter(|(name, value)| requests_more_than_gpus(name, value));
    let requests = requests.map(|(name, value)| format!("env {name}={value}"));
    let mounted = mounts.iter().filter(|mount| is_device_request(&mount.target));
    let requests = requests.chain(mounted.map(|mount| format!("mounts {mount}")));
    kinds.extend(requests.map(|setting| AccessKind::RuntimeRequest { setting }));
    let source = |mount: &Mount| AccessKind::Mount(HostPath::new(&mount.source));
    kinds.extend(mounts.iter().map(source));
    let kinds = kinds.into_iter();
    kinds.map(|kind| HostAccess::new(recipient, kind)).collect()
}
