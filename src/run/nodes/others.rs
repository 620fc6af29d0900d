//! The head's side: the other machines of a run, each with a process of ours.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use super::launcher::allow_pipes;
use super::node::{Kept, Node, NodeError};
use super::{Begin, Facts, Failures, Launcher, Order, images};
use crate::plan::step::Step;
use crate::run::error::Halt;
use crate::run::session::Session;
use crate::store::StoreError;
use crate::store::journal::StepEnd;

/// The longest that the end of a step waits for the telemetry of the other machines.
const UNWATCH: Duration = Duration::from_secs(10);

/// The other machines of a run.
pub struct Others {
    nodes: Vec<Node>,
    failures: Failures,
    kept: Kept,
    containers_live: bool,
    /// Removes the run's containers on a machine whose process is gone.
    clean: Vec<String>,
    /// Differences are allowed.
    force: bool,
}

impl Others {
    /// Starts a process on each machine, and asks each what it is and how far its clock is ahead, seconds.
    /// `clean` is the command that removes the run's containers on one whose process is gone. Machines that
    /// differ are allowed by `force`.
    ///
    /// # Errors
    /// The first machine where that fails.
    pub async fn start(
        launcher: Launcher,
        names: &[String],
        words: impl Fn(&str) -> Vec<String>,
        clean: Vec<String>,
        force: bool,
    ) -> Result<(Self, Vec<(Facts, f64)>), NodeError> {
        let mut others = Self {
            nodes: Vec::new(),
            failures: Failures::default(),
            kept: Kept::default(),
            containers_live: true,
            clean,
            force,
        };
        allow_pipes(names.len());
        for name in names {
            let process = launcher.start(name, &words(name));
            let process = process.map_err(|source| NodeError::Start {
                node: name.clone(),
                launcher,
                source,
            })?;
            let node = Node::new(name, launcher, process, &others.failures, &others.kept);
            others.nodes.push(node);
        }
        let facts = others.nodes.iter().map(Node::facts);
        let facts: Result<Vec<_>, NodeError> = join_all(facts).await.into_iter().collect();
        let facts = facts?;
        // Once all are heard: nothing else keeps this process from noting when an answer came.
        let ahead = others.nodes.iter().map(Node::ahead);
        let ahead: Result<Vec<_>, NodeError> = join_all(ahead).await.into_iter().collect();
        let found = facts.into_iter().zip(ahead?).collect();
        Ok((others, found))
    }

    /// Has each machine check itself and be ready for steps. `begin` is given its position.
    ///
    /// # Errors
    /// The first machine that does not meet the requirements, or is lost.
    pub async fn begin(&mut self, begin: impl Fn(usize) -> Begin) -> Result<(), NodeError> {
        for (index, node) in self.nodes.iter().enumerate() {
            node.send(Order::Begin(Box::new(begin(index))));
        }
        let ready = join_all(self.nodes.iter().map(Node::ready)).await;
        for lives in ready {
            self.containers_live &= lives?;
        }
        Ok(())
    }

    /// Whether the run's containers live on all of them.
    #[must_use]
    pub fn containers_live(&self) -> bool {
        self.containers_live
    }

    /// Their failures, which end what needs them here.
    #[must_use]
    pub fn failures(&self) -> Failures {
        self.failures.clone()
    }

    /// Has all machines execute a step, and waits for the last of them.
    pub(in crate::run) async fn execute(&self, session: &Session, step: &Step) -> Result<(), Halt> {
        self.send(&Order::Execute { step: step.number });
        let ends = join_all(self.nodes.iter().map(|node| self.end_of(node, step)));
        tokio::pin!(ends);
        let ends = tokio::select! {
            ends = &mut ends => ends,
            () = session.stop.cancelled() => {
                self.send(&Order::Stop);
                ends.await
            }
        };
        self.record_events(session)?;
        if let Some(failed) = self.failures.of(std::iter::once(step.number)) {
            return Err(failed.into());
        }
        let is_stopped = ends.contains(&StepEnd::Stopped);
        if is_stopped {
            Err(StepEnd::Stopped.into())
        } else {
            Ok(())
        }
    }

    /// Has all machines record telemetry during a step that they do not execute, and waits for the last
    /// sample of each.
    pub(in crate::run) async fn watch<T>(&self, step: &Step, work: impl Future<Output = T>) -> T {
        let step = step.number;
        self.send(&Order::Watch { step });
        let done = work.await;
        self.send(&Order::Unwatch { step });
        let ends = join_all(self.nodes.iter().map(|node| node.end_of(step)));
        let _ = timeout(UNWATCH, ends).await;
        done
    }

    /// Compares the image that a step got on all machines.
    pub(in crate::run) async fn compare_images(
        &self,
        session: &Session,
        step: &Step,
    ) -> Result<(), Halt> {
        images::compare(session, step, self.kept.images(), self.force).await
    }

    async fn end_of(&self, node: &Node, step: &Step) -> StepEnd {
        let end = node.end_of(step.number).await;
        if matches!(end, StepEnd::Failed { .. }) {
            self.fail(step.number, end.clone());
        }
        end
    }

    /// Ends a step on all machines: it failed on one of them.
    pub(in crate::run) fn fail(&self, step: u32, end: StepEnd) {
        // Once: if it fails on all machines, each need not hear of each.
        if self.failures.add(step, end.clone()) {
            self.send(&Order::Fail { step, end });
        }
    }

    /// Has all machines leave, and waits until they have. What a lost one left is removed if it answers.
    pub(in crate::run) async fn leave(&self, keep: bool) {
        let lost = self.nodes.iter().filter(|node| node.is_lost());
        let clean = lost.map(|node| node.clean(&self.clean));
        let clean = join_all(clean.filter(|_| !keep));
        self.send(&Order::Leave { keep });
        let gone = join_all(self.nodes.iter().map(Node::gone));
        tokio::join!(clean, gone);
    }

    /// Puts events of the other machines into the run's journal.
    pub(in crate::run) fn record_events(&self, session: &Session) -> Result<(), StoreError> {
        let mut events = self.kept.events().into_iter();
        events.try_for_each(|event| session.forward(event))
    }

    fn send(&self, order: &Order) {
        for node in &self.nodes {
            node.send(order.clone());
        }
    }
}
