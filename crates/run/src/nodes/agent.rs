//! Another machine's side: executes the steps that the head orders, and watches services in between.

use std::time::Duration;

use tokio::io::AsyncRead;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep};

use super::images::image_of;
use super::message::MAX_MESSAGE;
use super::{AgentReply, AgentRequest, LimitedLine, LineReader, OnDisconnect};
use crate::access::{RunSession, directories};
use crate::container::{self, installed};
use crate::control::{GRACE_S, RENEWAL};
use crate::error::RunError;
use crate::execute::RunExecution;
use crate::step::{StepSession, watched};
use retrial_plan::step::{Action, Step};
use retrial_store::journal::StepEnd;

/// The interval between checks of services.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// The interval between queries to the engine about services.
const PROBE: Duration = Duration::from_secs(2);

/// Reads orders as they arrive, until the head disconnects. Orders that end something are executed immediately.
pub fn read_orders(
    input: impl AsyncRead + Unpin + Send + 'static,
) -> UnboundedReceiver<AgentRequest> {
    let (outgoing, incoming) = unbounded_channel();
    tokio::spawn(async move {
        let mut lines = LineReader::new(input, MAX_MESSAGE);
        while let Some(LimitedLine::Complete(line)) = lines.next().await {
            if let Ok(order) = serde_json::from_slice(&line)
                && outgoing.send(order).is_err()
            {
                return;
            }
        }
    });
    incoming
}

/// The process on a machine that is not the head.
pub struct Agent<'a> {
    /// The session of its machine's part of the run.
    pub session: &'a RunSession,
    /// The channel to the head.
    pub replies: UnboundedSender<AgentReply>,
    /// The action on its containers when the head disconnects.
    pub on_disconnect: OnDisconnect,
}

impl Agent<'_> {
    /// Executes orders until the head makes it leave, or disconnects.
    ///
    /// # Errors
    /// If the run's own files cannot be written, or the engine does not respond.
    pub async fn serve(&self, mut orders: UnboundedReceiver<AgentRequest>) -> Result<(), RunError> {
        let session = self.session;
        let (mut run, containers_live) = RunExecution::open(session).await?;
        self.reply(AgentReply::Ready { containers_live });
        let (forward, mut in_turn) = unbounded_channel();
        let on_disconnect = self.on_disconnect;
        let sort = async move {
            let mut keep = None;
            while let Some(order) = orders.recv().await {
                match order {
                    AgentRequest::Fail { step, end } => {
                        session.failures.add(step, end);
                    }
                    AgentRequest::Stop => session.stop.cancel(),
                    AgentRequest::Leave {
                        keep: keep_containers,
                    } => {
                        keep = Some(keep_containers);
                        break;
                    }
                    // The others are executed in sequence.
                    order => drop(forward.send(order)),
                }
            }
            if keep.is_none() && on_disconnect == OnDisconnect::Teardown {
                session.stop.cancel();
            }
            keep
        };
        tokio::pin!(sort);
        let work = async {
            while let Some(step) = self.next_step(&mut run, &mut in_turn).await? {
                self.execute(&mut run, step).await?;
            }
            Ok::<(), RunError>(())
        };
        tokio::pin!(work);
        let keep = tokio::select! {
            keep = &mut sort => keep,
            result = &mut work => return result,
            removed = directories::until_removed(session) => {
                container::end_after(session, &removed).await;
                return Err(removed);
            }
        };
        match (keep, self.on_disconnect) {
            (Some(true), OnDisconnect::Continue) => session.set_deadline(None)?,
            // The next head reattaches to the running steps.
            (None, OnDisconnect::Continue) => {}
            (Some(false), _) | (_, OnDisconnect::Teardown) => {
                let _ = tokio::time::timeout(RENEWAL, work).await;
                container::remove(session).await?;
                session.clear_scratch();
            }
        }
        Ok(())
    }

    /// Waits for the next step; watches services meanwhile, and GPUs if ordered.
    async fn next_step(
        &self,
        run: &mut RunExecution<'_>,
        orders: &mut UnboundedReceiver<AgentRequest>,
    ) -> Result<Option<u32>, RunError> {
        let session = self.session;
        let starts: Vec<u32> = session.state().services.keys().copied().collect();
        let services = watched(session, &starts).ok();
        let mut services = services.unwrap_or_default();
        let (mut probed, mut renewed) = (Instant::now(), Instant::now());
        loop {
            tokio::select! {
                biased;
                order = orders.recv() => match order {
                    None => return Ok(None),
                    Some(AgentRequest::Execute { step }) => return Ok(Some(step)),
                    Some(AgentRequest::Watch { step }) => self.watch(run, step).await,
                    Some(AgentRequest::Unwatch { step }) => self.unwatch(run, step).await,
                    Some(_) => {}
                },
                () = sleep(CHECK_INTERVAL) => {}
            }
            let is_probe_due = probed.elapsed() > PROBE;
            let mut failed = Vec::new();
            for service in &mut services {
                let mut health = service.look();
                if health.is_ok() && is_probe_due {
                    health = service.probe().await;
                }
                if let Err(end) = health {
                    let step = service.start();
                    failed.push(step);
                    self.reply(AgentReply::ServiceFailed { step, end });
                }
            }
            services.retain(|service| !failed.contains(&service.start()));
            if is_probe_due {
                probed = Instant::now();
            }
            if renewed.elapsed() > RENEWAL && session.state().container.is_some() {
                session.set_deadline(Some(GRACE_S))?;
                renewed = Instant::now();
            }
        }
    }

    /// Records telemetry of a step that other machines execute.
    async fn watch(&self, run: &mut RunExecution<'_>, number: u32) {
        if let Some(step) = self.session.plan.step(number) {
            // The head shows its own.
            let session = StepSession::new(self.session, step);
            run.telemetry.start(&session, drop).await;
        }
    }

    async fn unwatch(&self, run: &mut RunExecution<'_>, step: u32) {
        run.telemetry.end(self.session).await;
        self.reply(AgentReply::Ended {
            step,
            end: StepEnd::Done { exit_code: None },
            image: None,
        });
    }

    async fn execute(&self, run: &mut RunExecution<'_>, number: u32) -> Result<(), RunError> {
        let Some(step) = self.session.plan.step(number) else {
            return Ok(());
        };
        // An image may have been replaced since; the head needs the current one.
        let is_pull = matches!(step.action, Action::Pull { .. });
        let end = if run.completed_steps.contains(&number) && !is_pull {
            StepEnd::Done { exit_code: None }
        } else {
            self.execute_step(run, step).await?
        };
        let image = image_of(&StepSession::new(self.session, step)).await;
        self.reply(AgentReply::Ended {
            step: number,
            end,
            image,
        });
        Ok(())
    }

    async fn execute_step(
        &self,
        run: &mut RunExecution<'_>,
        step: &Step,
    ) -> Result<StepEnd, RunError> {
        if step.action == Action::Remove {
            installed::record(self.session).await;
        }
        run.execute_step(step).await
    }

    fn reply(&self, reply: AgentReply) {
        // Without a head, nobody needs it.
        let _ = self.replies.send(reply);
    }
}
