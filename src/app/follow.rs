//! Follows a run in this process: reporter, signals, and what is printed at its end.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::own_directories::scratch_directory;
use crate::app::{display, nodes, notify, signals, terminal};
use retrial_cluster::job::record::is_submitted;
use retrial_cluster::nodes::allocation::NodeAllocation;
use retrial_document::ErrorText;
use retrial_engine::docker::DockerEngine;
use retrial_plan::Plan;
use retrial_report::{self as report, OpenRun, ReportedVerdict, content};
use retrial_results::verdict::{ExitCode, Verdict};
use retrial_run::{RunEnd, RunSession, SessionOptions, execute_plan, judge_run, read_secrets};
use retrial_store::RunDirectory;
use retrial_store::error::RecordKind;
use retrial_store::journal::{AbortReason, Event, JournalState};
use retrial_store::lock::FileLock;

/// Returns the state of a run that can be continued; none if it came to its verdict.
pub fn open_run(run: &RunDirectory, state: &JournalState) -> Option<OpenRun> {
    let code = state.over.as_ref().map(|(code, _)| *code);
    match code.map(ExitCode::try_from) {
        Some(Ok(ExitCode::Host)) => Some(OpenRun::HostFailed),
        Some(code) if code != Ok(ExitCode::Interrupted) => None,
        _ if FileLock::find_holder(&run.lock_path()).is_some() => Some(OpenRun::InProgress),
        // Its job waits or runs on a node.
        None if is_submitted(run) => Some(OpenRun::InProgress),
        _ => Some(OpenRun::Interrupted),
    }
}

/// Returns a note that a run has not ended, and how to continue; none if it has ended.
pub fn describe_unfinished_run(
    global: &GlobalOptions,
    run: &RunDirectory,
    state: &JournalState,
) -> Option<ErrorText> {
    if matches!(state.over, Some((code, _)) if code != ExitCode::Interrupted.code()) {
        return None;
    }
    let (program, id) = (global.home.command_prefix(), run.id());
    Some(match FileLock::find_holder(&run.lock_path()) {
        Some(holder) => ErrorText::new(format!(
            "the run is in progress ({holder})"
        ))
        .with_help(format!(
            "follow it: {program} attach {id}    judge it once it has ended: {program} judge {id}"
        )),
        None => ErrorText::new("the run has not ended; this is its evidence so far")
            .with_help(format!("resume it: {program} resume {id}")),
    })
}

/// `RETRIAL_ENGINE_PATIENCE`: how many seconds an engine may be away when it is needed.
pub fn session_options(global: &GlobalOptions, require_accuracy: bool) -> SessionOptions {
    let mut options = SessionOptions {
        all_output: global.verbose,
        require_accuracy,
        root: global.root.clone(),
        scratch: scratch_directory(global),
        ..SessionOptions::default()
    };
    let patience = std::env::var("RETRIAL_ENGINE_PATIENCE").ok().and_then(|text| text.parse().ok());
    if let Some(seconds) = patience {
        options.patience = Duration::from_secs(seconds);
    }
    options
}

/// Opens a session of a run, with its other machines if it has any.
pub async fn open_session(
    global: &GlobalOptions,
    engine: DockerEngine,
    directory: RunDirectory,
    events: UnboundedSender<Event>,
    require_accuracy: bool,
) -> Result<RunSession, Failure> {
    let mut options = session_options(global, require_accuracy);
    let mut others = None;
    if let Some(allocation) = NodeAllocation::read(&directory)? {
        let begun = nodes::start_machines(global, &directory, &allocation, options.patience);
        let (this, other_machines) = begun.await?;
        options.machine = Some(this);
        others = Some(other_machines);
    }
    let secrets = read_secrets(&directory.read_json("plan.json")?);
    let session = RunSession::open(Arc::new(engine), directory, events, secrets, options)?;
    Ok(match others {
        Some(others) => session.with_peers(others),
        None => session,
    })
}

/// Executes the remaining steps of a run, prints its verdict, and executes the command of `--notify`.
pub async fn follow_run(
    global: &GlobalOptions,
    engine: DockerEngine,
    directory: RunDirectory,
    require_accuracy: bool,
) -> Result<ExitCode, Failure> {
    let record = directory.record().clone();
    let ended = execute_and_print(global, engine, directory, require_accuracy).await;
    let verdict = ended.as_ref().ok().and_then(|end| end.verdict.as_ref());
    let result = ended.as_ref().map(|end| end.exit);
    let reason = ended.as_ref().ok().and_then(|end| end.reason.clone());
    let reason = reason.map(|reason| reason.into_error_text().to_string());
    notify::notify_of_end(global, RecordKind::Run, &record, result, reason, verdict).await;
    ended.map(|end| end.exit)
}

/// Executes the remaining steps of a run and prints its verdict.
async fn execute_and_print(
    global: &GlobalOptions,
    engine: DockerEngine,
    directory: RunDirectory,
    require_accuracy: bool,
) -> Result<RunEnd, Failure> {
    let (events, incoming) = unbounded_channel::<Event>();
    let session =
        Arc::new(open_session(global, engine, directory, events, require_accuracy).await?);
    let plan = session.plan.clone();
    let json = global.output == OutputFormat::Json;
    let watcher = display::show_run(global, &session.run, incoming);
    let handler = signals::handle_signals(signals::session_target(global, Arc::clone(&session)))?;
    let run_result = execute_plan(&session).await;
    handler.finish();
    let path = session.run.path().to_owned();
    let id = session.run.id().to_owned();
    drop(session);
    // A reporter that panicked does not change the verdict.
    let _ = watcher.join();
    let evidence = path.display().to_string();
    let resume = format!("resume it: {} resume {id}", global.home.command_prefix());
    let next_steps = [format!("see the evidence: {evidence}"), resume];
    let is_lost = !path.exists();
    let ended = run_result.map_err(|error| {
        let failure = Failure::host(ErrorText::of(&error));
        let next_steps = next_steps.iter().filter(|_| !is_lost);
        next_steps.fold(failure, Failure::with_help)
    })?;
    if let Some(verdict) = &ended.verdict {
        let has_failed = ended.exit == ExitCode::Host;
        let entry = ReportedVerdict::new(evidence.as_str(), verdict)
            .with_run(&global.home, &plan)
            .with_open_run(has_failed.then_some(OpenRun::HostFailed));
        print_verdict(global, &entry);
    } else if !json {
        let reason = ended.reason.clone().map_or_else(
            || "the run ended before it was judged".into(),
            AbortReason::into_error_text,
        );
        let reason = next_steps.into_iter().fold(reason, ErrorText::with_help);
        terminal::note_error(&reason.in_context("no verdict: "));
    }
    Ok(ended)
}

/// Judges a run by its files, and prints the verdict.
pub fn judge_and_print(
    global: &GlobalOptions,
    run: &RunDirectory,
    require_accuracy: bool,
) -> Result<Verdict, Failure> {
    let verdict = judge_run(run, require_accuracy)?;
    print_verdict_of_run(global, run, &verdict)?;
    Ok(verdict)
}

/// Prints a verdict on a run, with what its directory says of it.
pub fn print_verdict_of_run(
    global: &GlobalOptions,
    run: &RunDirectory,
    verdict: &Verdict,
) -> Result<(), Failure> {
    let plan: Plan = run.read_json("plan.json")?;
    let evidence = run.path().display().to_string();
    let state = run.read_state().unwrap_or_default();
    let entry = ReportedVerdict::new(evidence, verdict)
        .with_run(&global.home, &plan)
        .with_open_run(open_run(run, &state));
    print_verdict(global, &entry);
    if global.output != OutputFormat::Text
        && let Some(note) = describe_unfinished_run(global, run, &state)
    {
        terminal::note_error(&note);
    }
    Ok(())
}

/// Prints a verdict in the format of the command line.
pub fn print_verdict(global: &GlobalOptions, entry: &ReportedVerdict<'_>) {
    if print_for_ci(global, std::slice::from_ref(entry)) {
        return;
    }
    if global.output == OutputFormat::Json {
        terminal::print_json(entry.verdict);
    } else if global.verbose {
        terminal::print_document(&content::verdict::verdict_document(entry));
    } else {
        terminal::print_document(&content::brief::brief_document(entry));
    }
}

/// Prints verdicts as one document for CI, if a format for CI was requested.
pub fn print_for_ci(global: &GlobalOptions, verdicts: &[ReportedVerdict<'_>]) -> bool {
    let text = match global.output {
        OutputFormat::Junit => report::junit::render_verdicts(verdicts),
        OutputFormat::Markdown => {
            report::markdown::render_markdown(&content::verdict::verdicts_document(verdicts))
        }
        OutputFormat::Text | OutputFormat::Json => return false,
    };
    terminal::print_text(&text);
    true
}
