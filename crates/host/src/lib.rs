//! Reads the host behind a root path (`/`, or a test's tree): GPUs, drivers, machine.
//!
//! Reading never fails and changes nothing: missing or unreadable facts are absent from the [`HostView`]. It
//! needs no vendor tool, since a host that runs containers usually has none.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod amd;
mod amd_device;
mod amd_models;
pub mod assign;
mod bus;
pub mod checks;
mod condition;
pub mod gpu_support;
mod machine;
pub mod model;
mod nvidia;
pub mod nvml;
mod root;
pub mod sensors;
mod settings;

use std::path::Path;

use crate::model::HostView;
use root::HostRoot;

pub use condition::conditions;
pub use machine::{disk_free, disk_full, listening, machine_name, network_file_system};
pub use settings::settings;

/// Reads the host below `root`; `disk_at` is the directory of runs, which need not exist yet.
pub fn probe(root: &Path, disk_at: &Path) -> HostView {
    let root = HostRoot::new(root);
    let mut gpus = amd::gpus(&root);
    gpus.extend(nvidia::gpus(&root));
    bus::look(&root, &gpus);
    let nvidia = nvidia::driver(&root);
    let processors = machine::processors(&root);
    HostView {
        gpu_support: gpu_support::read(&root, nvidia.is_some()),
        unread: root.unread(),
        hostname: machine::hostname(&root),
        kernel: machine::kernel(&root),
        system: machine::operating_system(&root),
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

#[cfg(test)]
mod tests;
