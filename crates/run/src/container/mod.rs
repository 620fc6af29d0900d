//! The run's container: its GPUs claimed, created, started, verified, read and removed. A container without our
//! labels is never touched.
//!
//! Commands within it are steps (`step`); its services start in `service`.

mod create;
mod extract;
mod gpu_claim;
pub mod installed;
mod labels;
mod lifecycle;
mod mount_check;
mod reattach;
mod replace;
mod sources;

pub use create::{create_again, create_started, start_error};
pub use extract::{Extraction, MAX_BYTES, extract};
pub use labels::{
    CACHE_LABEL, GPU_LABEL, JOB_LABEL, PATH_LABEL, RUN_LABEL, label, labels_of, mounts_cached,
    other_user, own_labels, run_of,
};
pub use lifecycle::{
    begin_to_remove, create, create_for_service, create_with, discard, end_after, remove,
    remove_step, teardown,
};
pub use sources::{record_links, resolve_context};
