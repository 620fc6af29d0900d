//! The lines in which programs name the cause of their failure, and the search of an output for them. Pure.

use regex::{Captures, Regex, RegexSet};

use super::cause::{FailureCause, FailureKind};
use retrial_readings::lines::LineSplitter;
use retrial_readings::nearest::truncate_to_chars;
use retrial_readings::sanitize;

/// The longest quotation of a line, characters.
const MAX_QUOTED_CHARS: usize = 160;

/// Patterns of lines, each with its kind. The groups `gpu`, `rank` and `signal` capture what the line names. `PyTorch`
/// for `ROCm` writes `HIP error` or `CUDA error`, depending on the place.
const KNOWN_ERRORS: &[(FailureKind, &str)] = &[
    // cudaErrorECCUncorrectable and hipErrorECCNotCorrectable: https://github.com/sgl-project/sglang/issues/3204
    (FailureKind::EccError, r"(?i)uncorrectable ECC error"),
    (FailureKind::EccError, "hipErrorECCNotCorrectable"),
    // NVIDIA's driver in the kernel's log: https://docs.nvidia.com/deploy/xid-errors
    (FailureKind::EccError, r"NVRM: Xid \(PCI:(?<gpu>[0-9a-fA-F:.]+)\): (48|94|95),"),
    // amdgpu in the kernel's log: drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c
    (
        FailureKind::EccError,
        r"amdgpu (?<gpu>[0-9a-f:.]+): .*uncorrectable hardware errors? (is )?detected",
    ),
    (FailureKind::GpuLost, r"(?i)GPU has fallen off the bus"),
    (FailureKind::GpuLost, r"NVRM: Xid \(PCI:(?<gpu>[0-9a-fA-F:.]+)\): (79|119|120),"),
    (FailureKind::GpuLost, r"Unable to determine the device handle for (?:GPU|gpu)"),
    (
        FailureKind::GpuLost,
        r"(?i)amdgpu (?<gpu>[0-9a-f:.]+): .*(device lost from bus|device wedged)",
    ),
    // ROCr: https://github.com/komikndr/raylight/issues/102
    (FailureKind::GpuHang, r"HW Exception by GPU (?<gpu>node-\d+) .*reason ?: ?GPU Hang"),
    (FailureKind::GpuHang, r"(CUDA|HIP) error: the launch timed out and was terminated"),
    (FailureKind::GpuHang, r"amdgpu (?<gpu>[0-9a-f:.]+): .*GPU reset begin"),
    // CUDA, HIP and ROCr: https://github.com/ROCm/ROCm/issues/5245, https://github.com/ROCm/ROCm/issues/2804
    (FailureKind::IllegalMemoryAccess, "an illegal memory access was encountered"),
    (FailureKind::IllegalMemoryAccess, r"Memory access fault by GPU (?<gpu>node-\d+) "),
    (FailureKind::IllegalMemoryAccess, "(CUDA|HIP) error: misaligned address"),
    // PyTorch, c10/cuda/CUDACachingAllocator.cpp
    (FailureKind::OutOfGpuMemory, r"(CUDA|HIP) out of memory\.(.* GPU (?<gpu>\d+) has a total)?"),
    (FailureKind::OutOfGpuMemory, r"(CUDA|HIP) (error|failure)( \d+)?: out of memory"),
    (
        FailureKind::OutOfGpuMemory,
        "(cuda|hip)Error(MemoryAllocation|OutOfMemory)|CUDA_ERROR_OUT_OF_MEMORY",
    ),
    (
        FailureKind::OutOfGpuMemory,
        "(CUBLAS|HIPBLAS|CUDNN|MIOPEN)_STATUS_(ALLOC_FAILED|AllocFailed)",
    ),
    // vLLM: https://github.com/vllm-project/vllm/issues/20305, /17431
    (FailureKind::OutOfGpuMemory, "No available memory for the cache blocks"),
    (
        FailureKind::OutOfGpuMemory,
        r"Free memory on device (cuda:(?<gpu>\d+) )?.*is less than desired GPU memory utilization",
    ),
    (
        FailureKind::OutOfGpuMemory,
        "larger than the (available KV cache memory|maximum number of tokens that can be stored in KV cache)",
    ),
    // SGLang, model_runner.py
    (
        FailureKind::OutOfGpuMemory,
        "Not enough memory. Please try to increase --mem-fraction-static",
    ),
    // ONNX Runtime, bfc_arena.cc: https://github.com/microsoft/onnxruntime/issues/22702
    (FailureKind::OutOfGpuMemory, "BFCArena.*Failed to allocate memory for requested buffer"),
    // PyTorch, torch/cuda/__init__.py
    (FailureKind::NoGpu, r"No (CUDA|HIP) GPUs are available"),
    (FailureKind::NoGpu, "Found no NVIDIA driver on your system"),
    (FailureKind::NoGpu, r"no (CUDA|ROCm)-capable device is detected"),
    (FailureKind::NoGpu, r"(CUDA|HIP) error: invalid device ordinal"),
    (FailureKind::NoGpu, "Torch not compiled with CUDA enabled"),
    (
        FailureKind::NoGpu,
        "(Failed to infer device type|libcuda.so.1: cannot open shared object file)",
    ),
    // CUDA and HIP: https://github.com/ROCm/ROCm/issues/2804
    (FailureKind::NoCodeForGpu, "no kernel image is available for execution on the device"),
    (FailureKind::NoCodeForGpu, "HIP error: invalid device function|hipErrorNoBinaryForGpu"),
    // PyTorch's DataLoader, and NCCL's shm transport
    (FailureKind::OutOfSharedMemory, r"insufficient shared memory \(shm\)"),
    (
        FailureKind::OutOfSharedMemory,
        "(Error while creating shared memory segment|No space left on device.*/dev/shm|/dev/shm.*No space left on device)",
    ),
    (FailureKind::DiskFull, "(?i)no space left on device"),
    // The C library, Python, C++, PyTorch's CPU allocator
    (
        FailureKind::OutOfHostMemory,
        "DefaultCPUAllocator: (not enough memory|can't allocate memory)",
    ),
    (FailureKind::OutOfHostMemory, r"\bCannot allocate memory\b"),
    (FailureKind::OutOfHostMemory, r"std::bad_alloc|^(\[rank\d+\]: )?MemoryError\b"),
    (FailureKind::PortInUse, "(?i)address already in use"),
    // huggingface_hub
    (FailureKind::ModelRefused, "GatedRepoError|Cannot access gated repo"),
    (FailureKind::MissingModule, r"^(\[rank\d+\]: )?(ModuleNotFoundError|ImportError): "),
    (FailureKind::MissingFile, r"^(\[rank(?<rank>\d+)\]: )?FileNotFoundError: "),
    (FailureKind::MissingFile, r"^\S*python\S*: can't open file "),
    // Python's argparse and click, the C library's getopt, clap
    (
        FailureKind::InvalidArguments,
        r"^\S+: error: (argument |unrecognized arguments: |the following arguments are required: |ambiguous option: )",
    ),
    (FailureKind::InvalidArguments, r"^Error: (No such option|Invalid value for|Missing option)"),
    (FailureKind::InvalidArguments, r"^\S+: (unrecognized option|invalid option -- )"),
    // torchrun: https://github.com/hpcaitech/ColossalAI/issues/3514. SIGABRT and SIGTERM follow from other causes.
    (
        FailureKind::WorkerKilled,
        r"failed \(exitcode: -(?<signal>4|7|8|9|11)\) local_rank: (?<rank>\d+) ",
    ),
    // PyTorch, ProcessGroupNCCL.cpp: https://github.com/hiyouga/LlamaFactory/issues/7396; NCCL and RCCL, Gloo
    (
        FailureKind::CollectiveFailed,
        r"\[Rank (?<rank>\d+)\] Watchdog caught collective operation timeout",
    ),
    (
        FailureKind::CollectiveFailed,
        r"\bnccl(UnhandledCudaError|SystemError|RemoteError|InternalError)\b",
    ),
    (
        FailureKind::CollectiveFailed,
        r"(gloo/transport|\[rank\d+\]: .*[Gg]loo).*(Connection closed by peer|Connection reset by peer|Timed out)",
    ),
    (FailureKind::WorkerFailed, r"failed \(exitcode: -?\d+\) local_rank: (?<rank>\d+) "),
];

/// Searches an output, or a part of it, for the cause of its command's failure: of the most specific kind, the first
/// line. `redact` removes the secrets of a line.
pub fn find_cause(output: &[u8], redact: impl Fn(&str) -> String) -> Option<FailureCause> {
    let patterns = RegexSet::new(KNOWN_ERRORS.iter().map(|(_, pattern)| pattern)).ok()?;
    let mut best: Option<(usize, String)> = None;
    let mut compare = |line: &str| {
        let matches = patterns.matches(line);
        let known = matches.iter().min_by_key(|index| KNOWN_ERRORS[*index].0);
        let kind = |index: usize| KNOWN_ERRORS[index].0;
        if let Some(index) = known
            && best.as_ref().is_none_or(|(earlier, _)| kind(index) < kind(*earlier))
        {
            best = Some((index, line.to_owned()));
        }
    };
    let mut splitter = LineSplitter::new();
    splitter.push(output, |line| compare(&line.text));
    splitter.finish(|line| compare(&line.text));
    let (index, line) = best?;
    let (kind, pattern) = KNOWN_ERRORS[index];
    let line = redact(&line);
    let captures = Regex::new(pattern).ok()?.captures(&line)?;
    Some(describe_match(kind, &captures, &line))
}

fn describe_match(kind: FailureKind, captures: &Captures<'_>, line: &str) -> FailureCause {
    let group = |name: &str| captures.name(name).map(|found| found.as_str());
    let is_short = line.chars().count() <= MAX_QUOTED_CHARS;
    // Programs write much before a message.
    let quoted = captures.get(0).map_or(0, |found| found.start());
    let quoted = if is_short { line } else { &line[quoted..] };
    FailureCause {
        kind,
        gpu: group("gpu").map(str::to_owned),
        rank: group("rank").and_then(|rank| rank.parse().ok()),
        signal: group("signal").and_then(|signal| signal.parse().ok()),
        line: truncate_to_chars(&sanitize(quoted.trim()), MAX_QUOTED_CHARS),
    }
}

#[cfg(test)]
mod tests;
