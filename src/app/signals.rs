//! SIGINT and SIGTERM stop a run or a batch cleanly, a second one leaves at once; SIGHUP detaches
//! it from its terminal.

use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::app::{site, terminal};
use retrial_results::verdict::ExitCode;
use retrial_run::Session;
use retrial_store::journal::EventKind;

/// The warning of a run or a batch that is stopped.
pub const STOPPING: &str =
    "stopping the benchmark and keeping its evidence; a second signal exits immediately";

/// The request of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalRequest {
    /// Stop.
    Stop,
    /// Detach: the terminal was closed.
    Detach,
}

/// The signals that are requests. They do not end the process from now on, even if this is dropped.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Listens from now on.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one. If the wait is abandoned, none is lost.
    pub async fn next(&mut self) -> SignalRequest {
        tokio::select! {
            _ = self.interrupt.recv() => SignalRequest::Stop,
            _ = self.terminate.recv() => SignalRequest::Stop,
            _ = self.hangup.recv() => SignalRequest::Detach,
        }
    }
}

/// A run or a batch that reacts to signals.
pub struct SignalTarget<F> {
    /// Records that it stops, or that it lost its terminal.
    pub record: F,
    /// Stops it cleanly.
    pub stop: CancellationToken,
    /// The command that removes what is left when the process exits at once.
    pub cleanup: String,
    /// A second signal has it exit at once: in a job, a scheduler may send each process one.
    pub is_at_a_terminal: bool,
}

/// A run that this process executes.
pub fn of_session(session: Arc<Session>) -> SignalTarget<impl Fn(SignalRequest)> {
    SignalTarget {
        stop: session.stop.clone(),
        cleanup: format!("retrial clean {}", session.run.id()),
        is_at_a_terminal: !site::is_submitted(&session.run),
        record: move |request| {
            let id = session.run.id();
            let _ = session.record(match request {
                SignalRequest::Stop => EventKind::Warning {
                    text: STOPPING.to_owned(),
                },
                SignalRequest::Detach => EventKind::Detached {
                    resume: format!("retrial logs -f {id}, or after a reboot: retrial resume {id}"),
                },
            });
        },
    }
}

/// Handles signals until it is aborted. Handlers are installed when this returns, before the task first runs:
/// otherwise a signal in between would end the process.
pub fn handle_signals(
    target: SignalTarget<impl Fn(SignalRequest) + Send + 'static>,
) -> JoinHandle<()> {
    let Ok(mut signals) = Signals::new() else {
        return tokio::spawn(async {});
    };
    tokio::spawn(async move {
        let mut is_stopping = false;
        loop {
            let request = signals.next().await;
            if request == SignalRequest::Detach {
                (target.record)(request);
                continue;
            }
            if is_stopping && !target.is_at_a_terminal {
                continue;
            }
            if is_stopping {
                terminal::note(&format!(
                    "exiting at once: the container ends at its deadline; remove it now with `{}`",
                    target.cleanup
                ));
                std::process::exit(ExitCode::Interrupted.code().into());
            }
            is_stopping = true;
            (target.record)(request);
            target.stop.cancel();
        }
    })
}
