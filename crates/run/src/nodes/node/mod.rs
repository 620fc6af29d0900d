//! One other machine, as the head sees it: our process there, its replies, and its exit.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use itertools::join;
use jiff::Timestamp;
use thiserror::Error;
use tokio::io::AsyncRead;
use tokio::process::{Child, ChildStderr};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::message::MAX_MESSAGE_BYTES;
use super::{
    AgentReply, AgentRequest, Launcher, LimitedLine, LineReader, MachineFacts, NodeFailures,
    write_messages,
};
use crate::mutex::lock;
use retrial_document::ErrorText;
use retrial_document::measures::format;
use retrial_engine::api::ImageInfo;
use retrial_readings::sanitize;
use retrial_store::journal::{Event, EventKind, StepEnd, StepFault};

#[cfg(test)]
mod tests;

/// The longest time that a machine may take to start our process, and to report its facts.
const START_TIMEOUT: Duration = Duration::from_mins(2);
/// The longest time that it may take to check itself.
const PREFLIGHT_TIMEOUT: Duration = Duration::from_mins(5);
/// The longest time that it may take to end remaining processes.
const END_TIMEOUT: Duration = Duration::from_secs(40);
/// The longest wait for the last output of a process.
const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_secs(2);
/// The last lines of a launcher's errors that are shown.
const MAX_ERROR_LINES: usize = 5;
/// The bytes that a machine may print which are no replies: a login shell has a banner.
const MAX_FOREIGN_BYTES: usize = 1 << 20;
/// The bytes of each that are shown.
const MAX_SHOWN_BYTES: usize = 500;
const REPLY_PREFIX: &[u8] = br#"{"reply":"#;

/// Why a run cannot start on a machine: our process could not be started there, has exited, or found unmet
/// requirements.
#[derive(Debug, Error)]
#[error("{node}: {}", error.message)]
pub struct NodeError {
    /// The name of the machine.
    pub node: String,
    /// The reason and the fix.
    pub error: ErrorText,
}

/// Data from the other machines, until the run reads it.
#[derive(Debug, Default)]
pub(super) struct PeerMailbox {
    /// Events for the run's journal.
    pub(super) events: Vec<Event>,
    /// The images of the last step, by machine.
    pub(super) images: BTreeMap<String, ImageInfo>,
}

/// The process of this run on another machine.
pub(super) struct PeerNode {
    name: String,
    launcher: Launcher,
    orders: UnboundedSender<AgentRequest>,
    replies: tokio::sync::Mutex<UnboundedReceiver<AgentReply>>,
    errors: Arc<Mutex<VecDeque<String>>>,
    process: tokio::sync::Mutex<Child>,
    tasks: Vec<JoinHandle<()>>,
}

impl PeerNode {
    /// Follows the process that was started there.
    pub(super) fn new(
        name: &str,
        launcher: Launcher,
        mut process: Child,
        failures: &NodeFailures,
        mailbox: &Arc<Mutex<PeerMailbox>>,
    ) -> Self {
        let (orders, incoming) = unbounded_channel();
        let (outgoing, replies) = unbounded_channel();
        let errors: Arc<Mutex<VecDeque<String>>> = Arc::default();
        let mut tasks = Vec::new();
        if let Some(input) = process.stdin.take() {
            // Closes the other side's input: it waits for its end.
            let is_last = |order: &AgentRequest| matches!(order, AgentRequest::Leave { .. });
            tasks.push(tokio::spawn(write_messages(input, incoming, is_last)));
        }
        let (all_read, read) = oneshot::channel();
        if let Some(output) = process.stderr.take() {
            let reader = collect_last_lines(output, Arc::clone(&errors), all_read);
            tasks.push(tokio::spawn(reader));
        }
        if let Some(output) = process.stdout.take() {
            let reader = ReplyReader {
                node: name.to_owned(),
                failures: failures.clone(),
                mailbox: Arc::clone(mailbox),
                replies: outgoing,
                errors: Arc::clone(&errors),
            };
            tasks.push(tokio::spawn(reader.read_replies(output, read)));
        }
        Self {
            name: name.to_owned(),
            launcher,
            orders,
            replies: tokio::sync::Mutex::new(replies),
            errors,
            process: tokio::sync::Mutex::new(process),
            tasks,
        }
    }

    /// Sends an order. A lost machine is detected when replies are read.
    pub(super) fn send_order(&self, order: AgentRequest) {
        // Fails only once the process is lost.
        let _ = self.orders.send(order);
    }

    pub(super) async fn wait_for_step_end(&self, step: u32) -> StepEnd {
        let reply = self.wait_for_reply(|reply| match reply {
            AgentReply::Ended { step: ended, end, .. } if ended == step => Some(end),
            _ => None,
        });
        match reply.await {
            Some(end) => with_machine_name(&self.name, end),
            None => lost_machine_end(&self.name, &self.exit_reason().await),
        }
    }

    pub(super) async fn query_facts(&self) -> Result<MachineFacts, NodeError> {
        let facts = |reply| match reply {
            AgentReply::Facts(facts) => Some(*facts),
            _ => None,
        };
        self.wait_for_reply_within(facts, "start retrial there", START_TIMEOUT).await
    }

    /// How far its clock is ahead of this one, seconds. The round trip explains a part of the difference: only
    /// the rest counts.
    pub(super) async fn query_clock_lead(&self) -> Result<f64, NodeError> {
        let sent = Timestamp::now();
        self.send_order(AgentRequest::Clock);
        let clock = |reply| match reply {
            AgentReply::Clock { time } => Some(clock_lead_s(time, sent, Timestamp::now())),
            _ => None,
        };
        self.wait_for_reply_within(clock, "report its time", START_TIMEOUT).await
    }

    /// Returns whether the run's containers are alive there.
    pub(super) async fn wait_until_ready(&self) -> Result<bool, NodeError> {
        let ready = |reply| match reply {
            AgentReply::Ready { containers_live } => Some(Ok(containers_live)),
            AgentReply::Refused { error } => Some(Err(error)),
            _ => None,
        };
        let ready = self.wait_for_reply_within(ready, "check itself", PREFLIGHT_TIMEOUT).await?;
        ready.map_err(|reason| self.new_error(reason))
    }

    /// Returns the first selected reply, which must arrive within the limit.
    async fn wait_for_reply_within<T>(
        &self,
        select: impl FnMut(AgentReply) -> Option<T>,
        doing: &str,
        limit: Duration,
    ) -> Result<T, NodeError> {
        let reason = match timeout(limit, self.wait_for_reply(select)).await {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) => self.exit_reason().await,
            Err(_) => {
                let limit = format::format_time_limit(limit.as_secs());
                format!("it did not {doing} within {limit}")
            }
        };
        Err(self.new_error(reason.into()))
    }

    fn new_error(&self, error: ErrorText) -> NodeError {
        let node = self.name.clone();
        NodeError { node, error }
    }

    /// Returns the first selected reply. None if the process there has exited.
    async fn wait_for_reply<T>(
        &self,
        mut select: impl FnMut(AgentReply) -> Option<T>,
    ) -> Option<T> {
        let mut replies = self.replies.lock().await;
        loop {
            if let Some(answer) = select(replies.recv().await?) {
                return Some(answer);
            }
        }
    }

    /// Describes how the process exited.
    async fn exit_reason(&self) -> String {
        let status =
            timeout(Duration::from_secs(5), async { self.process.lock().await.wait().await });
        let status = match status.await {
            Ok(Ok(status)) => format!("{} ended with {status}", self.launcher),
            _ => format!("{} closed its output", self.launcher),
        };
        let last_lines = lock(&self.errors);
        let printed = last_lines.iter().map(|line| format!("; {line}"));
        format!("{status}{}", printed.collect::<String>())
    }

    /// Returns whether its process has closed its output.
    pub(super) fn is_lost(&self) -> bool {
        let replies = self.replies.try_lock();
        replies.is_ok_and(|replies| replies.is_closed())
    }

    pub(super) async fn remove_containers(&self, words: &[String]) {
        let Ok(process) = self.launcher.start_process(&self.name, words) else {
            return;
        };
        let output = timeout(END_TIMEOUT, process.wait_with_output()).await;
        // Containers that are left end at their deadline.
        tracing::debug!(node = self.name, ?output, "removed the containers of a machine");
    }

    /// Waits until its process has exited, and kills it after a timeout.
    pub(super) async fn wait_for_exit(&self) {
        let mut process = self.process.lock().await;
        if timeout(END_TIMEOUT, process.wait()).await.is_err() {
            // It may have ended meanwhile.
            let _ = process.start_kill();
        }
    }
}

impl Drop for PeerNode {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// Reads the replies of one machine.
struct ReplyReader {
    node: String,
    failures: NodeFailures,
    mailbox: Arc<Mutex<PeerMailbox>>,
    replies: UnboundedSender<AgentReply>,
    errors: Arc<Mutex<VecDeque<String>>>,
}

impl ReplyReader {
    async fn read_replies(
        self,
        output: impl AsyncRead + Unpin,
        errors_read: oneshot::Receiver<()>,
    ) {
        let mut lines = LineReader::new(output, MAX_MESSAGE_BYTES);
        let mut foreign_bytes = 0;
        while let Some(line) = lines.next_line().await {
            let Some(reply) = parse_reply(line.as_bytes()) else {
                foreign_bytes += line.as_bytes().len() + 1;
                push_line(&self.errors, &line);
                if foreign_bytes > MAX_FOREIGN_BYTES {
                    let limit = format::format_bytes(MAX_FOREIGN_BYTES as u64);
                    let fault = format!("it printed more than {limit} that is no reply");
                    push_line(&self.errors, &LimitedLine::Complete(fault.into_bytes()));
                    break;
                }
                continue;
            };
            match reply {
                AgentReply::ServiceFailed { step, end } => {
                    self.failures.add(step, with_machine_name(&self.node, end));
                }
                AgentReply::Event(event)
                    if matches!(
                        event.what,
                        EventKind::Warning { .. } | EventKind::Incident { .. }
                    ) =>
                {
                    let node = self.node.clone();
                    lock(&self.mailbox).events.push(Event { node, ..event });
                }
                AgentReply::Event(_) => {}
                mut reply => {
                    if let AgentReply::Ended { image, .. } = &mut reply
                        && let Some(image) = image.take()
                    {
                        let node = self.node.clone();
                        lock(&self.mailbox).images.insert(node, image);
                    }
                    // The run may have ended without waiting for it.
                    let _ = self.replies.send(reply);
                }
            }
        }
        // Its last output may still be in transit.
        let _ = timeout(LAST_OUTPUT_TIMEOUT, errors_read).await;
        let reason = match join(&*lock(&self.errors), "; ") {
            none if none.is_empty() => "its process ended".to_owned(),
            errors => format!("its process ended: {errors}"),
        };
        tracing::debug!(node = self.node, reason, "the process on a machine ended");
        self.failures.record_lost_machine(lost_machine_end(&self.node, &reason));
    }
}

/// Keeps the last lines. `_until` is dropped after the last one.
async fn collect_last_lines(
    output: ChildStderr,
    errors: Arc<Mutex<VecDeque<String>>>,
    _until: oneshot::Sender<()>,
) {
    let mut lines = LineReader::new(output, MAX_SHOWN_BYTES);
    while let Some(line) = lines.next_line().await {
        push_line(&errors, &line);
    }
}

/// Keeps a line among the last ones.
fn push_line(errors: &Mutex<VecDeque<String>>, line: &LimitedLine) {
    let bytes = line.as_bytes();
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_SHOWN_BYTES)]);
    let mut errors = lock(errors);
    errors.push_back(sanitize(&shown).into_owned());
    if errors.len() > MAX_ERROR_LINES {
        errors.pop_front();
    }
}

/// The reply of a line. A login shell may print lines of its own, and a banner without a line's end precedes the
/// first reply.
fn parse_reply(line: &[u8]) -> Option<AgentReply> {
    let mut starts = line.windows(REPLY_PREFIX.len());
    let start = starts.position(|bytes| bytes == REPLY_PREFIX)?;
    serde_json::from_slice(&line[start..]).ok()
}

/// Returns the minimum lead of a clock that showed this time between request and response, seconds.
pub fn clock_lead_s(time: Timestamp, sent: Timestamp, received: Timestamp) -> f64 {
    let nearest = time.clamp(sent, received.max(sent));
    time.duration_since(nearest).as_secs_f64()
}

fn lost_machine_end(node: &str, reason: &str) -> StepEnd {
    let reason = format!("lost contact with the machine {node}: {reason}");
    let advice = "check that machine, then resume the run";
    StepEnd::failure(StepFault::Host, reason, advice)
}

fn with_machine_name(node: &str, end: StepEnd) -> StepEnd {
    end.map_reason(|reason| format!("on {node}: {reason}"))
}
