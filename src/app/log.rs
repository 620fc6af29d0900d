//! The log of this process, for whoever looks for a fault: requests to the engine, the hub and Slurm, and the states
//! of steps. It goes to standard error, or for an agent into its part of a run's directory, without secrets, and only
//! if it was asked for.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use thiserror::Error;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::app::terminal;
use retrial_engine::api::RegistryAuth;
use retrial_engine::credentials::observe_credentials;
use retrial_hub::HubSettings;
use retrial_run::{hide_in_log, redact_log_text};

/// What is logged, as directives of `tracing_subscriber::EnvFilter`; a level alone is that of all crates of Retrial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFilter(String);

/// A text that is neither a level nor directives.
#[derive(Debug, Error)]
#[error("expected error, warn, info, debug, trace, off, or directives such as `retrial_hub=trace`")]
pub struct InvalidLogFilter;

impl FromStr for LogFilter {
    type Err = InvalidLogFilter;

    fn from_str(text: &str) -> Result<Self, InvalidLogFilter> {
        let is_level = |part: &str| !part.is_empty() && LevelFilter::from_str(part).is_ok();
        let directives = match text {
            "" => "off".to_owned(),
            // The names of all our crates begin so.
            level if is_level(level) => format!("retrial={level}"),
            directives => directives.to_owned(),
        };
        let is_directive = |part: &str| part.contains('=') || is_level(part);
        let is_valid = directives.split(',').all(is_directive);
        (is_valid && EnvFilter::builder().parse(&directives).is_ok())
            .then_some(Self(directives))
            .ok_or(InvalidLogFilter)
    }
}

impl fmt::Display for LogFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Logs to standard error from here on.
pub fn start_log(filter: &LogFilter) {
    log_to(filter, LogWriter(None));
}

/// Logs into this file from here on; not at all if it cannot be written, which its command reports as well.
pub fn start_log_file(filter: &LogFilter, path: &Path) {
    if let Ok(file) = OpenOptions::new().create(true).append(true).open(path) {
        log_to(filter, LogWriter(Some(Arc::new(file))));
    }
}

fn log_to(filter: &LogFilter, writer: LogWriter) {
    let Ok(env_filter) = EnvFilter::builder().parse(&filter.0) else {
        return;
    };
    if env_filter.max_level_hint() == Some(LevelFilter::OFF) {
        return;
    }
    observe_credentials(hide_credentials);
    // Wrong settings are reported by the command that needs the hub.
    let hub = HubSettings::from_environment().ok();
    if let Some(token) = hub.and_then(|settings| settings.token) {
        hide_in_log("token of the hub", token.secret_value());
    }
    let log = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_env_filter(env_filter)
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(move || writer.clone());
    // Only a second log of one process fails.
    let _ = log.finish().try_init();
}

fn hide_credentials(auth: &RegistryAuth) {
    for secret in [&auth.password, &auth.identity_token].into_iter().flatten() {
        hide_in_log("registry credentials", secret);
    }
}

/// Writes each event, which arrives in one piece, without secrets: into a file, else to standard error.
#[derive(Clone)]
struct LogWriter(Option<Arc<File>>);

impl io::Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let safe_text = redact_log_text(text.trim_end());
        match &self.0 {
            Some(file) => (&**file).write_all(format!("{safe_text}\n").as_bytes())?,
            None => terminal::print_note(&safe_text),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("debug", true)]
    #[case("OFF", true)]
    #[case("", true)]
    #[case("retrial_hub=trace,retrial_engine=debug", true)]
    #[case("info,hyper=debug", true)]
    #[case("loud", false)]
    #[case("retrial_hub=loud", false)]
    fn a_filter_is_a_level_or_directives(#[case] text: &str, #[case] is_valid: bool) {
        assert_eq!(text.parse::<LogFilter>().is_ok(), is_valid);
    }

    #[test]
    fn a_log_in_a_file_has_no_secrets() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("agent.log");
        let secret = "hf_aB3dE5gH7jK9mN1pQ";
        hide_in_log("TOKEN", secret);
        let mut writer = LogWriter(Some(Arc::new(File::create(&path).unwrap())));
        writer.write_all(format!("sent {secret}").as_bytes()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "sent [TOKEN]\n");
    }

    #[test]
    fn a_level_applies_to_our_crates() {
        let filter: LogFilter = "debug".parse().unwrap();
        assert_eq!(filter.to_string(), "retrial=debug");
        // As it is handed to a process in the background.
        assert_eq!(filter.to_string().parse::<LogFilter>().unwrap(), filter);
    }
}
