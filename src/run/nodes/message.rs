//! What the head and the other machines tell each other: one JSON object a line.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::store::journal::{Event, StepEnd};
use retrial_recipe::expression::NodeScope;

/// What the head tells a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum Order {
    /// Say what time it is.
    Clock,
    /// Check this machine, and be ready for steps. The first one besides.
    Begin(Box<Begin>),
    /// Execute a step.
    Execute {
        /// Its number.
        step: u32,
    },
    /// Record telemetry from here on: a step measures that this machine does not execute.
    Watch {
        /// Its number.
        step: u32,
    },
    /// The step that is watched has ended.
    Unwatch {
        /// Its number.
        step: u32,
    },
    /// End a step: another machine failed.
    Fail {
        /// Its number.
        step: u32,
        /// How it ended there.
        end: StepEnd,
    },
    /// End what is running: the run is stopped.
    Stop,
    /// Leave: the run has ended.
    Leave {
        /// Leave the containers as they are.
        keep: bool,
    },
}

/// What a machine must know before its first step.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// What expressions know of it.
    pub scope: NodeScope,
    /// Values of the secrets, by name.
    pub secrets: BTreeMap<String, String>,
    /// Go on even if it does not meet the recipe's requirements.
    pub force: bool,
    /// No other job of this user is on it: containers of earlier ones are removed.
    pub alone: bool,
    /// What becomes of its containers if the head is gone.
    pub on_disconnect: OnDisconnect,
    /// How long its engine may be away when it is needed.
    pub patience: Duration,
}

/// Without the secrets' values.
impl std::fmt::Debug for Begin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Begin");
        shown.field("scope", &self.scope).finish_non_exhaustive()
    }
}

/// What a machine does if the head is gone without a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnDisconnect {
    /// Leaves what is running for a head that resumes the run.
    Continue,
    /// Ends it, and removes its containers: the allocation is over.
    Teardown,
}

/// What a machine tells the head.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// What it is. The first one, without an order.
    Facts(Box<Facts>),
    /// What time it is there.
    Clock {
        /// Its clock.
        time: Timestamp,
    },
    /// It does not meet the requirements: one line for each check.
    Refused {
        /// What is missing, and what to do.
        lines: Vec<String>,
    },
    /// It is ready for steps.
    Ready {
        /// The run's containers live there.
        containers_live: bool,
    },
    /// Something happened there.
    Event(Event),
    /// A step that it executed or watched ended.
    Ended {
        /// Its number.
        step: u32,
        /// How.
        end: StepEnd,
        /// The image, if the step was to get one.
        image: Option<LocalImage>,
    },
    /// A service ended by itself.
    ServiceFailed {
        /// The step that started it.
        step: u32,
        /// How.
        end: StepEnd,
    },
}

/// An image as a machine's engine has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalImage {
    /// Its id.
    pub id: String,
    /// Registries' digests of it: `repository@sha256:…`
    pub digests: Vec<String>,
}

/// What a machine is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The tool's version there.
    pub tool: String,
    /// The content of the run's nonce there, if it has the run's directory.
    pub nonce: Option<String>,
    /// Its usable GPUs.
    pub gpus: u32,
    /// Their models, each once.
    pub models: Vec<String>,
    /// The version of their driver.
    pub driver: Option<String>,
    /// The version of ROCm on the host.
    pub rocm: Option<String>,
}
