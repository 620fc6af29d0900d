//! What each action of a step does, on this machine.

use super::RunExecution;
use super::skip::is_removed_next;
use crate::cache::populate;
use crate::container::{self, installed_packages};
use crate::error::Halt;
use crate::image::{self, copy_out};
use crate::interrupt::run_unless_stopped;
use crate::model;
use crate::results::{collect, judge};
use crate::service;
use crate::step::{StepSession, exec};
use crate::telemetry;
use retrial_plan::step::Action;
use retrial_results::verdict::Verdict;

/// Does the work of a step on this machine, once. Returns the exit code of its command.
pub async fn run_action(
    run: &mut RunExecution<'_>,
    session: &StepSession<'_>,
    reattach: bool,
) -> Result<Option<i64>, Halt> {
    match &session.step.action {
        Action::Pull { reference, policy } => {
            image::pull_image(session, reference, *policy).await?;
        }
        Action::Build(build) => image::build_image(session, build).await?,
        Action::FetchModel(model) => {
            let _exclusive = session.run_session.lock_exclusive().await;
            model::fetch_model(session, model).await?;
        }
        Action::Create => container::create_main_container(session).await?,
        Action::Exec(command) => {
            let work = Box::pin(exec::run_in_container(session, command, reattach));
            let work = telemetry::with_peer_telemetry(session, work);
            return run.telemetry.sample_during(session, work).await.map(Some);
        }
        Action::Host(command) => {
            return exec::run_on_host(session, command, reattach).await.map(Some);
        }
        Action::StartService(service) => {
            Box::pin(service::start_service(session, service, reattach)).await?;
        }
        Action::StopService(ending) => Box::pin(service::stop_service(session, ending)).await?,
        Action::Populate(populate_step) => {
            // Its state is large, and most steps need none of it.
            Box::pin(populate::populate_cache(session, populate_step, reattach)).await?;
        }
        Action::CopyOut { path, to } => copy_out::copy_from_image(session, path, to).await?,
        Action::Collect { measurement, trial, of, path, .. } => {
            collect::collect_results(session, *measurement, *trial, *of, path).await?;
        }
        Action::Judge => run.verdict = Some(judge_and_remove(run, session).await?),
        Action::Remove => container::run_remove_step(session.run_session).await?,
    }
    Ok(None)
}

/// Judges the run; removes its container meanwhile, if that follows after any verdict.
async fn judge_and_remove(
    run: &RunExecution<'_>,
    session: &StepSession<'_>,
) -> Result<Verdict, Halt> {
    let content = installed_packages::find_content(session.run_session);
    let content = run_unless_stopped(&session.run_session.stop, content).await?;
    let judging = async {
        if let Some(content) = content {
            let run = session.run_session.run.clone();
            // A panic there ends no run.
            let _ = tokio::task::spawn_blocking(move || content.store(&run)).await;
        }
        judge::record_verdict(session).await
    };
    let removal = async {
        if is_removed_next(run) {
            container::remove_ahead(session.run_session).await;
        }
    };
    let (verdict, ()) = tokio::join!(judging, removal);
    verdict
}
