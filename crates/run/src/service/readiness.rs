//! Waits until a service is ready: by its output, by its port, by an address, or by a command. All probes but
//! the output's run in the service's container, where the recipe's addresses are valid.

use std::fs::File;
use std::future::Future;
use std::io::Read;
use std::pin::{Pin, pin};
use std::time::{Duration, Instant};

use regex::Regex;
use tokio::time::{sleep, timeout};

use crate::control::step_mark;
use crate::step::{StepCommand, StepObserver, StepSession, output};
use retrial_document::ErrorText;
use retrial_document::measures::format;
use retrial_engine::api::{Engine, ExecSpec};
use retrial_plan::service::{HTTP_PROBE_SCRIPT, PORT_PROBE_SCRIPT, ServiceStep};
use retrial_plan::shell::inline_command;
use retrial_readings::lines::LineSplitter;
use retrial_recipe::model::ReadyWhen;
use retrial_store::journal::{StepEnd, StepFault};

const PROBE_INTERVAL: Duration = Duration::from_millis(500);
/// The interval between reads of the output.
const OUTPUT_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// The timeout of one probe of an address or a port.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest single wait, unless this process was stopped: the files of a step are looked at far more often.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// Bytes of output read at once.
const READ_BLOCK_BYTES: u64 = 256 << 10;

/// Ends when a service is ready.
type ReadyFuture<'a> = Pin<Box<dyn Future<Output = Result<(), StepEnd>> + Send + 'a>>;

/// Waits for a service's readiness.
pub struct Readiness<'a> {
    service: &'a ServiceStep,
    /// The time for which this process has waited for it.
    polled_time: Duration,
    /// The time for which this process was stopped meanwhile.
    blind_time: Duration,
    ready: ReadyFuture<'a>,
}

impl<'a> Readiness<'a> {
    /// Returns the condition of a service that was started.
    pub fn new(service: &'a ServiceStep, command: &'a StepCommand<'a>) -> Result<Self, StepEnd> {
        let ready = &service.ready;
        if let ReadyWhen::Log(pattern) = ready {
            let pattern = Regex::new(pattern).map_err(|error| {
                StepEnd::failure(StepFault::Request, error.to_string(), "correct `ready.log`")
            })?;
            let ready = Box::pin(wait_for_line(&command.session, pattern));
            return Ok(Self::with_future(service, ready));
        }
        let ready = Box::pin(async move {
            while !is_ready(service, command).await? {
                sleep(PROBE_INTERVAL).await;
            }
            Ok(())
        });
        Ok(Self::with_future(service, ready))
    }

    fn with_future(service: &'a ServiceStep, ready: ReadyFuture<'a>) -> Self {
        Self { service, polled_time: Duration::ZERO, blind_time: Duration::ZERO, ready }
    }
}

impl StepObserver for Readiness<'_> {
    type EarlyResult = ();

    async fn wait_for_outcome(&mut self) -> Result<(), StepEnd> {
        let _polling = PollTimer {
            started_at: Instant::now(),
            polled_time: &mut self.polled_time,
            blind_time: &mut self.blind_time,
        };
        self.ready.as_mut().await
    }

    /// Returns whether it was waited for as long as one probe may take.
    fn may_time_out(&self) -> bool {
        let limit = Duration::from_secs(self.service.command.timeout_s);
        self.polled_time >= limit.min(PROBE_TIMEOUT)
    }

    fn blind_time(&self) -> Duration {
        self.blind_time
    }

    fn on_timeout(&self, end: StepEnd) -> StepEnd {
        let StepEnd::Failed { fault: fault @ StepFault::Timeout, .. } = end else {
            return end;
        };
        let service = self.service;
        let reason = format!(
            "the service {} was not ready within {}: waited until {}",
            service.service,
            format::format_time_limit(service.command.timeout_s),
            service.describe_readiness()
        );
        let advice = "read its output; allow more time with `ready.timeout:` in the recipe";
        StepEnd::failure(fault, reason, advice)
    }

    fn on_failure(&self, end: StepEnd) -> StepEnd {
        end.map_reason(|reason| format!("the service {} failed: {reason}", self.service.service))
    }
}

/// Counts the time until it is dropped.
struct PollTimer<'a> {
    started_at: Instant,
    polled_time: &'a mut Duration,
    blind_time: &'a mut Duration,
}

impl Drop for PollTimer<'_> {
    fn drop(&mut self) {
        let waited = self.started_at.elapsed();
        let polled = waited.min(MAX_WAIT);
        *self.polled_time += polled;
        *self.blind_time += waited.saturating_sub(polled);
    }
}

/// Waits for a line of the step's output.
async fn wait_for_line(session: &StepSession<'_>, pattern: Regex) -> Result<(), StepEnd> {
    let mut file: Option<File> = None;
    let mut splitter = LineSplitter::new();
    let mut block = Vec::new();
    loop {
        file = file.or_else(|| output::open_output(session).ok());
        block.clear();
        let read =
            file.as_mut().and_then(|file| file.take(READ_BLOCK_BYTES).read_to_end(&mut block).ok());
        let mut found = false;
        splitter.push(&block, |line| found |= pattern.is_match(&line.text));
        if found {
            return Ok(());
        }
        if read.is_none_or(|read| read == 0) {
            sleep(OUTPUT_CHECK_INTERVAL).await;
        } else {
            // Much output must not delay the handling of signals.
            tokio::task::yield_now().await;
        }
    }
}

/// Returns whether the service is ready now.
///
/// # Errors
/// If the image has no program for the probe, or the engine is unavailable for too long.
pub async fn is_ready(service: &ServiceStep, command: &StepCommand<'_>) -> Result<bool, StepEnd> {
    let (script, target) = match &service.ready {
        ReadyWhen::Log(_) => return Ok(false),
        ReadyWhen::Port(port) => (PORT_PROBE_SCRIPT, port.to_string()),
        ReadyWhen::Http(url) => (HTTP_PROBE_SCRIPT, url.0.clone()),
        ReadyWhen::Command(ready) => {
            let mut spec = command.exec_spec();
            spec.command = inline_command(command.exec.shell.as_deref(), &ready.0);
            return Ok(run_probe(command, &spec, false).await? == Some(0));
        }
    };
    let mut spec = ExecSpec::as_root(["/bin/sh", "-c", script, &target]);
    let session = &command.session;
    spec.env.push(step_mark(&session.run_session.run, session.step));
    let code = run_probe(command, &spec, true).await?;
    if code == Some(127) {
        let reason = format!("the image has no curl, wget or bash that could query {target}");
        let advice = "write `ready: {port: …}`, `{log: …}` or `{command: …}` in the recipe";
        return Err(StepEnd::failure(StepFault::Request, reason, advice));
    }
    Ok(code == Some(0))
}

/// Returns the exit code of a probe; none if it exceeds its timeout and `is_limited`, or cannot run.
async fn run_probe(
    command: &StepCommand<'_>,
    spec: &ExecSpec,
    is_limited: bool,
) -> Result<Option<i64>, StepEnd> {
    let Some(container) = &command.container else {
        return Ok(None);
    };
    let session = &command.session;
    let probe = async |engine: &dyn Engine| {
        let mut probe = pin!(engine.exec_attached(container, spec));
        loop {
            match timeout(PROBE_TIMEOUT, &mut probe).await {
                Ok(output) => return output.map(|output| Some(output.code)),
                // The service hangs, or the engine.
                Err(_) => {
                    session
                        .run_session
                        .engine
                        .call_once(|engine| engine.inspect_container(container))
                        .await?
                }
            };
            if is_limited {
                return Ok(None);
            }
        }
    };
    match session.with_engine(probe).await {
        Ok(code) => Ok(code),
        Err(error) if error.is_unavailable() => Err(StepEnd::host_failure(ErrorText::of(&error))),
        Err(_) => Ok(None),
    }
}
