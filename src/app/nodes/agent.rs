//! The process on a machine other than the head: checks it, and executes the head's orders.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::shared_recipe::read_shared_recipe;
use crate::app::failure::Failure;
use crate::app::launch::{ApprovedPlan, gpu_support};
use crate::app::options::GlobalOptions;
use crate::app::runtime::start_runtime;
use crate::app::signals::Signals;
use crate::app::{clean, follow, open};
use retrial_cluster::nodes::compare::examine_machine;
use retrial_engine::api::Engine as _;
use retrial_engine::docker::DockerEngine;
use retrial_host::assign::depends_on_engine;
use retrial_host::model::HostView;
use retrial_plan::Plan;
use retrial_results::verdict::ExitCode;
use retrial_run::nodes::{
    Agent, AgentReply, AgentRequest, AgentSetup, RunMachine, read_orders, write_messages,
};
use retrial_run::{RunSession, SessionOptions};
use retrial_store::RunDirectory;
use retrial_store::companions::Companions;
use retrial_store::journal::Event;

/// The file of the agent's log: the head reads its standard error as the reason of a failure.
pub fn agent_log_path(run: &Path, name: &str) -> PathBuf {
    let run = RunDirectory::from_path(run.to_owned());
    run.machine_directory(name).join("agent.log")
}

/// Serves the head over standard input and output until it is gone.
///
/// # Errors
/// If the run's files cannot be read, or the engine does not answer.
pub fn serve_agent(global: &GlobalOptions, run: &Path, name: &str) -> Result<ExitCode, Failure> {
    let runtime = start_runtime()?;
    let served = runtime.block_on(serve_until_disconnect(global, run, name));
    // A failure must not wait for the head's next order.
    runtime.shutdown_background();
    served
}

async fn serve_until_disconnect(
    global: &GlobalOptions,
    run: &Path,
    name: &str,
) -> Result<ExitCode, Failure> {
    let run = RunDirectory::from_path(run.to_owned());
    // A scheduler sends them to all processes of a job: the head reacts to them and sends orders.
    let _ignored = Signals::new();
    let (replies, outgoing) = unbounded_channel();
    let writer = tokio::spawn(write_messages(tokio::io::stdout(), outgoing, |_| false));
    let served = Box::pin(serve_head(global, &run, name, &replies)).await;
    drop(replies);
    // The head may have closed its end.
    let _ = writer.await;
    served.map(|()| ExitCode::Success)
}

async fn serve_head(
    global: &GlobalOptions,
    run: &RunDirectory,
    name: &str,
    replies: &UnboundedSender<AgentReply>,
) -> Result<(), Failure> {
    let host = open::probe_host(global);
    let (answer, shared) = examine_machine(&host, run)?;
    // Without a head, nobody needs it.
    let _ = replies.send(AgentReply::Facts(Box::new(answer)));
    let mut orders = read_orders(tokio::io::stdin());
    let begin = loop {
        match orders.recv().await {
            Some(AgentRequest::Begin(begin)) => break *begin,
            Some(AgentRequest::Clock) => {
                let time = Timestamp::now();
                // Without a head, nobody needs it.
                let _ = replies.send(AgentReply::Clock { time });
            }
            Some(_) => {}
            None => return Ok(()),
        }
    };
    // Without the run's directory, the head refuses this machine.
    let Some(shared) = shared else {
        return Ok(());
    };
    let part = run.machine_directory(name);
    let prepared = Box::pin(prepare_machine(global, run, &part, shared, &begin, host));
    let engine = match prepared.await {
        Ok(engine) => engine,
        Err(failure) => {
            let error = failure.to_error();
            // Without a head, nobody needs it.
            let _ = replies.send(AgentReply::Refused { error });
            return Ok(());
        }
    };
    Box::pin(execute_orders(global, engine, part, begin, replies, orders)).await
}

/// Checks this machine, and writes its plan and its facts into its part of the run's directory.
async fn prepare_machine(
    global: &GlobalOptions,
    run: &RunDirectory,
    part: &RunDirectory,
    shared: Plan,
    begin: &AgentSetup,
    mut host: HostView,
) -> Result<DockerEngine, Failure> {
    let engine = open::connect_engine(global).await?;
    if begin.exclusive {
        clean::containers::remove_of_earlier_jobs(global, &engine, &[run.id()]).await?;
    }
    let recipe = read_shared_recipe(run, &shared.recipe)?;
    if depends_on_engine(&recipe.container, recipe.requires.gpus.as_ref())
        && let Ok(abilities) = engine.query_capabilities().await
    {
        gpu_support::add_abilities(&mut host.gpu_support, engine.info().api.clone(), &abilities);
    }
    let approved =
        ApprovedPlan::of_created_run(shared).complete_for_host(&recipe, &host, global)?;
    approved.check_requirements(begin.force)?;
    let prepared = approved.prepare(global, host, &engine, String::new(), begin.force);
    let prepared = prepared.await?;
    if let Some(digest) = &prepared.plan.companions {
        Companions::of_run(part).provide(&Companions::of_run(run).root(), digest)?;
    }
    part.write_host_record(&prepared.host)?;
    part.write_json("plan.json", &prepared.plan)?;
    Ok(engine)
}

async fn execute_orders(
    global: &GlobalOptions,
    engine: DockerEngine,
    part: RunDirectory,
    begin: AgentSetup,
    replies: &UnboundedSender<AgentReply>,
    orders: UnboundedReceiver<AgentRequest>,
) -> Result<(), Failure> {
    let (events, incoming) = unbounded_channel();
    let options = SessionOptions {
        patience: begin.patience,
        machine: Some(RunMachine { scope: begin.scope, is_head: false }),
        ..follow::session_options(global, false)
    };
    let session =
        RunSession::open(std::sync::Arc::new(engine), part, events, begin.secrets, options)?;
    let forwarder = tokio::spawn(forward_events(incoming, replies.clone()));
    let agent =
        Agent { session: &session, replies: replies.clone(), on_disconnect: begin.on_disconnect };
    let served = Box::pin(agent.serve_orders(orders)).await;
    drop(session);
    // The head may have closed its end.
    let _ = forwarder.await;
    Ok(served?)
}

async fn forward_events(
    mut incoming: UnboundedReceiver<Event>,
    replies: UnboundedSender<AgentReply>,
) {
    while let Some(event) = incoming.recv().await {
        if event.what.is_stored() {
            // Without a head, nobody needs it.
            let _ = replies.send(AgentReply::Event(event));
        }
    }
}
