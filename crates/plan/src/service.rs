//! Services in a plan: a step starts one and waits until it is ready, a later one stops it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::exec::ExecStep;
use retrial_container::ContainerSpec;
use retrial_document::measures::format;
use retrial_recipe::model::{ReadyWhen, StopSignal};

/// The start of a service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServiceStep {
    /// Its key in the recipe.
    pub service: String,
    /// Its command; the time limit is that of its readiness.
    pub command: ExecStep,
    /// The condition of its readiness.
    pub ready: ReadyWhen,
    pub stop: StopPolicy,
    /// Its own container; none: it runs in the recipe's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_container: Option<ContainerSpec>,
}

/// How a service is stopped. The recipe's `StopRule` has the time as people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopPolicy {
    /// The signal to all its processes.
    pub signal: StopSignal,
    /// The time after which they are killed, seconds.
    pub timeout_s: u64,
}

/// The stop of a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopStep {
    /// Its key in the recipe.
    pub service: String,
    /// The number of the step that started it.
    pub of: u32,
    /// The signal, and the time until the processes are killed.
    pub stop: StopPolicy,
}

impl StopPolicy {
    /// How commands are stopped that are no services.
    pub const OF_COMMANDS: Self = Self { signal: StopSignal::Term, timeout_s: 10 };
}

/// `TERM, KILL after 60 s`
impl fmt::Display for StopPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = format::format_time_limit(self.timeout_s);
        match self.signal {
            StopSignal::Kill => write!(formatter, "{}", self.signal),
            signal => write!(formatter, "{signal}, KILL after {limit}"),
        }
    }
}

impl ServiceStep {
    /// The condition of readiness, as a fragment: `http://localhost:8000/health answers`.
    pub fn describe_readiness(&self) -> String {
        match &self.ready {
            ReadyWhen::Log(pattern) => format!("its output matches '{pattern}'"),
            ReadyWhen::Port(port) => format!("something listens on port {port}"),
            ReadyWhen::Http(url) => format!("{url} answers"),
            ReadyWhen::Command(command) => format!("`{}` succeeds", command.0.trim()),
        }
    }
}

/// Queries the URL `$0` with a program of the image: exits with 0 if it responds with a status below 400, with
/// 127 if there is no such program.
pub const HTTP_PROBE_SCRIPT: &str = r#"if command -v curl >/dev/null 2>&1; then exec curl -fsS -m 5 -o /dev/null "$0"; fi
if command -v wget >/dev/null 2>&1; then exec wget -q -T 5 -O /dev/null "$0"; fi
case $0 in http://*) ;; *) exit 127 ;; esac
command -v bash >/dev/null 2>&1 || exit 127
exec bash -c 'rest=${0#http://}; server=${rest%%/*}; path=${rest#"$server"}; port=80
case $server in *:*) port=${server##*:} ;; esac
exec 3<>"/dev/tcp/${server%:*}/$port" || exit 1
printf "GET %s HTTP/1.0\r\nHost: %s\r\n\r\n" "${path:-/}" "$server" >&3
read -r -t 5 protocol status rest <&3 && [ "${status:-999}" -lt 400 ]' "$0" 2>/dev/null"#;

/// Exits with 0 if a process listens on the port `$0`.
pub const PORT_PROBE_SCRIPT: &str =
    r#"grep -qs ":$(printf %04X "$0") [0-9A-F]*:0000 0A" /proc/net/tcp /proc/net/tcp6"#;
