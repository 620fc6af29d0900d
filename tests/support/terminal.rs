//! Runs the program in a terminal, by `script`.

use std::process::{Command, Stdio};

/// Returns a command that executes the program with these arguments in a terminal of its own. The shell that `script`
/// starts is replaced by the program: Ctrl-C would end both.
pub fn terminal_command(arguments: &[&str]) -> Command {
    let line = format!("exec '{}' '{}'", env!("CARGO_BIN_EXE_retrial"), arguments.join("' '"));
    let mut command = Command::new("script");
    command.args(["-qefc", &line, "/dev/null"]).env("TERM", "xterm").stdin(Stdio::piped());
    command
}
