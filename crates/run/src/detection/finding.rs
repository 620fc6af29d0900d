//! A detected sign of a failure, and its message.

use std::fmt;

use retrial_document::measures::format::format_time_limit;
use retrial_plan::failure::{FailedLine, find_cause, signal_name};
use retrial_store::journal::{StepEnd, StepFault};

/// A sign that a command has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailureFinding {
    /// A line of its output matches a pattern; redacted.
    Line(FailedLine),
    /// No line matched for too long.
    NoProgress {
        /// The pattern that no line matched.
        pattern: String,
        /// The longest time without a match, seconds.
        within_s: u64,
    },
    /// A child process is dead, and its parent has not reaped it.
    DeadChild(DeadChild),
    /// A child process has ended, but its parent and its siblings have not.
    MissingChild(MissingChild),
}

/// A process with GPUs of its own that ended and was reaped by its parent, or exited with code 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingChild {
    /// Its process id, in the container or on the host where it ran.
    pub pid: u32,
    /// The id of its parent.
    pub parent: u32,
    /// The name of its program, as the kernel has it.
    pub name: String,
    /// `HIP_VISIBLE_DEVICES=3`: the GPUs in its environment.
    pub devices: String,
}

/// A process that ended by an error or a signal and was not reaped by its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadChild {
    /// Its process id, in the container or on the host where it runs.
    pub pid: u32,
    /// Its start time, in kernel ticks: ids are reused.
    pub started: u64,
    /// The id of its parent.
    pub parent: u32,
    /// The status with which it ended, as `wait(2)` encodes it.
    pub status: i32,
    /// The name of its program, as the kernel has it.
    pub name: String,
    /// `HIP_VISIBLE_DEVICES=3`: the GPUs in its environment.
    pub devices: Option<String>,
}

impl fmt::Display for FailureFinding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => line.fmt(formatter),
            Self::NoProgress { pattern, within_s } => write!(
                formatter,
                "it made no progress: no line of its output matched '{pattern}' for {}",
                format_time_limit(*within_s)
            ),
            Self::DeadChild(child) => child.fmt(formatter),
            Self::MissingChild(child) => write!(
                formatter,
                "its process {} ({}, {}) has ended, and its parent {} and processes of other GPUs are still running",
                child.pid, child.name, child.devices, child.parent
            ),
        }
    }
}

impl fmt::Display for DeadChild {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signal = self.status & 0x7f;
        write!(formatter, "its process {} ({}", self.pid, self.name)?;
        if let Some(devices) = &self.devices {
            write!(formatter, ", {devices}")?;
        }
        if signal == 0 {
            write!(formatter, ") ended with exit code {}", self.status >> 8)?;
        } else {
            write!(formatter, ") was terminated by {}", signal_name(signal))?;
        }
        write!(formatter, ", and its parent {} has not noticed", self.parent)
    }
}

impl FailureFinding {
    /// Returns the end of the failed command; `exit_code` if it has ended by itself.
    pub fn to_step_end(&self, exit_code: Option<i64>) -> StepEnd {
        let (fault, advice) = match self {
            Self::Line(line) => (
                StepFault::Command,
                format!(
                    "read its output from line {} on; `fail_on:` in the recipe has the pattern",
                    line.number
                ),
            ),
            Self::NoProgress { .. } => (
                StepFault::Timeout,
                "read its output: which process does it wait for? `progress:` in the recipe has the pattern"
                    .to_owned(),
            ),
            Self::DeadChild(_) | Self::MissingChild(_) => (
                StepFault::Command,
                "read its output, and the kernel's log (`dmesg`) for what ended the process".to_owned(),
            ),
        };
        let end = StepEnd::failure(fault, self.to_string(), advice).with_exit_code(exit_code);
        match self {
            Self::Line(line) => {
                end.with_quoted_cause(find_cause(line.line.as_bytes(), str::to_owned))
            }
            _ => end,
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn missing_progress_is_described() {
        let finding = FailureFinding::NoProgress { pattern: "step [0-9]+".into(), within_s: 60 };
        let text = "it made no progress: no line of its output matched 'step [0-9]+' for 1m";
        assert_eq!(finding.to_string(), text);
    }

    #[rstest]
    #[case(
        9,
        Some("HIP_VISIBLE_DEVICES=3"),
        "its process 71 (python, HIP_VISIBLE_DEVICES=3) was terminated by signal 9 (KILL), and its parent 4 has not noticed"
    )]
    #[case(
        0x8b,
        None,
        "its process 71 (python) was terminated by signal 11 (SEGV), and its parent 4 has not noticed"
    )]
    #[case(
        0x100,
        None,
        "its process 71 (python) ended with exit code 1, and its parent 4 has not noticed"
    )]
    fn a_dead_child_is_described(
        #[case] status: i32,
        #[case] devices: Option<&str>,
        #[case] text: &str,
    ) {
        let child = DeadChild {
            pid: 71,
            started: 1000,
            parent: 4,
            status,
            name: "python".into(),
            devices: devices.map(str::to_owned),
        };
        assert_eq!(child.to_string(), text);
    }
}
