//! What a test needs of the machine. Without it the test fails and says what to do, for a test that returns has passed:
//! it is marked `#[ignore = "needs …"]`, which is reported as skipped, and run by `make test` (`tests/lab/runnable`).

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The lab's directory.
pub fn lab_directory() -> PathBuf {
    let directory = std::env::var_os("RETRIAL_LAB");
    directory
        .expect("this test needs the lab: `make test` starts it, tests/lab/README.md says how to by hand")
        .into()
}

/// Checks that the lab's engine, or the user's, answers.
pub fn assert_engine_answers() {
    let version = Command::new("docker").arg("version").output();
    assert!(
        version.is_ok_and(|output| output.status.success()),
        "this test needs an engine, and none answers: `make test` starts one, tests/lab/README.md says how to by hand"
    );
}

/// Makes the device nodes of simulated GPUs.
pub fn make_simulated_gpus() {
    let nodes = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lab/devices");
    let output = Command::new(nodes).arg("up").output().unwrap();
    assert!(
        output.status.success() && Path::new("/dev/kfd").exists(),
        "this test needs simulated GPUs: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Makes the device nodes, and returns a lock: who runs on a simulated host claims its GPUs, so only one test of the lab
/// at a time has it.
pub fn claim_simulated_gpus() -> File {
    let turn = File::create(lab_directory().join("gpus.lock")).unwrap();
    turn.lock().unwrap();
    make_simulated_gpus();
    turn
}

/// The Python of the lab with these packages (`tests/lab/python`).
pub fn find_python(packages: &[&str]) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/python");
    let output = Command::new(script).args(packages).output().unwrap();
    assert!(
        output.status.success(),
        "this test needs the lab's Python: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().into()
}
