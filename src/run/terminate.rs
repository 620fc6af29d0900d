//! Ends the processes of a step: TERM, wait, KILL. The engine has no call for it, so a script does it
//! where the step runs; in the container as root.

use std::time::Duration;

use tokio::time::Instant;

use super::control::StepControl;
use super::session::Session;
use super::target::Target;
use crate::plan::step::Step;

/// How long a process may take to end after TERM.
const TERM_GRACE: Duration = Duration::from_secs(10);

/// Ends a running step, and what it leaves.
pub async fn terminate_step(
    session: &Session,
    step: &Step,
    control: &StepControl,
    target: &Target,
) {
    for signal in ["TERM", "KILL"] {
        if target.signal(session, step, signal).await.is_none() {
            // The engine or the container is gone: there is nothing to wait for.
            return;
        }
        let until = Instant::now() + TERM_GRACE;
        while Instant::now() < until {
            if control.exit().is_some() {
                terminate_leftovers(session, step, target).await;
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Ends the processes that a step left running.
pub async fn terminate_leftovers(session: &Session, step: &Step, target: &Target) {
    let until = Instant::now() + TERM_GRACE;
    let mut pause = Duration::from_millis(20);
    for signal in ["TERM", "KILL"] {
        loop {
            match target.signal(session, step, signal).await.as_deref() {
                None | Some("") => return,
                Some(_) => {}
            }
            if Instant::now() > until {
                break;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }
}

/// What is known of a step whose exec is not known to run.
pub struct Probe {
    /// Its own shell runs.
    pub alive: bool,
    /// Processes that the kernel killed for memory so far, if it says.
    pub oom_kills: Option<u64>,
}

/// Looks whether a step's own shell runs. None if nobody answers.
pub async fn probe(session: &Session, step: &Step, target: &Target) -> Option<Probe> {
    let output = target.script(session, step, "probe", &[]).await?;
    let count = |line: &str| line.strip_prefix("oom ")?.trim().parse().ok();
    Some(Probe {
        alive: output.lines().any(|line| line == "alive"),
        oom_kills: output.lines().find_map(count),
    })
}
