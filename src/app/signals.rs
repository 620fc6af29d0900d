//! SIGINT and SIGTERM stop a run or a batch cleanly, a second one leaves at once; SIGHUP detaches
//! it from its terminal.

use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::app::terminal;
use crate::results::verdict::ExitCode;
use crate::run::Session;
use crate::store::journal::What;

/// Reacts to signals.
pub trait SignalTarget: Send + Sync + 'static {
    /// Stops it cleanly.
    fn stop(&self);
    /// Records that its terminal is gone.
    fn hung_up(&self);
    /// Explains what is left when the process exits at once.
    fn leaving(&self) -> String;
}

impl SignalTarget for Arc<Session> {
    fn stop(&self) {
        let text =
            "stopping: the benchmark is ended, its evidence kept; once more to leave at once"
                .to_owned();
        let _ = self.say(None, What::Warning { text });
        self.stop.cancel();
    }

    fn hung_up(&self) {
        let resume = format!(
            "retrial logs -f {id}, or after a reboot: retrial resume {id}",
            id = self.run.id()
        );
        let _ = self.say(None, What::Detached { resume });
    }

    fn leaving(&self) -> String {
        format!(
            "leaving at once: the container ends at its deadline; remove it now with `retrial clean {}`",
            self.run.id()
        )
    }
}

/// Handles signals until it is aborted.
pub async fn handle_signals(subject: impl SignalTarget) {
    let streams = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
    );
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) = streams else {
        return;
    };
    let mut told = false;
    loop {
        tokio::select! {
            () = received(&mut interrupt) => {}
            () = received(&mut terminate) => {}
            () = received(&mut hangup) => {
                subject.hung_up();
                continue;
            }
        }
        if told {
            terminal::note(&subject.leaving());
            std::process::exit(ExitCode::Interrupted.code().into());
        }
        told = true;
        subject.stop();
    }
}

async fn received(stream: &mut Signal) {
    stream.recv().await;
}
