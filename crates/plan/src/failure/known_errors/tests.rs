//! Lines as programs print them, from public issues and from runs.

use regex::Regex;
use rstest::rstest;

use super::{KNOWN_ERRORS, find_cause};
use crate::failure::{FailureCause, FailureKind};

fn find(output: &str) -> Option<FailureCause> {
    find_cause(output.as_bytes(), str::to_owned)
}

#[rstest]
#[case("RuntimeError: CUDA error: uncorrectable ECC error encountered", FailureKind::EccError)]
#[case(
    "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    FailureKind::GpuLost
)]
#[case(
    "HW Exception by GPU node-1 (Agent handle: 0x632d71637310) reason :GPU Hang",
    FailureKind::GpuHang
)]
#[case(
    "RuntimeError: HIP error: an illegal memory access was encountered",
    FailureKind::IllegalMemoryAccess
)]
#[case(
    "Memory access fault by GPU node-2 (Agent handle: 0x5640a8bb1980) on address 0x7feea09c5000. Reason: Page not present or supervisor privilege.",
    FailureKind::IllegalMemoryAccess
)]
#[case(
    "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 250.00 MiB. GPU 3 has a total capacity of 287.98 GiB of which 61.06 MiB is free.",
    FailureKind::OutOfGpuMemory
)]
#[case(
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.90 GiB total capacity)",
    FailureKind::OutOfGpuMemory
)]
#[case(
    "ValueError: Free memory on device (31.44/47.38 GiB) on startup is less than desired GPU memory utilization (0.95, 45.01 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
    FailureKind::OutOfGpuMemory
)]
#[case(
    "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
    FailureKind::OutOfGpuMemory
)]
#[case(
    "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
    FailureKind::OutOfGpuMemory
)]
#[case(
    "[E:onnxruntime:, sequential_executor.cc:514 onnxruntime::ExecuteKernel] Non-zero status code returned while running FusedConv node. Name:'Conv_3' Status Message: /onnxruntime_src/onnxruntime/core/framework/bfc_arena.cc:376 void* onnxruntime::BFCArena::AllocateRawInternal(size_t, bool) Failed to allocate memory for requested buffer of size 643840",
    FailureKind::OutOfGpuMemory
)]
#[case("RuntimeError: No HIP GPUs are available", FailureKind::NoGpu)]
#[case(
    "hipErrorNoBinaryForGpu: Unable to find code object for all current devices!",
    FailureKind::NoCodeForGpu
)]
#[case(
    "RuntimeError: CUDA error: no kernel image is available for execution on the device",
    FailureKind::NoCodeForGpu
)]
#[case(
    "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
    FailureKind::OutOfSharedMemory
)]
#[case("OSError: [Errno 28] No space left on device", FailureKind::DiskFull)]
#[case("OSError: [Errno 12] Cannot allocate memory", FailureKind::OutOfHostMemory)]
#[case(
    "[Errno 98] error while attempting to bind on address ('0.0.0.0', 30000): address already in use",
    FailureKind::PortInUse
)]
#[case("huggingface_hub.errors.GatedRepoError: 403 Client Error.", FailureKind::ModelRefused)]
#[case("[rank0]: ModuleNotFoundError: No module named 'torchtune'", FailureKind::MissingModule)]
#[case(
    "FileNotFoundError: [Errno 2] No such file or directory: '/data/open_orca.pkl'",
    FailureKind::MissingFile
)]
#[case(
    "transformer_benchmark.py: error: unrecognized arguments: --batchsize 4",
    FailureKind::InvalidArguments
)]
#[case(
    "[rank0]:[E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE)",
    FailureKind::CollectiveFailed
)]
#[case(
    "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
    FailureKind::CollectiveFailed
)]
#[case(
    "E1223 05:18:02.971000 3304089 site-packages/torch/distributed/elastic/multiprocessing/api.py:882] failed (exitcode: -11) local_rank: 0 (pid: 3304209) of binary: /root/bin/python3.12",
    FailureKind::WorkerKilled
)]
#[case(
    "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 7 (pid: 153932) of binary: /usr/bin/python",
    FailureKind::WorkerFailed
)]
fn a_line_that_names_the_cause_is_found(#[case] line: &str, #[case] kind: FailureKind) {
    let output = format!("loading\n{line}\nthe end\n");
    assert_eq!(find(&output).map(|cause| cause.kind), Some(kind));
}

#[rstest]
#[case("it failed")]
#[case("max memory: 12 GB, out of 80 GB")]
#[case("error: the harness failed (exit code 3)")]
#[case("NCCL version 2.26.6+hip6.4")]
#[case(
    "W1223 torch/distributed/elastic/multiprocessing/api.py:908] Sending process 3304210 closing signal SIGTERM"
)]
fn other_lines_name_no_cause(#[case] line: &str) {
    assert_eq!(find(line), None);
}

#[test]
fn what_a_line_names_is_captured() {
    let memory = "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 250.00 MiB. GPU 3 has a total capacity of 79.19 GiB of which 61.06 MiB is free.";
    assert_eq!(find(memory).unwrap().gpu.as_deref(), Some("3"));
    let killed = "failed (exitcode: -9) local_rank: 3 (pid: 812917) of binary: /usr/bin/python";
    assert_eq!(
        find(killed).unwrap().to_string(),
        format!("worker killed by signal 9 (KILL), rank 3: '{killed}'")
    );
}

#[test]
fn the_most_specific_kind_is_the_cause_and_its_first_line_is_quoted() {
    let output = "\
[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1 GiB. GPU 1 has a total capacity of 79 GiB
[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1 GiB. GPU 0 has a total capacity of 79 GiB
ncclRemoteError: A call failed possibly due to a network error
failed (exitcode: 1) local_rank: 1 (pid: 7) of binary: /usr/bin/python
";
    let cause = find(output).unwrap();
    assert_eq!((cause.kind, cause.gpu.as_deref()), (FailureKind::OutOfGpuMemory, Some("1")));
    let killed = "\
ncclRemoteError: A call failed possibly due to a network error
failed (exitcode: -9) local_rank: 1 (pid: 7) of binary: /usr/bin/python
";
    assert_eq!(find(killed).unwrap().kind, FailureKind::WorkerKilled);
}

#[test]
fn a_long_line_is_quoted_from_its_message_on_without_secrets() {
    let line = format!("{} CUDA out of memory. token=abc {}", "x".repeat(500), "y".repeat(500));
    let cause = find_cause(line.as_bytes(), |line| line.replace("abc", "***")).unwrap();
    assert!(cause.line.starts_with("CUDA out of memory. token=*** yyy"), "{}", cause.line);
    assert!(cause.line.ends_with("y…"), "{}", cause.line);
}

#[test]
fn every_pattern_is_a_regular_expression() {
    for (kind, pattern) in KNOWN_ERRORS {
        assert!(Regex::new(pattern).is_ok(), "{kind}: {pattern}");
    }
    for kind in FailureKind::ALL {
        // Known by the registry's answer.
        let is_typed = kind == FailureKind::NoSuchTag;
        let mut known = KNOWN_ERRORS.iter();
        assert!(is_typed || known.any(|(known, _)| *known == kind), "{kind} has no pattern");
    }
}
