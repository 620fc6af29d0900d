//! Reads the host behind a root path (`/`, or a tree that a test planted): GPUs, drivers, machine.
//!
//! Reading never fails and changes nothing: what is not there, or cannot be read, is absent from
//! the [`HostView`]. It needs no vendor tool, since a host that runs containers has none as a rule.

mod amd;
mod amd_models;
pub mod assign;
mod bus;
pub mod checks;
mod condition;
mod giving;
pub mod gpu_support;
mod machine;
pub mod model;
mod nvidia;
pub mod nvml;
mod root;
pub mod sensors;
mod settings;

use std::path::Path;

use crate::host::checks::{Condition, Settings};
use crate::host::model::{Gpu, HostView};
use root::Root;

/// Reads the host behind `root`; `disk_at` is where runs are kept, which need not exist yet.
#[must_use]
pub fn probe(root: &Path, disk_at: &Path) -> HostView {
    let root = Root::new(root);
    let mut gpus = amd::gpus(&root);
    gpus.extend(nvidia::gpus(&root));
    bus::look(&root, &gpus);
    let nvidia = nvidia::driver(&root);
    let processors = machine::processors(&root);
    HostView {
        gpu_support: giving::giving(&root, nvidia.is_some()),
        unread: root.unread(),
        hostname: machine::hostname(&root),
        kernel: machine::kernel(&root),
        cpu: processors.model,
        sockets: processors.sockets,
        cores_per_socket: processors.cores,
        cpus: machine::cpus(&root),
        memory: machine::memory(&root),
        gpus,
        rocm: amd::rocm(&root),
        amdgpu: amd::driver(&root),
        nvidia,
        disk_free: machine::disk_free(disk_at),
    }
}

/// Bytes that may still be written at a path, or at the nearest folder above it that is there.
#[must_use]
pub fn disk_free(path: &Path) -> Option<u64> {
    machine::disk_free(path)
}

/// The network file system that a path lies on, if it does.
#[must_use]
pub fn network_file_system(path: &Path) -> Option<String> {
    machine::network_file_system(path)
}

/// The settings that guides ask for.
#[must_use]
pub fn settings(root: &Path) -> Settings {
    settings::read(&Root::new(root))
}

/// Ports of this host on which somebody listens.
#[must_use]
pub fn listening(root: &Path) -> Vec<u16> {
    machine::listening(&Root::new(root))
}

/// What the GPUs are doing right now, in their order.
#[must_use]
pub fn conditions(root: &Path, gpus: &[Gpu]) -> Vec<Condition> {
    condition::conditions(&Root::new(root), gpus)
}

#[cfg(test)]
mod tests;
