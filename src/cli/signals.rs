//! SIGINT and SIGTERM stop the run cleanly, a second one leaves at once; SIGHUP lets it go on
//! without its terminal.

use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::terminal;
use crate::journal::What;
use crate::runner::Session;
use crate::verdict::ExitCode;

/// Heeds signals until it is aborted.
pub async fn heed(session: Arc<Session>) {
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
                let resume = format!("retrial logs -f {id}, or after a reboot: retrial resume {id}", id = session.run.id());
                let _ = session.say(None, What::Detached { resume });
                continue;
            }
        }
        if told {
            terminal::note(&format!(
                "leaving at once: the container ends at its deadline; remove it now with `retrial clean {}`",
                session.run.id()
            ));
            std::process::exit(ExitCode::Interrupted.code().into());
        }
        told = true;
        let text =
            "stopping: the benchmark is ended, its evidence kept; once more to leave at once"
                .to_owned();
        let _ = session.say(None, What::Warning { text });
        session.stop.cancel();
    }
}

async fn received(stream: &mut Signal) {
    stream.recv().await;
}
