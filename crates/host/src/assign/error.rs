//! Requests for GPUs that a host cannot satisfy. Pure.

use itertools::Itertools as _;
use miette::Diagnostic;
use retrial_recipe::model::GpuVendor;
use thiserror::Error;

use super::AssignedGpu;

/// The reason why a request for GPUs cannot be satisfied.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
pub enum AssignError {
    /// `--gpus`, and the recipe decides.
    #[error("the recipe passes its devices as written (container.gpu_access)")]
    #[diagnostic(help("choose in the recipe"))]
    PassedAsWritten,
    /// `--gpus`, and the recipe names single GPUs.
    #[error("the recipe names its GPUs' devices one by one, not /dev/dri")]
    #[diagnostic(help("choose in the recipe"))]
    NamedOneByOne,
    /// A GPU that is hidden here.
    #[error("GPU {} ({}) has no device node: {} does not exist", .0.index, .0.gpu.pci, .0.gpu.nodes.join(", "))]
    NoDeviceNode(Box<AssignedGpu>),
    /// Two selectors of one GPU.
    #[error("{index} is a duplicate")]
    Duplicate {
        /// Its index among the GPUs of the vendor.
        index: u32,
    },
    /// An index out of range.
    #[error("this host has {count} such GPUs, counted from 0")]
    NoSuchIndex {
        /// The number of GPUs of the vendor.
        count: usize,
    },
    /// A selector of no known kind.
    #[error("`{selector}` is neither a number nor GPU-… nor a PCI address")]
    #[diagnostic(help("write --gpus 0,1"))]
    InvalidSelector { selector: String },
    /// A prefix of several ids.
    #[error("`{selector}` matches several GPUs' ids")]
    Ambiguous { selector: String },
    /// An id or an address of no GPU.
    #[error("this host has no {} GPU `{selector}`{}", vendor.name(), list_available(available))]
    NoSuchGpu {
        /// The vendor that the recipe requires.
        vendor: GpuVendor,
        selector: String,
        /// The host's GPUs of the vendor.
        available: Vec<AssignedGpu>,
    },
}

fn list_available(available: &[AssignedGpu]) -> String {
    if available.is_empty() {
        return String::new();
    }
    let gpus = available.iter();
    let names = gpus.map(|assigned| format!("{} {}", assigned.index, assigned.gpu.pci));
    format!("; it has {}", names.format(", "))
}
