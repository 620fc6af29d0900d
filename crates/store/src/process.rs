//! A process, as other processes find it again: a number alone names another process after a reboot, in another
//! container, on another machine that shares the home, or once the number is reused.

use std::fmt;
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::LazyLock;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal, test_kill_process,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::clock;

/// The identity of this process, read once.
static CURRENT_PROCESS: LazyLock<ProcessIdentity> = LazyLock::new(ProcessIdentity::read_current);

/// A process of some machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Its id in its pid namespace.
    pub pid: u32,
    /// The name of its machine, for people.
    pub host: String,
    /// The boot of its machine.
    boot: String,
    /// Its pid namespace, as the kernel names it: `pid:[4026531836]`.
    pid_namespace: String,
    /// When it started, in clock ticks since the boot. 0 if unknown.
    started: u64,
}

/// The reason for which a process must not be signalled from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SignalRefusal {
    /// Another machine, or an earlier boot of this one.
    #[error("it is on another machine, or of an earlier boot of this one")]
    OtherMachine,
    /// This machine, in another container.
    #[error("it is in another container (pid namespace) of this machine")]
    OtherNamespace,
    /// The process has ended; another one may have its id.
    #[error("that process has ended, and its number may be another one's")]
    Ended,
}

/// The reason for which a process could not be signalled.
#[derive(Debug, Error)]
pub enum SignalError {
    /// The process cannot be reached from here.
    #[error(transparent)]
    Refused(#[from] SignalRefusal),
    /// The kernel refused the signal: the process is another user's, for example.
    #[error("the kernel refused: {0}")]
    Kernel(Errno),
}

impl ProcessIdentity {
    pub fn current() -> &'static Self {
        &CURRENT_PROCESS
    }

    fn read_current() -> Self {
        let namespace = fs::read_link("/proc/self/ns/pid").ok();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        Self {
            pid: std::process::id(),
            host: host.trim().to_owned(),
            boot: clock::current_boot().to_owned(),
            pid_namespace: namespace.map_or_else(String::new, |link| link.display().to_string()),
            started: read_start_ticks("self").unwrap_or(0),
        }
    }

    /// Returns whether processes of this one's pid namespace are numbered as it is.
    ///
    /// # Errors
    /// Where else it is.
    pub fn check_reachable(&self) -> Result<(), SignalRefusal> {
        let own = Self::current();
        if self.boot.is_empty() || self.boot != own.boot {
            Err(SignalRefusal::OtherMachine)
        } else if self.pid_namespace.is_empty() || self.pid_namespace != own.pid_namespace {
            Err(SignalRefusal::OtherNamespace)
        } else {
            Ok(())
        }
    }

    /// Returns the name of the other machine that it was on; none if it was on this one, perhaps before a reboot.
    pub fn other_host_name(&self) -> Option<&str> {
        let is_unreachable = self.check_reachable() == Err(SignalRefusal::OtherMachine);
        let is_other = is_unreachable && !self.host.is_empty() && self.host != Self::current().host;
        is_other.then_some(&self.host)
    }

    /// Asks the process to end, and no other one: the checked and the signalled process are the same.
    ///
    /// # Errors
    /// If it is not a living process of this machine and pid namespace, or of another user.
    pub fn terminate(&self) -> Result<(), SignalError> {
        self.check_reachable()?;
        let pid =
            i32::try_from(self.pid).ok().and_then(Pid::from_raw).ok_or(SignalRefusal::Ended)?;
        let sent = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(process) => {
                self.check_start_time(&read_pid(&process).unwrap_or_default())?;
                pidfd_send_signal(&process, Signal::TERM)
            }
            // Kernels before 5.3: a moment is left between the check and the signal.
            Err(Errno::NOSYS) => {
                test_kill_process(pid).map_err(SignalError::Kernel)?;
                self.check_start_time(&self.pid.to_string())?;
                kill_process(pid, Signal::TERM)
            }
            Err(error) => Err(error),
        };
        sent.map_err(|error| match error {
            Errno::SRCH => SignalRefusal::Ended.into(),
            error => SignalError::Kernel(error),
        })
    }

    /// Returns its id, with its machine unless it is of this one: `4711`, `4711 on n2`.
    pub fn label(&self) -> String {
        let Self { pid, host, .. } = self;
        match self.check_reachable() {
            Ok(()) | Err(SignalRefusal::Ended) => pid.to_string(),
            Err(SignalRefusal::OtherMachine) => format!("{pid} on {host}"),
            Err(SignalRefusal::OtherNamespace) => format!("{pid} in another container on {host}"),
        }
    }

    fn check_start_time(&self, name: &str) -> Result<(), SignalRefusal> {
        let is_same = self.started != 0 && read_start_ticks(name) == Some(self.started);
        is_same.then_some(()).ok_or(SignalRefusal::Ended)
    }
}

/// `process 4711`, `process 4711 on n2`
impl fmt::Display for ProcessIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "process {}", self.label())
    }
}

/// Returns the id of an open process in the pid namespace whose `/proc` this is.
fn read_pid(process: &OwnedFd) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{}", process.as_raw_fd())).ok()?;
    let number = text.lines().find_map(|line| line.strip_prefix("Pid:"))?;
    Some(number.trim().to_owned())
}

/// When a process started, in clock ticks since the boot: field 22 of its `stat`. Its name, in parentheses, may
/// have blanks and parentheses.
fn read_start_ticks(name: &str) -> Option<u64> {
    let stat = fs::read(format!("/proc/{name}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command};

    use super::*;

    fn sleeper() -> (Child, ProcessIdentity) {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let identity = ProcessIdentity {
            pid: child.id(),
            started: read_start_ticks(&child.id().to_string()).unwrap(),
            ..ProcessIdentity::current().clone()
        };
        (child, identity)
    }

    #[test]
    fn the_process_that_is_named_is_terminated() {
        let (mut child, identity) = sleeper();
        identity.terminate().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(15));
        let again = identity.terminate().unwrap_err();
        assert!(matches!(again, SignalError::Refused(SignalRefusal::Ended)));
    }

    #[test]
    fn a_process_that_only_has_the_number_is_not_signalled() {
        let (mut child, identity) = sleeper();
        let earlier = ProcessIdentity { started: identity.started - 1, ..identity.clone() };
        let on_n2 = ProcessIdentity {
            boot: "11111111-2222-3333-4444-555555555555".to_owned(),
            host: "n2".to_owned(),
            ..identity.clone()
        };
        let in_container =
            ProcessIdentity { pid_namespace: "pid:[4026539999]".to_owned(), ..identity.clone() };
        let unknown = ProcessIdentity { pid: identity.pid, ..ProcessIdentity::default() };
        assert_eq!(on_n2.to_string(), format!("process {} on n2", child.id()));
        for (process, expected) in [
            (earlier, SignalRefusal::Ended),
            (on_n2, SignalRefusal::OtherMachine),
            (in_container, SignalRefusal::OtherNamespace),
            (unknown, SignalRefusal::OtherMachine),
        ] {
            match process.terminate().unwrap_err() {
                SignalError::Refused(actual) => assert_eq!(actual, expected),
                SignalError::Kernel(error) => panic!("{error}"),
            }
        }
        assert!(child.try_wait().unwrap().is_none(), "it still runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
