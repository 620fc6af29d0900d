//! The run's container: its GPUs claimed, created, started, verified, read and removed. A container without our
//! labels is never touched.
//!
//! Commands within it are steps (`step`); its services start in `service`.

mod create;
mod extract;
mod gpu_claim;
pub mod installed_packages;
mod labels;
mod lifecycle;
mod mount_check;
mod sources;
mod writable;

pub use create::{create_and_start, create_replacing_unrecorded, start_error};
pub use extract::{Extraction, MAX_EXTRACTED_BYTES, extract_path};
pub use labels::{
    CACHE_LABEL, GPU_LABEL, JOB_LABEL, PATH_LABEL, RUN_LABEL, container_labels, describe_run,
    find_other_user, label_value, mounts_cached_directory, run_container_labels,
};
pub use lifecycle::{
    create_main_container, create_service_container, create_with_caches, discard_container,
    remove_ahead, remove_containers, run_remove_step, tear_down, tear_down_after_error,
};
pub use sources::{resolve_context, use_copies};
pub use writable::revoke_privileges_of_run;
