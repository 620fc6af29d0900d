//! The head's side: the other machines of a run, each with our process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::launcher::raise_open_file_limit;
use super::node::{NodeError, PeerMailbox, PeerNode};
use super::{AgentRequest, AgentSetup, Launcher, MachineFacts, NodeFailures};
use crate::mutex::lock;
use retrial_engine::api::ImageInfo;
use retrial_store::journal::{Event, StepEnd};

/// The longest that the end of a step waits for the telemetry of the other machines.
const LAST_SAMPLE_TIMEOUT: Duration = Duration::from_secs(10);

/// The other machines of a run.
pub struct PeerNodes {
    nodes: Vec<PeerNode>,
    /// Failures of the machines, which end the steps here that depend on them.
    pub(crate) failures: NodeFailures,
    mailbox: Arc<Mutex<PeerMailbox>>,
    /// Whether the run's containers are alive on all of them.
    pub(crate) containers_live: bool,
    /// The command that removes the run's containers on a machine whose process has exited.
    clean_command: Vec<String>,
    /// Whether `--force` allows machines that differ.
    pub(super) force: bool,
}

impl PeerNodes {
    /// Starts a process on each machine, and queries its facts and how far its clock is ahead, seconds. `clean`
    /// is the command that removes the run's containers on a machine whose process has exited. `force` allows
    /// machines that differ.
    ///
    /// # Errors
    /// The first machine where that fails.
    pub async fn start_all(
        launcher: Launcher,
        names: &[String],
        words: impl Fn(&str) -> Vec<String>,
        clean: Vec<String>,
        force: bool,
    ) -> Result<(Self, Vec<(MachineFacts, f64)>), NodeError> {
        let mut others = Self {
            nodes: Vec::new(),
            failures: NodeFailures::default(),
            mailbox: Arc::default(),
            containers_live: true,
            clean_command: clean,
            force,
        };
        raise_open_file_limit(names.len());
        for name in names {
            let start_result = launcher.start_process(name, &words(name));
            let process = start_result.map_err(|error| NodeError {
                node: name.clone(),
                error: format!("failed to start {launcher}: {error}").into(),
            })?;
            let node = PeerNode::new(name, launcher, process, &others.failures, &others.mailbox);
            others.nodes.push(node);
        }
        let queries = others.nodes.iter().map(PeerNode::query_facts);
        let facts: Result<Vec<_>, NodeError> = join_all(queries).await.into_iter().collect();
        let facts = facts?;
        // After all have replied: other work would delay the time stamps of responses.
        let lead_queries = others.nodes.iter().map(PeerNode::query_clock_lead);
        let leads: Result<Vec<_>, NodeError> = join_all(lead_queries).await.into_iter().collect();
        let found = facts.into_iter().zip(leads?).collect();
        Ok((others, found))
    }

    /// Makes each machine check itself and prepare for steps. `begin` is given its position.
    ///
    /// # Errors
    /// The first machine that does not meet the requirements, or is lost.
    pub async fn prepare_all(
        &mut self,
        begin: impl Fn(usize) -> AgentSetup,
    ) -> Result<(), NodeError> {
        for (index, node) in self.nodes.iter().enumerate() {
            node.send_order(AgentRequest::Begin(Box::new(begin(index))));
        }
        let ready = join_all(self.nodes.iter().map(PeerNode::wait_until_ready)).await;
        for lives in ready {
            self.containers_live &= lives?;
        }
        Ok(())
    }

    /// Makes all machines execute a step, and waits for the last of them.
    pub(crate) async fn execute_step(
        &self,
        step: u32,
        token: &CancellationToken,
    ) -> Result<(), StepEnd> {
        self.broadcast_order(&AgentRequest::Execute { step });
        let ends = join_all(self.nodes.iter().map(|node| self.wait_for_end(node, step)));
        tokio::pin!(ends);
        let ends = tokio::select! {
            ends = &mut ends => ends,
            () = token.cancelled() => {
                self.broadcast_order(&AgentRequest::Stop);
                ends.await
            }
        };
        if let Some(failed) = self.failures.find_first(std::iter::once(step)) {
            return Err(failed);
        }
        if ends.contains(&StepEnd::Stopped) {
            return Err(StepEnd::Stopped);
        }
        Ok(())
    }

    /// Makes all machines record telemetry during a step that they do not execute, and waits for the last
    /// sample of each.
    pub(crate) async fn record_telemetry_during<T>(
        &self,
        step: u32,
        work: impl Future<Output = T>,
    ) -> T {
        self.broadcast_order(&AgentRequest::Watch { step });
        let done = work.await;
        self.broadcast_order(&AgentRequest::Unwatch { step });
        let ends = join_all(self.nodes.iter().map(|node| node.wait_for_step_end(step)));
        // A machine that does not answer has fewer samples; a lost one fails the step.
        let _ = timeout(LAST_SAMPLE_TIMEOUT, ends).await;
        done
    }

    async fn wait_for_end(&self, node: &PeerNode, step: u32) -> StepEnd {
        let end = node.wait_for_step_end(step).await;
        if matches!(end, StepEnd::Failed { .. }) {
            self.fail_step(step, end.clone());
        }
        end
    }

    /// Ends a step on all machines: it failed on one of them.
    pub(crate) fn fail_step(&self, step: u32, end: StepEnd) {
        // Only once: if it fails on all machines, each need not be notified of every failure.
        if self.failures.add(step, end.clone()) {
            self.broadcast_order(&AgentRequest::Fail { step, end });
        }
    }

    /// Makes all machines leave, and waits until they have. The containers of a lost machine are removed if it
    /// responds.
    pub(crate) async fn dismiss_all(&self, keep: bool) {
        let lost = self.nodes.iter().filter(|node| node.is_lost());
        let clean = lost.map(|node| node.remove_containers(&self.clean_command));
        let clean = join_all(clean.filter(|_| !keep));
        self.broadcast_order(&AgentRequest::Leave { keep });
        let exits = join_all(self.nodes.iter().map(PeerNode::wait_for_exit));
        tokio::join!(clean, exits);
    }

    /// Takes the machines' events for the run's journal.
    pub(crate) fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut lock(&self.mailbox).events)
    }

    /// Takes the images of the last step, by machine.
    pub(super) fn take_images(&self) -> BTreeMap<String, ImageInfo> {
        std::mem::take(&mut lock(&self.mailbox).images)
    }

    fn broadcast_order(&self, order: &AgentRequest) {
        for node in &self.nodes {
            node.send_order(order.clone());
        }
    }
}
