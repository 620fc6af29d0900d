use std::fs;
use std::process::Command;

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
    fs::write(
        directory.path().join("processes"),
        include_str!("processes"),
    )
    .unwrap();
    fs::write(directory.path().join("private-pids"), "").unwrap();

    let output = Command::new("sh")
        .args(["-c", ASK, "sh"])
        .arg(directory.path())
        .output()
        .unwrap();

    let mut answers: Vec<String> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    answers.sort();
    assert_eq!(
        answers,
        ["own", "unmarked"],
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
