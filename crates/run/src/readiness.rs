//! Waits until a service is ready: by its output, by its port, by an address, or by a command. All probes but
//! the output's run in the service's container, where addresses mean what the recipe says.

use std::fs::File;
use std::future::Future;
use std::io::Read;
use std::pin::Pin;
use std::time::Duration;

use regex::Regex;
use tokio::time::{sleep, timeout};

use super::control::mark;
use super::follow::Meanwhile;
use super::output;
use super::step_session::StepSession;
use super::target::StepCommand;
use retrial_engine::api::ExecSpec;
use retrial_plan::service::{PROBE_HTTP, PROBE_PORT, ServiceStep};
use retrial_plan::shell::inline;
use retrial_readings::lines::LineSplitter;
use retrial_recipe::model::ReadyWhen;
use retrial_store::journal::{StepEnd, StepFault};

/// The interval between probes.
const PAUSE: Duration = Duration::from_millis(500);
/// The interval between reads of the output.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// The timeout of one probe of an address or a port.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of output read at once.
const BLOCK: u64 = 256 << 10;

/// Waits for a service's readiness.
pub struct Readiness<'a> {
    service: &'a ServiceStep,
    ready: Pin<Box<dyn Future<Output = Result<(), StepEnd>> + Send + 'a>>,
}

impl<'a> Readiness<'a> {
    /// Of a service that was started.
    pub fn new(service: &'a ServiceStep, command: &'a StepCommand<'a>) -> Result<Self, StepEnd> {
        let ready = &service.ready;
        if let ReadyWhen::Log(pattern) = ready {
            let pattern = Regex::new(pattern).map_err(|error| {
                StepEnd::failed(StepFault::Request, error.to_string(), "correct `ready.log`")
            })?;
            let ready = Box::pin(until_printed(&command.session, pattern));
            return Ok(Self { service, ready });
        }
        let ready = Box::pin(async move {
            while !answers(service, command).await? {
                sleep(PAUSE).await;
            }
            Ok(())
        });
        Ok(Self { service, ready })
    }
}

impl Meanwhile for Readiness<'_> {
    type Outcome = ();

    async fn outcome(&mut self) -> Result<(), StepEnd> {
        self.ready.as_mut().await
    }

    fn late(&self, end: StepEnd) -> StepEnd {
        let StepEnd::Failed {
            fault: fault @ StepFault::Timeout,
            ..
        } = end
        else {
            return end;
        };
        let service = self.service;
        let reason = format!(
            "the service {} was not ready within {}: waited until {}",
            service.service,
            retrial_format::limit(service.command.timeout_s),
            service.readiness()
        );
        let advice = "read its output; allow more time with `ready.timeout:` in the recipe";
        StepEnd::failed(fault, reason, advice)
    }

    fn failed(&self, end: StepEnd) -> StepEnd {
        end.reworded(|reason| format!("the service {} failed: {reason}", self.service.service))
    }
}

/// Waits for a line of the step's output.
async fn until_printed(session: &StepSession<'_>, pattern: Regex) -> Result<(), StepEnd> {
    let mut file: Option<File> = None;
    let mut splitter = LineSplitter::new();
    let mut block = Vec::new();
    loop {
        file = file.or_else(|| output::open_output(session).ok());
        block.clear();
        let read = file
            .as_mut()
            .and_then(|file| file.take(BLOCK).read_to_end(&mut block).ok());
        let mut found = false;
        splitter.push(&block, |line| found |= pattern.is_match(&line.text));
        if found {
            return Ok(());
        }
        if read.is_none_or(|read| read == 0) {
            sleep(CHECK_INTERVAL).await;
        } else {
            // Much output must not delay the handling of signals.
            tokio::task::yield_now().await;
        }
    }
}

/// Whether the service is ready now.
///
/// # Errors
/// If the image has no program for the probe.
pub async fn answers(service: &ServiceStep, command: &StepCommand<'_>) -> Result<bool, StepEnd> {
    let (script, target) = match &service.ready {
        ReadyWhen::Log(_) => return Ok(false),
        ReadyWhen::Port(port) => (PROBE_PORT, port.to_string()),
        ReadyWhen::Http(url) => (PROBE_HTTP, url.0.clone()),
        ReadyWhen::Command(ready) => {
            let mut spec = command.spec();
            spec.command = inline(command.exec.shell.as_deref(), &ready.0);
            return Ok(exit_code(command, &spec).await == Some(0));
        }
    };
    let mut spec = ExecSpec::as_root(["/bin/sh", "-c", script, &target]);
    let session = &command.session;
    spec.env.push(mark(&session.run, session.step));
    let code = timeout(PROBE_TIMEOUT, exit_code(command, &spec)).await;
    if code == Ok(Some(127)) {
        let reason = format!("the image has no curl, wget or bash that could query {target}");
        let advice = "write `ready: {port: …}`, `{log: …}` or `{command: …}` in the recipe";
        return Err(StepEnd::failed(StepFault::Request, reason, advice));
    }
    Ok(code == Ok(Some(0)))
}

async fn exit_code(command: &StepCommand<'_>, spec: &ExecSpec) -> Option<i64> {
    let container = command.container.as_ref()?;
    let output = command.session.engine.exec(container, spec).await.ok()?;
    Some(output.code)
}
