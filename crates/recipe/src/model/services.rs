//! Services: long-lived commands that measurements need.

use retrial_document::{Field, FieldType as T, Keys, Node, Word, declare_word, object, words};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use retrial_container::ExtraFlags;

use super::command::{CommandOptions, SERVICE_OPTIONS};
use super::container::Container;
use super::image::Image;
use super::nodes::Placement;
use crate::expression::{RUN_SCOPE, Template};
use crate::formats;

object! {
    /// A long-lived command that measurements need: an inference server.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Service: "a service", last SERVICE_OPTIONS;
    fields {
        /// Environment, limits and other settings of the command.
        #[serde(flatten)]
        options: CommandOptions = CommandOptions::from_keys,
    }
    keys {
        /// The command, which stays in the foreground.
        run: Template [required],
        /// The condition under which the measurement may start.
        ready: ReadyRule [required],
        /// The signal and the time limit of the stop.
        stop: StopRule,
        /// The machines on which it runs.
        on: Placement [default = "head"],
        /// The lifetime: one trial, one point of a sweep, or the run.
        scope: ServiceScope [default = "trial"],
        /// `same`, or a container of its own, which shares the network of the recipe's.
        #[serde(rename = "container")]
        own_container: Option<ServiceContainer> [key = "container", read = read_own_container] = T::Either(&[T::Words(SAME_CONTAINER), ServiceContainer::TYPE]),
    }
}

const SAME_CONTAINER: &[Word] = &[declare_word("same", "The recipe's own container.")];

#[expect(clippy::option_option, reason = "a reader of an optional value")]
fn read_own_container(node: &Node) -> Option<Option<ServiceContainer>> {
    match node.text() {
        Some(_) => Some(None),
        None => ServiceContainer::from_keys(node).map(Some),
    }
}

object! {
    /// The container of one service.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct ServiceContainer: "a service's container", first Container::KEYS, last ExtraFlags::KEYS;
    fields {
        /// Flags, mounts and environment, as those of the recipe's container.
        #[serde(flatten)]
        flags: Container = Container::from_keys,
    }
    keys {
        /// The image; none: the recipe's.
        image: Option<Image>,
    }
}

words! {
    /// How long a service lives.
    #[derive(Default, JsonSchema)]
    pub enum ServiceScope {
        /// A fresh one is started for each trial.
        #[default]
        Trial = "trial",
        /// A fresh one is started for each measurement, and for each point of a sweep; its trials share it.
        Point = "point",
        /// It is started before the first measurement that needs it, and stopped after the last.
        Run = "run",
    }
}

object! {
    /// How a service is stopped.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub struct StopRule: "a stop rule";
    keys {
        /// The signal that all its processes are sent.
        signal: StopSignal [default = "TERM"],
        /// The time until they are killed.
        timeout: Duration [default = "60s"],
    }
}

impl Default for StopRule {
    fn default() -> Self {
        Self { signal: StopSignal::Term, timeout: Duration::from_mins(1) }
    }
}

words! {
    /// A signal that asks a program to end.
    #[derive(Default, JsonSchema)]
    pub enum StopSignal {
        /// Terminate.
        #[default]
        Term = "TERM",
        /// Interrupt, as Ctrl-C does.
        Int = "INT",
        /// Quit.
        Quit = "QUIT",
        /// Hang up.
        Hup = "HUP",
        /// Kill at once.
        Kill = "KILL",
    }
}

/// The condition under which a service is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadyRule {
    pub when: ReadyWhen,
    /// The longest that the service may take to be ready.
    pub timeout: Duration,
}

/// The sign by which a service is ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadyWhen {
    /// A line of its output matches this pattern.
    Log(String),
    /// Something listens on this port, TCP.
    Port(u16),
    /// This address answers with a status below 400.
    Http(Template),
    /// This command succeeds, run in the service's container.
    Command(Template),
}

object! {
    /// When a service is ready, as a recipe has it.
    pub struct WrittenReady: "a readiness condition", one of "log", "port", "http", "command";
    keys {
        /// A regular expression that a line of its output matches.
        log: Option<String> = T::Text(retrial_readings::formats::REGEX),
        /// A TCP port on which something listens.
        port: Option<u16> = T::Integer(1, 65_535),
        /// An address that answers with a status below 400: http://localhost:8000/health
        http: Option<Template> = T::Template(RUN_SCOPE, formats::HTTP_ADDRESS),
        /// A command that succeeds, run in the service's container.
        command: Option<Template>,
        /// The longest that the service may take to be ready.
        timeout: Duration [default = "10m"],
    }
}

impl Field for ReadyRule {
    const TYPE: T = WrittenReady::TYPE;

    fn from_node(node: &Node, _: &T) -> Option<Self> {
        let written = WrittenReady::from_keys(node)?;
        let log = written.log.map(ReadyWhen::Log);
        let when = log
            .or_else(|| written.port.map(ReadyWhen::Port))
            .or_else(|| written.http.map(ReadyWhen::Http))
            .or_else(|| written.command.map(ReadyWhen::Command))?;
        Some(Self { when, timeout: written.timeout })
    }
}

/// Keys that a service's container does not have: its network is that of the recipe's container.
pub const SHARED_NETWORK_KEYS: [&str; 4] = ["network", "hostname", "dns", "add_host"];
