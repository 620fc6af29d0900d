//! Whether a command that wrote its exit code succeeded.

use super::follow::{FREE_SPACE_ADVICE, MORE_MEMORY_ADVICE, container_end_reason, resume_advice};
use super::output;
use super::session::StepSession;
use super::target::StepCommand;
use crate::control::StepExit;
use retrial_plan::failure::signal_name;
use retrial_plan::step::{CommandPurpose, Step};
use retrial_store::journal::{StepEnd, StepFault};

/// Lines of output that a failure shows.
const MAX_SHOWN_LINES: usize = 12;

/// Adds the last lines of a step to a failure, and the cause that its output states, unless it has those of another
/// step.
pub fn with_output(session: &StepSession<'_>, end: StepEnd) -> StepEnd {
    let stated = end.lacks_output().then(|| output::find_stated_cause(session));
    end.with_cause(stated.flatten())
        .with_last_lines(|| output::read_last_lines(session, MAX_SHOWN_LINES))
}

/// Checks whether a command that wrote its exit code succeeded.
pub fn verify_exit(command: &StepCommand<'_>, exit: &StepExit) -> Result<i64, StepEnd> {
    let session = &command.session;
    if exit.terminated_by_us {
        return Err(StepEnd::failure(
            StepFault::Host,
            container_end_reason(&command.control, ""),
            resume_advice(session.run_session),
        ));
    }
    let code = exit.code;
    let full = session.run_session.find_full_disk();
    let killed = exit.oom_kills.unwrap_or(0);
    let (fault, reason, advice) = if exit.is_disk_full || full.is_some() {
        let path = full.unwrap_or(session.run_session.run.path());
        let reason =
            format!("the disk of {} is full: the step's output may be truncated", path.display());
        (StepFault::Host, reason, FREE_SPACE_ADVICE.to_owned())
    } else if killed > 0 {
        let processes = match killed {
            1 => "a process".to_owned(),
            _ => format!("{killed} processes"),
        };
        let reason = format!(
            "the kernel killed {processes} of the step, out of memory (its exit code: {code})"
        );
        (StepFault::Command, reason, MORE_MEMORY_ADVICE.to_owned())
    } else if code != 0 {
        (StepFault::Command, describe_exit_code(code), exit_advice(command, code))
    } else {
        return Ok(code);
    };
    Err(StepEnd::failure(fault, reason, advice).with_exit_code(Some(code)))
}

fn exit_advice(command: &StepCommand<'_>, code: i64) -> String {
    let StepCommand { session, exec, .. } = command;
    let is_collected = |of| session.run_session.plan.result_steps(of).any(Step::collects_results);
    match exec.purpose {
        _ if code == 126 => {
            "make it executable (`chmod +x`), or start it by its interpreter: `bash FILE`"
                .to_owned()
        }
        _ if code == 127 => {
            let shell = "; if the guide's commands rely on a login shell's PATH, set `shell: [bash, -ilc]` in the recipe's container";
            let shell = if exec.shell.is_none() { shell } else { "" };
            format!(
                "the image or a mount must have it; a script needs the interpreter of its first line, and line ends of Unix{shell}"
            )
        }
        CommandPurpose::Check { of, .. } if is_collected(of) => format!(
            "read its output; once the cause is fixed, `retrial resume {}` runs it again on the collected \
             results, without measuring again",
            session.run_session.run.id()
        ),
        _ => "read its output; to inspect the container, use --keep on-failure and `retrial shell`"
            .to_owned(),
    }
}

fn describe_exit_code(code: i64) -> String {
    match code {
        126 => "its command cannot be executed (exit code 126)".to_owned(),
        127 => "a command was not found (exit code 127)".to_owned(),
        code if code > 128 && code < 193 => {
            let signal = i32::try_from(code - 128).unwrap_or_default();
            format!("it was terminated by {} (exit code {code})", signal_name(signal))
        }
        code => format!("it ended with exit code {code}"),
    }
}
