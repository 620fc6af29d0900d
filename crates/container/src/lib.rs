//! A container as `docker run` describes it: one description behind recipes, shell scripts and the
//! engine's create call, so that all of them make the same container. Pure: it starts nothing.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod engine;
mod extra_flags;
pub mod first_process;
pub mod formats;
mod gpu_runtime;
mod image_ref;
mod options;
mod privilege;
mod spec;
mod ulimit;

pub use engine::{EngineCapabilities, EngineInfo};
pub use extra_flags::{ExtraFlags, HOST_NAMESPACE};
pub use first_process::CONTROL_MOUNT;
pub use gpu_runtime::{is_device_request, requests_more_than_gpus, withdrawn_requests};
pub use image_ref::{ImageRef, ImageRefFault, InvalidImageRef};
pub use options::{OptionValue, RunOption};
pub use privilege::{
    is_accelerator_device, is_cdi_device, is_confined_capability, is_root_capability,
    is_usual_security_option,
};
pub use spec::{ContainerSpec, GpuDevices, Mount};
pub use ulimit::Ulimit;
