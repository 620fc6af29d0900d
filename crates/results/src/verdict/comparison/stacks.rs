//! The software by whose releases benchmarks of GPUs become faster or slower: of several hundred
//! packages that changed, these are listed first.

/// Beginnings of names, most telling first.
const GPU_SOFTWARE_PREFIXES: [&str; 44] = [
    "rocm",
    "hip",
    "miopen",
    "rccl",
    "rocblas",
    "rocsolver",
    "rocsparse",
    "rocfft",
    "composablekernel",
    "composable_kernel",
    "migraphx",
    "half",
    "amdgpu",
    "amd-smi",
    "aiter",
    "amd_aiter",
    "cuda",
    "libcublas",
    "libcudnn",
    "cudnn",
    "libnccl",
    "nccl",
    "nvidia-",
    "tensorrt",
    "libnvinfer",
    "torch",
    "pytorch",
    "triton",
    "vllm",
    "sglang",
    "flash_attn",
    "flash-attn",
    "xformers",
    "transformer_engine",
    "transformers",
    "onnxruntime",
    "onnx",
    "tensorflow",
    "jax",
    "deepspeed",
    "mlcommons",
    "mlperf",
    "numpy",
    "python3",
];

/// Returns where a package stands among them; all others stand last.
pub(crate) fn stack_rank(package: &str) -> usize {
    let name = package.to_lowercase();
    let at = |name: &str| GPU_SOFTWARE_PREFIXES.iter().position(|stack| name.starts_with(stack));
    // Debian names a library `librccl1`, and Python's packages `python3-numpy`.
    let bare = name.strip_prefix("python3-").or_else(|| name.strip_prefix("lib"));
    let ranks = [at(&name), bare.and_then(at)];
    ranks.into_iter().flatten().min().unwrap_or(GPU_SOFTWARE_PREFIXES.len())
}

/// Returns whether a package is one of them.
pub fn is_known_stack(package: &str) -> bool {
    stack_rank(package) < GPU_SOFTWARE_PREFIXES.len()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("rocm-core (dpkg)", true)]
    #[case("hipBLASLt (rpm)", true)]
    #[case("librccl1 (dpkg)", true)]
    #[case("python3-numpy (dpkg)", true)]
    #[case("onnxruntime-migraphx (python)", true)]
    #[case("bash (dpkg)", false)]
    #[case("", false)]
    fn stacks(#[case] package: &str, #[case] known: bool) {
        assert_eq!(is_known_stack(package), known);
    }
}
