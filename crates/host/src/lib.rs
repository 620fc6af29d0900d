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
mod gpu_memory;
pub mod gpu_support;
mod machine;
pub mod model;
mod nvidia;
pub mod nvml;
pub mod record;
mod rocm;
mod root;
pub mod sensors;
mod settings;

use std::path::Path;

use crate::model::HostView;
use root::HostRoot;

pub use condition::read_conditions;
pub use machine::{
    free_disk_bytes, is_disk_full, listening_ports, machine_name, network_file_system,
};
pub use settings::read_settings;

/// Reads the host below `root`.
pub fn probe_host(root: &Path) -> HostView {
    let root = HostRoot::new(root);
    let mut gpus = amd::detect_gpus(&root);
    gpus.extend(nvidia::detect_gpus(&root));
    bus::report_unlisted_gpus(&root, &gpus);
    let nvidia_driver = nvidia::driver_version(&root);
    let processors = machine::read_processors(&root);
    HostView {
        gpu_support: gpu_support::read_gpu_support(&root, nvidia_driver.is_some()),
        unread: root.read_errors(),
        hostname: machine::read_hostname(&root),
        kernel: machine::kernel_release(&root),
        system: machine::read_operating_system(&root),
        cpu: processors.model,
        sockets: processors.sockets,
        cores_per_socket: processors.cores,
        cpus: machine::online_cpus(&root),
        memory: machine::total_memory(&root),
        gpus,
        rocm: rocm::find_installation(&root),
        amdgpu: amd::driver_version(&root),
        nvidia: nvidia_driver,
        // The engine is asked for them.
        claimed_gpus: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
