//! The memory of a GPU by its model, where no driver reports it: a plan for another machine.

use crate::amd_models::published_memory;

/// Model as NVIDIA's driver names it, and the memory of NVIDIA's data sheet, GiB: the driver shows up to 1 % less.
const NVIDIA_MEMORY: [(&str, u64); 8] = [
    ("A100-SXM4-40GB", 40),
    ("A100-SXM4-80GB", 80),
    ("A100 80GB PCIe", 80),
    ("H100 80GB HBM3", 80),
    ("H100 PCIe", 80),
    ("H100 NVL", 94),
    ("H200", 141),
    ("GeForce RTX 4090", 24),
];

/// The published memory of a model of any vendor, bytes; none if it is unknown.
pub fn model_memory(model: &str) -> Option<u64> {
    let nvidia = || {
        let entry = NVIDIA_MEMORY.iter().find(|(name, _)| *name == model)?;
        Some(entry.1 << 30)
    };
    published_memory(model).or_else(nvidia)
}
