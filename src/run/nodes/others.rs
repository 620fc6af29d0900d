//! The head's side: the other machines of a run, each with a process of ours.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use jiff::Timestamp;
use thiserror::Error;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Begin, Facts, Failures, Launcher, Order, Reply};
use crate::plan::step::Step;
use crate::run::error::Halt;
use crate::run::session::Session;
use crate::store::StoreError;
use crate::store::journal::{Event, StepEnd, StepFault, What};
use retrial_readings::sanitize;

/// How long a machine may take to start our process, and to say what it is.
const START: Duration = Duration::from_mins(2);
/// How long it may take to check itself.
const PREFLIGHT: Duration = Duration::from_mins(5);
/// How long it may take to end what is left.
const END: Duration = Duration::from_secs(40);
/// The last lines of a launcher's errors that are shown.
const LAST_LINES: usize = 5;

/// Why a run does not begin on a machine.
#[derive(Debug, Error)]
pub enum NodeError {
    /// The launcher cannot be started.
    #[error("{node}: failed to start {launcher}: {source}")]
    Start {
        /// The machine.
        node: String,
        /// `ssh`, `srun`
        launcher: Launcher,
        /// Why.
        source: std::io::Error,
    },
    /// The process there ended, or said nothing.
    #[error("{node}: {because}")]
    Lost {
        /// The machine.
        node: String,
        /// What is known.
        because: String,
    },
    /// It does not meet the requirements.
    #[error("{node}: {}", .lines.join("\n"))]
    Refused {
        /// The machine.
        node: String,
        /// What is missing, and what to do.
        lines: Vec<String>,
    },
}

/// The other machines of a run.
pub struct Others {
    nodes: Vec<Node>,
    failures: Failures,
    /// Events of the other machines that the run's journal keeps, until it has them.
    events: Arc<Mutex<Vec<Event>>>,
    containers_live: bool,
    /// Removes the run's containers on a machine whose process is gone.
    clean: Vec<String>,
}

struct Node {
    name: String,
    launcher: Launcher,
    orders: UnboundedSender<Order>,
    replies: tokio::sync::Mutex<UnboundedReceiver<Reply>>,
    errors: Arc<Mutex<VecDeque<String>>>,
    process: tokio::sync::Mutex<Child>,
    tasks: Vec<JoinHandle<()>>,
}

impl Others {
    /// Starts a process on each machine, and asks each what it is. `clean` is the command that removes the
    /// run's containers on one whose process is gone.
    ///
    /// # Errors
    /// The first machine where that fails.
    pub async fn start(
        launcher: Launcher,
        names: &[String],
        words: impl Fn(&str) -> Vec<String>,
        clean: Vec<String>,
    ) -> Result<(Self, Vec<(Facts, Timestamp)>), NodeError> {
        let mut others = Self {
            nodes: Vec::new(),
            failures: Failures::default(),
            events: Arc::default(),
            containers_live: true,
            clean,
        };
        for name in names {
            let process = launcher.start(name, &words(name));
            let process = process.map_err(|source| NodeError::Start {
                node: name.clone(),
                launcher,
                source,
            })?;
            let node = others.follow(name, launcher, process);
            others.nodes.push(node);
        }
        let facts = others.nodes.iter().map(Node::facts);
        let facts: Result<Vec<_>, NodeError> = join_all(facts).await.into_iter().collect();
        let facts = facts?;
        Ok((others, facts))
    }

    fn follow(&self, name: &str, launcher: Launcher, mut process: Child) -> Node {
        let (orders, incoming) = unbounded_channel();
        let (outgoing, replies) = unbounded_channel();
        let errors: Arc<Mutex<VecDeque<String>>> = Arc::default();
        let mut tasks = Vec::new();
        if let Some(input) = process.stdin.take() {
            tasks.push(tokio::spawn(write(input, incoming)));
        }
        if let Some(output) = process.stderr.take() {
            tasks.push(tokio::spawn(keep_last(output, Arc::clone(&errors))));
        }
        if let Some(output) = process.stdout.take() {
            let reader = Reader {
                node: name.to_owned(),
                failures: self.failures.clone(),
                events: Arc::clone(&self.events),
                replies: outgoing,
            };
            tasks.push(tokio::spawn(reader.read(output)));
        }
        Node {
            name: name.to_owned(),
            launcher,
            orders,
            replies: tokio::sync::Mutex::new(replies),
            errors,
            process: tokio::sync::Mutex::new(process),
            tasks,
        }
    }

    /// Has each machine check itself and be ready for steps. `begin` is given its position.
    ///
    /// # Errors
    /// The first machine that does not meet the requirements, or is lost.
    pub async fn begin(&mut self, begin: impl Fn(usize) -> Begin) -> Result<(), NodeError> {
        for (index, node) in self.nodes.iter().enumerate() {
            let _ = node.orders.send(Order::Begin(Box::new(begin(index))));
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

    async fn end_of(&self, node: &Node, step: &Step) -> StepEnd {
        let reply = node.reply(|reply| match reply {
            Reply::Ended { step: ended, end } if ended == step.number => Some(end),
            _ => None,
        });
        let end = match reply.await {
            Some(end) => named(&node.name, end),
            None => node.lost().await,
        };
        if matches!(end, StepEnd::Failed { .. }) {
            self.fail(step.number, end.clone());
        }
        end
    }

    /// Ends a step on all machines: it failed on one of them.
    pub(in crate::run) fn fail(&self, step: u32, end: StepEnd) {
        self.failures.add(step, end.clone());
        self.send(&Order::Fail { step, end });
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
        let events = std::mem::take(&mut *lock(&self.events));
        events
            .into_iter()
            .try_for_each(|event| session.forward(event))
    }

    fn send(&self, order: &Order) {
        for node in &self.nodes {
            // A machine that is gone is found by its replies.
            let _ = node.orders.send(order.clone());
        }
    }
}

impl Node {
    /// What it is, and when it was heard.
    async fn facts(&self) -> Result<(Facts, Timestamp), NodeError> {
        let facts = self.reply(|reply| match reply {
            Reply::Facts(facts) => Some(*facts),
            _ => None,
        });
        match timeout(START, facts).await {
            Ok(Some(facts)) => Ok((facts, Timestamp::now())),
            Ok(None) => Err(self.lost_before().await),
            Err(_) => Err(self.late("start retrial there", START)),
        }
    }

    /// Whether the run's containers live there.
    async fn ready(&self) -> Result<bool, NodeError> {
        let ready = self.reply(|reply| match reply {
            Reply::Ready { containers_live } => Some(Ok(containers_live)),
            Reply::Refused { lines } => Some(Err(lines)),
            _ => None,
        });
        let node = self.name.clone();
        match timeout(PREFLIGHT, ready).await {
            Ok(Some(Ok(lives))) => Ok(lives),
            Ok(Some(Err(lines))) => Err(NodeError::Refused { node, lines }),
            Ok(None) => Err(self.lost_before().await),
            Err(_) => Err(self.late("check itself", PREFLIGHT)),
        }
    }

    /// The first reply that is looked for. None if the process there is gone.
    async fn reply<T>(&self, mut wanted: impl FnMut(Reply) -> Option<T>) -> Option<T> {
        let mut replies = self.replies.lock().await;
        loop {
            if let Some(found) = wanted(replies.recv().await?) {
                return Some(found);
            }
        }
    }

    fn late(&self, doing: &str, limit: Duration) -> NodeError {
        let limit = crate::format::limit(limit.as_secs());
        NodeError::Lost {
            node: self.name.clone(),
            because: format!("it did not {doing} within {limit}"),
        }
    }

    async fn lost_before(&self) -> NodeError {
        NodeError::Lost {
            node: self.name.clone(),
            because: self.why().await,
        }
    }

    /// The end of a step on a machine that is gone.
    async fn lost(&self) -> StepEnd {
        let because = format!("the machine {} is lost: {}", self.name, self.why().await);
        let advice = "look at that machine, then resume the run";
        StepEnd::failed(StepFault::Host, because, advice)
    }

    /// What is known of a process that is gone.
    async fn why(&self) -> String {
        let status = timeout(Duration::from_secs(5), async {
            self.process.lock().await.wait().await
        });
        let status = match status.await {
            Ok(Ok(status)) => format!("{} ended with {status}", self.launcher),
            _ => format!("{} closed its output", self.launcher),
        };
        let errors: Vec<String> = lock(&self.errors)
            .iter()
            .map(|line| format!("\n  | {line}"))
            .collect();
        format!("{status}{}", errors.concat())
    }

    /// Whether its process has closed its output.
    fn is_lost(&self) -> bool {
        let replies = self.replies.try_lock();
        replies.is_ok_and(|replies| replies.is_closed())
    }

    async fn clean(&self, words: &[String]) {
        let Ok(process) = self.launcher.start(&self.name, words) else {
            return;
        };
        let _ = timeout(END, process.wait_with_output()).await;
    }

    /// Waits until its process has ended, but not for ever.
    async fn gone(&self) {
        let mut process = self.process.lock().await;
        if timeout(END, process.wait()).await.is_err() {
            let _ = process.start_kill();
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Reads what one machine says.
struct Reader {
    node: String,
    failures: Failures,
    events: Arc<Mutex<Vec<Event>>>,
    replies: UnboundedSender<Reply>,
}

impl Reader {
    async fn read(self, output: impl AsyncRead + Unpin) {
        let mut lines = BufReader::new(output).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            // A login shell may print something of its own.
            let Ok(reply) = serde_json::from_str(&line) else {
                continue;
            };
            match reply {
                Reply::ServiceFailed { step, end } => {
                    self.failures.add(step, named(&self.node, end));
                }
                Reply::Event(event) if matches!(event.what, What::Warning { .. }) => {
                    let node = self.node.clone();
                    lock(&self.events).push(Event { node, ..event });
                }
                Reply::Event(_) => {}
                reply => {
                    let _ = self.replies.send(reply);
                }
            }
        }
        let because = format!("the machine {} is lost: its process ended", self.node);
        self.failures.lose(StepEnd::failed(
            StepFault::Host,
            because,
            "look at that machine, then resume the run",
        ));
    }
}

async fn write(mut input: ChildStdin, mut orders: UnboundedReceiver<Order>) {
    while let Some(order) = orders.recv().await {
        let Ok(mut line) = serde_json::to_vec(&order) else {
            continue;
        };
        line.push(b'\n');
        let is_last = matches!(order, Order::Leave { .. });
        if input.write_all(&line).await.is_err() || input.flush().await.is_err() || is_last {
            // Closes the other side's input: it waits for its end.
            return;
        }
    }
}

async fn keep_last(output: ChildStderr, errors: Arc<Mutex<VecDeque<String>>>) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let mut errors = lock(&errors);
        errors.push_back(sanitize(&line).into_owned());
        if errors.len() > LAST_LINES {
            errors.pop_front();
        }
    }
}

/// A failure with the machine's name.
fn named(node: &str, mut end: StepEnd) -> StepEnd {
    if let StepEnd::Failed { because, .. } = &mut end {
        *because = format!("on {node}: {because}");
    }
    end
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
