//! Messages between the head and the other machines: one JSON object a line.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::UnboundedReceiver;

use retrial_document::ErrorText;
use retrial_engine::api::ImageInfo;
use retrial_recipe::expression::NodeScope;
use retrial_store::journal::{Event, StepEnd};

/// The maximum size of a message, bytes.
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// A message from the head to a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum AgentRequest {
    /// Report the current time, to compare the clocks.
    Clock,
    /// Check this machine, and prepare for steps. The first order apart from `Clock`.
    Begin(Box<AgentSetup>),
    /// Execute a step of the plan.
    Execute { step: u32 },
    /// Record telemetry from here on: a step measures that this machine does not execute.
    Watch {
        /// The number of the measuring step.
        step: u32,
    },
    /// The watched step has ended.
    Unwatch {
        /// The number of the measuring step.
        step: u32,
    },
    /// End a step: another machine failed.
    Fail {
        /// The number of the step to end.
        step: u32,
        /// The step's end on that machine.
        end: StepEnd,
    },
    /// End running work: the run is stopped.
    Stop,
    /// Leave: the run has ended.
    Leave {
        /// Whether the containers are preserved.
        keep: bool,
    },
}

/// The data that a machine needs before its first step.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentSetup {
    /// The machine's values in expressions.
    pub scope: NodeScope,
    /// Values of the secrets, by name.
    pub secrets: BTreeMap<String, String>,
    /// Continue even if it does not meet the recipe's requirements.
    pub force: bool,
    /// The machine is allocated to this job only: containers of earlier jobs are removed.
    pub exclusive: bool,
    /// The action on its containers when the head disconnects.
    pub on_disconnect: OnDisconnect,
    /// The longest time for which its engine may be unavailable when it is needed.
    pub patience: Duration,
}

/// Omits the secrets' values.
impl std::fmt::Debug for AgentSetup {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("AgentSetup");
        shown.field("scope", &self.scope).finish_non_exhaustive()
    }
}

/// The action of a machine when the head disconnects without an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnDisconnect {
    /// Leaves processes running for a head that resumes the run.
    Continue,
    /// Ends the run's processes, and removes its containers: the allocation has ended.
    Teardown,
}

/// A message from a machine to the head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum AgentReply {
    /// The machine's facts. The first reply, without an order.
    Facts(Box<MachineFacts>),
    /// The current time there.
    Clock {
        /// The time on its wall clock.
        time: Timestamp,
    },
    /// It does not meet the requirements.
    Refused {
        /// The unmet requirements and their fix.
        error: ErrorText,
    },
    /// The machine is ready for steps.
    Ready {
        /// The run's containers live there.
        containers_live: bool,
    },
    /// A warning or an incident there, for the run's journal.
    Event(Event),
    /// A step that it executed or watched ended.
    Ended {
        step: u32,
        /// How the step ended on that machine.
        end: StepEnd,
        /// The image, if the step was to get one.
        image: Option<ImageInfo>,
    },
    /// A service ended by itself.
    ServiceFailed {
        /// The step that started it.
        step: u32,
        /// Why the service ended.
        end: StepEnd,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineFacts {
    /// The tool's version there.
    pub tool: String,
    /// The content of the run's nonce there, if it has the run's directory.
    pub nonce: Option<String>,
    /// The number of its usable GPUs.
    pub gpus: u32,
    /// The models of these GPUs, each once.
    pub models: Vec<String>,
    /// The version of their driver.
    pub driver: Option<String>,
    /// The version of ROCm on the host.
    pub rocm: Option<String>,
}

/// Writes messages, a line each, until there are no more, one of them is the last, or nobody reads them.
pub async fn write_messages<T: Serialize>(
    mut output: impl AsyncWrite + Unpin,
    mut messages: UnboundedReceiver<T>,
    is_last_message: impl Fn(&T) -> bool,
) {
    while let Some(message) = messages.recv().await {
        let Ok(mut line) = serde_json::to_vec(&message) else {
            continue;
        };
        line.push(b'\n');
        let is_last = is_last_message(&message);
        if output.write_all(&line).await.is_err() || output.flush().await.is_err() || is_last {
            return;
        }
    }
}
