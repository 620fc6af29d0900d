use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::ControlDirectory;

/// Starts processes after the search for marks, each in a session of its own.
const ASK: &str = r#"
control=$1 directory=$1 leader=none
. "$control/processes"
find_marked RETRIAL_STEP=run/1-measure
start() {
  env $2 setsid sleep 60 &
  eval "$1=$!"
  until [ "$(cat "/proc/$!/comm")" = sleep ]; do :; done
}
start service RETRIAL_STEP=run/2-server
start own RETRIAL_STEP=run/1-measure
start unmarked NOTHING=
start ended NOTHING=
end_one() { kill -9 "$1"; wait "$1" 2>/dev/null; }
ask() {
  for name in service own unmarked ended; do
    eval "[ \$$name = $pid ]" || continue
    if [ "$name" = ended ]; then end_one "$pid"; fi
    if is_of_step; then echo "$name"; fi
  done
}
each_process ask
for process in "$service" "$own" "$unmarked"; do end_one "$process"; done
"#;

#[test]
fn service_and_ended_processes_are_not_part_of_the_measurement() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("processes"), include_str!("processes")).unwrap();
    fs::write(directory.path().join("private-pids"), "").unwrap();

    let output = Command::new("sh").args(["-c", ASK, "sh"]).arg(directory.path()).output().unwrap();

    let mut answers: Vec<String> =
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    answers.sort();
    assert_eq!(answers, ["own", "unmarked"], "{}", String::from_utf8_lossy(&output.stderr));
}

/// A process that leads a group, of which a test leaves nothing behind.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        // The group outlives its first process: in a container, the engine ends the rest.
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        // It may have ended.
        let _ = self.0.wait();
    }
}

/// The container's first process on this machine, with a clock that was set to another century.
#[test]
fn a_container_does_not_end_because_a_clock_was_set() {
    let directory = tempfile::tempdir().unwrap();
    let control = ControlDirectory::at_path(directory.path().join("control"));
    control.lay_out("a nonce", false).unwrap();
    let path = control.path().display().to_string();
    let init = include_str!("init").replace("/.retrial", &path);
    let process = Command::new("sh")
        .args(["-c", &format!("date() {{ echo 9999999999; }}\n{init}")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
    let mut process = KilledOnDrop(process.unwrap());
    let since = Instant::now();
    let until = |is_met: &dyn Fn() -> bool| {
        while !is_met() && since.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(is_met());
    };
    until(&|| control.is_nonce_copied("a nonce"));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(control.end_reason(), None);

    control.set_deadline(Some(0)).unwrap();
    until(&|| control.end_reason().as_deref() == Some("deadline"));
    assert_eq!(process.0.wait().unwrap().code(), Some(124));
}

#[test]
fn steps_that_ended_before_the_container_ended_by_themselves() {
    let directory = tempfile::tempdir().unwrap();
    let control = ControlDirectory::at_path(directory.path().to_owned());
    let steps = directory.path().join("steps");
    let exit = |name: &str| {
        fs::create_dir_all(steps.join(name)).unwrap();
        fs::write(steps.join(name).join("exit"), "0\n").unwrap();
        let step = super::StepControl::new(directory.path().to_owned(), name.to_owned());
        step.read_exit().unwrap().terminated_by_us
    };
    assert!(!exit("03-first"));
    fs::write(directory.path().join("ended"), "stopped\n03-first\n").unwrap();
    assert_eq!(control.end_reason().as_deref(), Some("stopped"));
    assert!(!exit("03-first"));
    assert!(exit("04-second"));
}
