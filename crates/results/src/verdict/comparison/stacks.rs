//! The software by whose releases benchmarks of GPUs become faster or slower: of several hundred
//! packages that changed, these are listed first. Components of the stack are not among them.

/// Beginnings of names, most telling first.
const GPU_SOFTWARE_PREFIXES: [&str; 38] = [
    "amdrocm",
    "rocm",
    "hip",
    "miopen",
    "rccl",
    "rocblas",
    "rocsolver",
    "rocsparse",
    "rocfft",
    "half",
    "amdgpu",
    "amd-smi",
    "cuda",
    "cublas",
    "cudnn",
    "nccl",
    "nvidia-",
    "tensorrt",
    "nvinfer",
    "torch",
    "pytorch",
    "triton",
    "vllm",
    "sglang",
    "xformers",
    "transformer-engine",
    "transformer_engine",
    "transformers",
    "onnxruntime",
    "onnx",
    "tensorflow",
    "jax",
    "deepspeed",
    "megatron",
    "mlcommons",
    "mlperf",
    "numpy",
    "python",
];

/// Returns where a package stands among them; all others stand last, and so do parts for one kind of GPU.
pub(crate) fn stack_rank(package: &str) -> usize {
    let name = package.to_lowercase();
    let at = |name: &str| GPU_SOFTWARE_PREFIXES.iter().position(|stack| name.starts_with(stack));
    // Debian names a library `librccl1`, and Python's packages `python3-numpy`.
    let bare = name.strip_prefix("python3-").or_else(|| name.strip_prefix("lib"));
    let ranks = [at(&name), bare.and_then(at)].into_iter().flatten();
    let rank = ranks.min().filter(|_| !name.contains("-gfx"));
    rank.unwrap_or(GPU_SOFTWARE_PREFIXES.len())
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
    #[case("amdrocm-blas (dpkg)", true)]
    #[case("amdrocm-blas-gfx942 (dpkg)", false)]
    #[case("hipBLAS (rpm)", true)]
    #[case("librccl1 (dpkg)", true)]
    #[case("python3-numpy (dpkg)", true)]
    #[case("onnxruntime-training (python)", true)]
    #[case("bash (dpkg)", false)]
    #[case("", false)]
    fn stacks(#[case] package: &str, #[case] known: bool) {
        assert_eq!(is_known_stack(package), known);
    }
}
