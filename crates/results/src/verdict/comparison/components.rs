//! The components of a GPU's software stack, and the packages that carry each. A comparison lists these
//! first, in this order.

/// The fact that names the release of `ROCm` in the container.
pub const ROCM: &str = "ROCm in the image";
/// The fact that names the driver of AMD's GPUs on the host.
pub const AMDGPU_DRIVER: &str = "amdgpu driver";
/// The fact that names the driver of NVIDIA's GPUs on the host.
pub const NVIDIA_DRIVER: &str = "NVIDIA driver";

/// The facts before those of components.
const FIRST_FACTS: [&str; 3] = [ROCM, AMDGPU_DRIVER, NVIDIA_DRIVER];

/// A component of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Component {
    /// Its name, as its documentation has it.
    pub name: &'static str,
    kind: ComponentKind,
    /// Packages of a distribution, without `lib`, `-dev` and releases in their names.
    system: &'static [&'static str],
    /// Packages of Python and conda, without releases in their names.
    python: &'static [&'static str],
    /// Packages that have other components, too, and a version of their own.
    bundles: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ComponentKind {
    Platform,
    Framework,
    Library,
}

use ComponentKind::{Framework, Library, Platform};

const fn component(
    name: &'static str,
    kind: ComponentKind,
    system: &'static [&'static str],
    python: &'static [&'static str],
) -> Component {
    Component { name, kind, system, python, bundles: &[] }
}

impl Component {
    const fn bundled(self, bundles: &'static [&'static str]) -> Self {
        Self { bundles, ..self }
    }
}

/// The wheel that has `ROCm`'s libraries.
const LIBRARIES_WHEEL: &str = "rocm-sdk-libraries";

/// The table: frameworks, then what they call, the most telling first.
///
/// `amdrocm-runtime` contains HIP, and its version is that of `ROCm`, which HIP's is not: it says nothing of HIP.
const COMPONENTS: [Component; 23] = [
    component("CUDA in the image", Platform, &["cuda-cudart"], &["nvidia-cuda-runtime"]),
    component("PyTorch", Framework, &[], &["torch", "pytorch"]),
    component("JAX", Framework, &[], &["jax"]),
    component("TensorFlow", Framework, &[], &["tensorflow", "tensorflow-rocm"]),
    component("vLLM", Framework, &[], &["vllm"]),
    component("SGLang", Framework, &[], &["sglang"]),
    component("TensorRT-LLM", Framework, &[], &["tensorrt-llm"]),
    component(
        "ONNX Runtime",
        Framework,
        &["onnxruntime"],
        &["onnxruntime", "onnxruntime-rocm", "onnxruntime-migraphx", "onnxruntime-gpu"],
    ),
    component("HIP", Library, &["hip-runtime-amd", "amdhip"], &[]),
    component("hipBLASLt", Library, &["hipblaslt", "amdrocm-hipblaslt"], &[])
        .bundled(&["amdrocm-blas", LIBRARIES_WHEEL]),
    component("rocBLAS", Library, &["rocblas", "amdrocm-rocblas"], &[])
        .bundled(&["amdrocm-blas", LIBRARIES_WHEEL]),
    component("RCCL", Library, &["rccl", "amdrocm-rccl"], &[]).bundled(&[LIBRARIES_WHEEL]),
    component("MIOpen", Library, &["miopen-hip", "miopen", "amdrocm-miopen"], &[])
        .bundled(&["amdrocm-dnn", LIBRARIES_WHEEL]),
    component("AOTriton", Library, &["aotriton"], &["aotriton", "pyaotriton"]),
    component(
        "Triton",
        Library,
        &[],
        &["triton", "pytorch-triton", "pytorch-triton-rocm", "triton-rocm"],
    ),
    component("aiter", Library, &[], &["amd-aiter", "aiter"]),
    component("Composable Kernel", Library, &["composablekernel", "amdrocm-ck"], &[]),
    component("MIGraphX", Library, &["migraphx", "amdrocm-migraphx"], &["migraphx"]),
    component("cuDNN", Library, &["cudnn"], &["nvidia-cudnn"]),
    component("cuBLAS", Library, &["cublas"], &["nvidia-cublas"]),
    component("NCCL", Library, &["nccl"], &["nvidia-nccl"]),
    component("TensorRT", Library, &["nvinfer"], &["tensorrt"]),
    component("FlashAttention", Library, &[], &["flash-attn"]),
];

impl Component {
    /// Returns the component that a package of a distribution carries.
    pub fn of_system_package(name: &str) -> Option<&'static Self> {
        COMPONENTS.iter().find(|component| component.system.contains(&name))
    }

    /// Returns the component that a package of Python carries.
    pub fn of_python_package(name: &str) -> Option<&'static Self> {
        COMPONENTS.iter().find(|component| component.python.contains(&name))
    }

    /// Returns the components that a package has among others.
    pub fn of_bundle(name: &str) -> impl Iterator<Item = &'static Self> {
        COMPONENTS.iter().filter(move |component| component.bundles.contains(&name))
    }
}

/// Returns where a fact stands among those of the stack.
pub(crate) fn stack_position(fact: &str) -> usize {
    let names = FIRST_FACTS.into_iter().chain(COMPONENTS.iter().map(|component| component.name));
    names.into_iter().position(|name| name == fact).unwrap_or(usize::MAX)
}

/// Returns whether a fact of the stack is of a library, and not of what it is for.
pub fn is_library(fact: &str) -> bool {
    COMPONENTS.iter().any(|component| component.name == fact && component.kind == Library)
}

/// Returns whether a fact of the stack is of a framework.
pub fn is_framework(fact: &str) -> bool {
    COMPONENTS.iter().any(|component| component.name == fact && component.kind == Framework)
}
