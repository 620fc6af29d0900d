//! The settings that every command may have besides its text.

use std::time::Duration;

use retrial_document::{
    ByteUnits, FieldType as T, Key, Keys, OrderedMap, object, select_keys, with_types,
};
use serde::{Deserialize, Serialize};

use super::failure::{FailurePattern, ProgressRule};
use crate::expression::{MEASUREMENT_SCOPE, RUN_SCOPE, Template};
use crate::formats;

/// `needs`: the services that a command needs.
pub(super) const NEEDS_TYPE: T = T::List(&T::Text(formats::FILLED), 1);

object! {
    /// The settings that every command may have besides its text.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct CommandOptions: "a command";
    keys {
        /// The longest that it may take.
        timeout: Option<Duration>,
        /// The longest that it may go without output. Offline is silent for over an hour.
        silence: Option<Duration>,
        /// The most that it may print; 4 GiB unless stated.
        max_log: Option<u64> = T::Size(ByteUnits::Precise),
        /// Environment variables of this command.
        env: OrderedMap<Template> = T::Map(formats::VARIABLE, &T::Scalar(RUN_SCOPE)),
        /// The working directory in the container.
        workdir: Option<Template> = T::Template(RUN_SCOPE, formats::ABSOLUTE_PATH),
        /// The user of the command, a name or a number, with `:group` if need be.
        user: Option<String> = T::Text(formats::FILLED),
        /// The shell of the command, for example `[bash, -ilc]` for one that reads .bashrc. None: bash with pipefail, else sh.
        shell: Option<Vec<String>> = T::List(&T::Text(formats::FILLED), 1),
        /// Regular expressions: a line of the output that matches one fails the command at once. `[]` disables those of the recipe.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fail_on: Option<Vec<FailurePattern>>,
        /// The least progress that it makes: it fails after `within` without a line that matches `pattern`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        progress: Option<ProgressRule>,
        /// The longest that a child process may be dead (ended by an error or a signal) without being collected by its parent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dead_child: Option<Duration>,
        /// The longest that a child process with GPUs of its own may be missing while its parent and those of other GPUs run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missing_child: Option<Duration>,
    }
}

/// A step that is not measured has no limit of its silence, and ends by its exit code.
pub(super) const SETUP_OPTIONS: &[Key] =
    &select_keys(CommandOptions::KEYS, ["timeout", "max_log", "env", "workdir", "user", "shell"]);

/// A service has limits of its own: `ready.timeout` and `stop.timeout`.
pub(super) const SERVICE_OPTIONS: &[Key] = &select_keys(
    CommandOptions::KEYS,
    [
        "max_log",
        "env",
        "workdir",
        "user",
        "shell",
        "fail_on",
        "progress",
        "dead_child",
        "missing_child",
    ],
);

/// A measured command may name its scenario, mode and trial.
pub(super) const MEASURED_OPTIONS: &[Key] = &with_types::<{ CommandOptions::KEYS.len() }>(
    CommandOptions::KEYS,
    &[
        ("env", T::Map(formats::VARIABLE, &T::Scalar(MEASUREMENT_SCOPE))),
        ("workdir", T::Template(MEASUREMENT_SCOPE, formats::ABSOLUTE_PATH)),
    ],
);
