//! Starts a process on another machine.

use std::process::Stdio;

use itertools::join;
use tokio::process::{Child, Command};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::OnDisconnect;
use retrial_document::words;
use retrial_recipe::quote::shell_quote;

/// Open files for a process on another machine: its input, its output, its errors, and itself.
const OPEN_FILES_PER_MACHINE: u64 = 4;
/// Open files for everything else.
const OTHER_OPEN_FILES: u64 = 256;

words! {
    /// The program that starts processes on other machines.
    pub enum Launcher {
        /// `ssh NODE`, without asking for a password.
        Ssh = "ssh",
        /// `srun` within the allocation that this process is in.
        Srun = "srun",
    }
}

/// Raises the limit on open files for this number of machines, as far as permitted.
pub(super) fn raise_open_file_limit(machines: usize) {
    let Ok(machines) = u64::try_from(machines) else {
        return;
    };
    let required = OTHER_OPEN_FILES + OPEN_FILES_PER_MACHINE * machines;
    let limit = getrlimit(Resource::Nofile);
    // No more than necessary: a program that closes all possible descriptors is slow with a million.
    if limit.current.is_some_and(|current| current < required) {
        let current = limit.maximum.map_or(required, |most| most.min(required));
        // Without it, the start of a machine's process reports the error.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), ..limit });
    }
}

impl Launcher {
    /// Starts a program on a machine, connected to this process by pipes. Signals of this terminal do not
    /// reach it.
    ///
    /// # Errors
    /// If `ssh` or `srun` cannot be started.
    pub fn start_process(self, node: &str, words: &[String]) -> std::io::Result<Child> {
        let mut command = match self {
            Self::Ssh => {
                let mut command = Command::new("ssh");
                command.args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20"]);
                // A machine without power does not respond: it counts as lost after a minute.
                command.args(["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4"]);
                command.arg(node);
                // The other side's shell splits it again.
                command.arg(join(words.iter().map(|word| shell_quote(word)), " "));
                command
            }
            Self::Srun => {
                let mut command = Command::new("srun");
                command
                    .args(["--overlap", "--nodes=1", "--ntasks=1", "--unbuffered"])
                    .args(["--quiet", "--cpu-bind=none"])
                    .arg(format!("--nodelist={node}"))
                    .args(words);
                command
            }
        };
        tracing::debug!(node, command = ?command.as_std(), "starting a process on a machine");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(false)
            .spawn()
    }

    /// The command line that runs a program on a machine, connected to this terminal. With `job`, within that
    /// job, on its first machine unless one is named.
    pub fn terminal_command_line(
        job: Option<&str>,
        node: Option<&str>,
        words: &[String],
    ) -> Vec<String> {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let mut line: Vec<String>;
        if let Some(job) = job {
            line = texts(&["srun", "--overlap", "--nodes=1", "--ntasks=1", "--pty"]);
            line.push(format!("--jobid={job}"));
            let node_option = node.map(|node| format!("--nodelist={node}"));
            line.push(node_option.unwrap_or_else(|| "--relative=0".to_owned()));
            line.extend_from_slice(words);
        } else {
            line = texts(&["ssh", "-t"]);
            line.extend(node.map(str::to_owned));
            line.push(join(words.iter().map(|word| shell_quote(word)), " "));
        }
        line
    }

    /// The action of a machine when this process disconnects: an allocation ends with it.
    pub fn on_disconnect(self) -> OnDisconnect {
        match self {
            Self::Ssh => OnDisconnect::Continue,
            Self::Srun => OnDisconnect::Teardown,
        }
    }
}
