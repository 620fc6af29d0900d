//! Reports how a run on a site ended: its verdict, or the state of its job.

use serde_json::Value;

use super::run_job::JobOutcome;
use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::{follow, terminal};
use retrial_cluster::job::cause::{find_stop_cause, job_output_tail, wait_for_accounting};
use retrial_cluster::job::record;
use retrial_cluster::slurm::Slurm;
use retrial_document::ErrorText;
use retrial_results::verdict::ExitCode;
use retrial_store::{Home, RecordDirectory, RunDirectory};

/// Returns the command for a run or a batch in this home, as advice: `follow it: retrial attach ID`.
pub fn suggest_command(
    home: &Home,
    record: &RecordDirectory,
    action: &str,
    command: &str,
) -> String {
    let (program, id) = (home.command_prefix(), record.id());
    format!("{action} it: {program} {command} {id}")
}

/// Returns where the evidence of a run or a batch is, as advice: `see the evidence: PATH`.
pub fn suggest_evidence(record: &RecordDirectory) -> String {
    format!("see the evidence: {}", record.path().display())
}

/// Returns a message that a run or a batch continues, and how to follow and stop it.
pub fn describe_continuing(home: &Home, record: &RecordDirectory, subject: &str) -> ErrorText {
    ErrorText::new(format!("{subject} continues"))
        .with_help(suggest_command(home, record, "follow", "resume"))
        .with_help(suggest_command(home, record, "stop", "stop"))
}

/// Prints a submitted run or batch that no process follows.
pub fn print_detached(global: &GlobalOptions, record: &RecordDirectory, json: &Value, note: &str) {
    if global.output == OutputFormat::Json {
        terminal::print_json(json);
    } else {
        terminal::print_text(&format!("{}\n", record.id()));
    }
    if !global.quiet {
        let words = [("follow", "resume"), ("judge", "judge"), ("stop", "stop")];
        let commands =
            words.map(|(action, command)| suggest_command(&global.home, record, action, command));
        terminal::note_error(&ErrorText::new(note).with_helps(commands));
    }
}

/// Prints how it ended, and returns the exit code.
pub async fn report_end(
    global: &GlobalOptions,
    slurm: &Slurm,
    run: &RunDirectory,
    id: &str,
    end: JobOutcome,
    require_accuracy: bool,
) -> Result<ExitCode, Failure> {
    let submission = record::latest_submission(run.record())?.unwrap_or_default();
    let resume = suggest_command(&global.home, run.record(), "resume", "resume");
    let with_next_steps =
        |text: ErrorText| text.with_help(suggest_evidence(run.record())).with_help(resume.as_str());
    let (exit, note) = match end {
        JobOutcome::Run { code, reason, judged } => {
            let mut exit = ExitCode::try_from(code).unwrap_or(ExitCode::Host);
            let stopped = exit == ExitCode::Interrupted && !submission.stop_requested;
            let why = if stopped {
                let job = wait_for_accounting(slurm, &submission, id).await;
                let (by, why) = find_stop_cause(job.as_ref(), &submission, id);
                exit = by;
                let verdict = if judged { "" } else { "no verdict: " };
                Some(format!("{verdict}{why}").into())
            } else {
                let unjudged_reason = reason.filter(|_| !judged);
                unjudged_reason.map(|reason| reason.into_error_text().in_context("no verdict: "))
            };
            if judged {
                follow::judge_and_print(global, run, require_accuracy)?;
            }
            let note = match why {
                _ if global.output == OutputFormat::Json => None,
                Some(why) => Some(with_next_steps(why)),
                None => (exit == ExitCode::Host && !judged)
                    .then(|| ErrorText::default().with_help(resume.as_str())),
            };
            (exit, note)
        }
        JobOutcome::Job { .. } if submission.stop_requested => {
            let note = with_next_steps(format!("stopped: job {id} has ended").into());
            (ExitCode::Interrupted, Some(note))
        }
        JobOutcome::Job { state } => {
            let job = wait_for_accounting(slurm, &submission, id).await;
            // A warning or a scancel before the run could handle it.
            if job.as_ref().is_none_or(|job| !job.terminated) {
                if let Some(tail) = job_output_tail(run.record(), id) {
                    terminal::print_note(&tail);
                }
                let message = format!("job {id} ended before the run did: {state}");
                return Err(Failure::host(with_next_steps(message.into())));
            }
            let (exit, why) = find_stop_cause(job.as_ref(), &submission, id);
            let note = with_next_steps(format!("no verdict: {why}").into());
            (exit, Some(note))
        }
        JobOutcome::Unknown => {
            let message =
                format!("the state of job {id} is unknown: neither squeue nor sacct lists it");
            return Err(Failure::host(with_next_steps(message.into())));
        }
    };
    if let Some(note) = note.filter(|_| !global.quiet) {
        terminal::note_error(&note);
    }
    Ok(exit)
}
