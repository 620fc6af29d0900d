//! Another machine's side: executes the steps that the head orders, and watches services in between.

use std::time::Duration;

use tokio::io::AsyncRead;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep};

use super::images::pulled_image;
use super::message::MAX_MESSAGE_BYTES;
use super::{AgentReply, AgentRequest, LimitedLine, LineReader, OnDisconnect};
use crate::access::{RunSession, directories};
use crate::container::{self, installed_packages};
use crate::control::{DEADLINE_GRACE_S, DEADLINE_RENEWAL_INTERVAL};
use crate::error::RunError;
use crate::execution::{RunExecution, execute_step, open_run};
use crate::step::{StepSession, watch_services};
use retrial_plan::step::Action;
use retrial_store::journal::StepEnd;

const SERVICE_CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// The interval between queries to the engine about services.
const ENGINE_QUERY_INTERVAL: Duration = Duration::from_secs(2);

/// Reads orders as they arrive, until the head disconnects. Orders that end something are executed immediately.
pub fn read_orders(
    input: impl AsyncRead + Unpin + Send + 'static,
) -> UnboundedReceiver<AgentRequest> {
    let (outgoing, incoming) = unbounded_channel();
    tokio::spawn(async move {
        let mut lines = LineReader::new(input, MAX_MESSAGE_BYTES);
        while let Some(LimitedLine::Complete(line)) = lines.next_line().await {
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
    pub async fn serve_orders(
        &self,
        mut orders: UnboundedReceiver<AgentRequest>,
    ) -> Result<(), RunError> {
        let session = self.session;
        let (mut run, containers_live) = open_run(session).await?;
        self.send_reply(AgentReply::Ready { containers_live });
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
                    AgentRequest::Leave { keep: keep_containers } => {
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
            while let Some(step) = self.wait_for_step(&mut run, &mut in_turn).await? {
                self.execute_ordered_step(&mut run, step).await?;
            }
            Ok::<(), RunError>(())
        };
        tokio::pin!(work);
        let keep = tokio::select! {
            keep = &mut sort => keep,
            result = &mut work => return result,
            removed = directories::wait_until_removed(session) => {
                container::tear_down_after_error(session, &removed).await;
                return Err(removed);
            }
        };
        match (keep, self.on_disconnect) {
            (Some(true), OnDisconnect::Continue) => session.set_deadline(None)?,
            // The next head reattaches to the running steps.
            (None, OnDisconnect::Continue) => {}
            (Some(false), _) | (_, OnDisconnect::Teardown) => {
                // The head has left: nobody reads how the step ended.
                let _ = tokio::time::timeout(DEADLINE_RENEWAL_INTERVAL, work).await;
                container::remove_containers(session).await?;
                session.clear_scratch();
            }
        }
        Ok(())
    }

    /// Waits for the next step; watches services meanwhile, and GPUs if ordered.
    async fn wait_for_step(
        &self,
        run: &mut RunExecution<'_>,
        orders: &mut UnboundedReceiver<AgentRequest>,
    ) -> Result<Option<u32>, RunError> {
        let session = self.session;
        let starts: Vec<u32> = session.state().services.keys().copied().collect();
        let watched_services = watch_services(session, &starts).ok();
        let mut services = watched_services.unwrap_or_default();
        let (mut probed, mut renewed) = (Instant::now(), Instant::now());
        loop {
            tokio::select! {
                biased;
                order = orders.recv() => match order {
                    None => return Ok(None),
                    Some(AgentRequest::Execute { step }) => return Ok(Some(step)),
                    Some(AgentRequest::Watch { step }) => self.start_telemetry(run, step).await,
                    Some(AgentRequest::Unwatch { step }) => self.end_telemetry(run, step).await,
                    Some(_) => {}
                },
                () = sleep(SERVICE_CHECK_INTERVAL) => {}
            }
            let is_probe_due = probed.elapsed() > ENGINE_QUERY_INTERVAL;
            let mut failed = Vec::new();
            for service in &mut services {
                let mut health = service.check_files();
                if health.is_ok() && is_probe_due {
                    health = service.probe_engine().await;
                }
                if let Err(end) = health {
                    let step = service.start_step_number();
                    failed.push(step);
                    self.send_reply(AgentReply::ServiceFailed { step, end });
                }
            }
            services.retain(|service| !failed.contains(&service.start_step_number()));
            if is_probe_due {
                probed = Instant::now();
            }
            if renewed.elapsed() > DEADLINE_RENEWAL_INTERVAL && session.state().container.is_some()
            {
                session.set_deadline(Some(DEADLINE_GRACE_S))?;
                renewed = Instant::now();
            }
        }
    }

    /// Records telemetry of a step that other machines execute.
    async fn start_telemetry(&self, run: &mut RunExecution<'_>, number: u32) {
        if let Some(step) = self.session.plan.step(number) {
            // The head shows its own.
            let session = StepSession::new(self.session, step);
            run.telemetry.start_sampling(&session, drop).await;
        }
    }

    async fn end_telemetry(&self, run: &mut RunExecution<'_>, step: u32) {
        run.telemetry.end_sampling(self.session).await;
        self.send_reply(AgentReply::Ended {
            step,
            end: StepEnd::Done { exit_code: None },
            image: None,
        });
    }

    async fn execute_ordered_step(
        &self,
        run: &mut RunExecution<'_>,
        number: u32,
    ) -> Result<(), RunError> {
        let Some(step) = self.session.plan.step(number) else {
            return Ok(());
        };
        // An image may have been replaced since; the head needs the current one.
        let is_pull = matches!(step.action, Action::Pull { .. });
        let end = if run.completed_steps.contains(&number) && !is_pull {
            StepEnd::Done { exit_code: None }
        } else {
            if step.action == Action::Remove
                && let Some(content) = installed_packages::find_content(self.session).await
            {
                content.store(&self.session.run);
            }
            execute_step(run, step).await?
        };
        let image = pulled_image(&StepSession::new(self.session, step)).await;
        self.send_reply(AgentReply::Ended { step: number, end, image });
        Ok(())
    }

    fn send_reply(&self, reply: AgentReply) {
        // Without a head, nobody needs it.
        let _ = self.replies.send(reply);
    }
}
