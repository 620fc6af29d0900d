//! What the recipes of AMD's LLM submissions take for a failure: the messages of the harness and of what it
//! runs on, and not what runs that succeeded print as well.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::process::Command;

use regex::RegexSet;
use rstest::rstest;
use serde_json::Value;

/// The patterns that fail a measurement at once, as the plan has them.
fn patterns(recipe: &str) -> RegexSet {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["--root", "tests/fixtures/hosts/mi355x-8"])
        .args(["plan", recipe, "--format", "json"])
        .output()
        .unwrap();
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    let steps = plan["steps"].as_array().unwrap();
    let measured = steps.iter().find(|step| step["name"] == "offline-performance");
    let signs = measured.unwrap()["failure"]["output"].as_array().unwrap();
    let at_once = signs.iter().filter(|sign| sign["after"].is_null());
    RegexSet::new(at_once.map(|sign| sign["pattern"].as_str().unwrap())).unwrap()
}

#[rstest]
fn failure_patterns_match_failures_only(
    #[values(
        "mlperf-inference/v6.0/amd/llama2-70b-mi355x",
        "mlperf-inference/v6.1/amd/deepseek-r1-mi355x",
        "mlperf-inference/v6.0/amd/llama2-70b-87x-mi355x"
    )]
    recipe: &str,
) {
    let patterns = patterns(recipe);
    for failure in [
        "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 978.00 MiB. GPU 0 has a total capacity of",
        "Memory access fault by GPU node-3 (Agent handle: 0x5640a8bb1980) on address 0x7feea09c5000. Reason: Unknown.",
        "Process SpawnProcess-4:",
        "ERROR 04-21 01:55:57 [core.py:392] EngineCore encountered a fatal error.",
        "ERROR Engine core proc EngineCore_0 died unexpectedly, shutting down client.",
        "2026-02-11 13:22:05 ERROR    Exception running vLLM",
        "2026-02-11 13:22:05 ERROR    Server b'node-gpu3' - generate e=RuntimeError('no')",
        "2026-02-11 13:22:05 ERROR    Server b'node-gpu0_1' - e=RuntimeError('no')",
    ] {
        assert!(patterns.is_match(failure), "{failure}");
    }
    for well in [
        "2026-02-11 13:22:05 INFO     i=3 | Polling server...",
        "2026-02-11 13:22:05 ERROR    Server [3] - qdata_in got end signal...",
        "2026-02-11 13:22:05 ERROR    Server b'node-gpu3' - recv got end signal...",
        "[2026-02-09 15:03:50 TP0] Decode out of memory happened. #retracted_reqs: 1",
        "resource_tracker: process died unexpectedly, relaunching. Some resources might leak.",
        "Traceback (most recent call last):",
    ] {
        assert!(!patterns.is_match(well), "{well}");
    }
}
