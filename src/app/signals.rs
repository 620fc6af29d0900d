//! SIGINT and SIGTERM stop a run or a batch cleanly, a second one leaves at once; SIGHUP detaches
//! it from its terminal.

use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;

use crate::app::{site, terminal};
use retrial_results::verdict::ExitCode;
use retrial_run::Session;
use retrial_store::journal::EventKind;

/// The warning of a run or a batch that is stopped.
pub const STOPPING: &str =
    "stopping the benchmark and keeping its evidence; a second signal exits immediately";

/// Reacts to signals.
pub trait SignalTarget: Send + Sync + 'static {
    /// Stops it cleanly.
    fn stop(&self);
    /// Records that it lost its terminal.
    fn hung_up(&self);
    /// The command that removes what is left when the process exits at once.
    fn cleanup(&self) -> String;
    /// Returns whether a second signal has it exit at once: in a job, a scheduler may send each process one.
    fn is_at_a_terminal(&self) -> bool {
        true
    }
}

impl SignalTarget for Arc<Session> {
    fn stop(&self) {
        let text = STOPPING.to_owned();
        let _ = self.record(EventKind::Warning { text });
        self.stop.cancel();
    }

    fn hung_up(&self) {
        let resume = format!(
            "retrial logs -f {id}, or after a reboot: retrial resume {id}",
            id = self.run.id()
        );
        let _ = self.record(EventKind::Detached { resume });
    }

    fn cleanup(&self) -> String {
        format!("retrial clean {}", self.run.id())
    }

    fn is_at_a_terminal(&self) -> bool {
        !site::is_submitted(&self.run)
    }
}

/// Handles signals until it is aborted. Handlers are installed when this returns, before the task first runs:
/// otherwise a signal in between would end the process.
pub fn handle_signals(subject: impl SignalTarget) -> JoinHandle<()> {
    let streams = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
    );
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) = streams else {
        return tokio::spawn(async {});
    };
    tokio::spawn(async move {
        let mut is_stopping = false;
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                _ = hangup.recv() => {
                    subject.hung_up();
                    continue;
                }
            }
            if is_stopping && !subject.is_at_a_terminal() {
                continue;
            }
            if is_stopping {
                terminal::note(&format!(
                    "exiting at once: the container ends at its deadline; remove it now with `{}`",
                    subject.cleanup()
                ));
                std::process::exit(ExitCode::Interrupted.code().into());
            }
            is_stopping = true;
            subject.stop();
        }
    })
}
