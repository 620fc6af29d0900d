//! Ends the processes of a step: TERM, wait, KILL. The engine has no call for it, so a script
//! does it where the step runs; in the container as root.

use std::time::Duration;

use tokio::time::Instant;

use super::control::StepControl;
use super::place::Place;
use super::session::Session;
use crate::plan::step::Step;

/// How long a process may take to end after TERM.
const TERM_GRACE: Duration = Duration::from_secs(10);

/// Ends a running step, and what it leaves.
pub async fn end_step(session: &Session, step: &Step, control: &StepControl, place: &Place) {
    for signal in ["TERM", "KILL"] {
        if signal_step(session, step, place, signal).await.is_none() {
            // The engine or the container is gone: nobody to wait for.
            return;
        }
        let until = Instant::now() + TERM_GRACE;
        while Instant::now() < until {
            if control.exit().is_some() {
                end_left(session, step, place).await;
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Ends what a step left running.
pub async fn end_left(session: &Session, step: &Step, place: &Place) {
    let until = Instant::now() + TERM_GRACE;
    let mut signal = "TERM";
    let mut pause = Duration::from_millis(20);
    loop {
        let Some(left) = signal_step(session, step, place, signal).await else {
            return;
        };
        if left.is_empty() {
            return;
        }
        if Instant::now() > until {
            if signal == "KILL" {
                return;
            }
            signal = "KILL";
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(500));
    }
}

/// What the container's side says of a step whose exec is not known to run.
pub struct Look {
    /// Its own shell runs.
    pub alive: bool,
    /// Processes that the kernel killed for memory so far, where it says.
    pub oom_kills: Option<u64>,
}

/// Looks whether a step's own shell runs; none where nobody answers.
pub async fn look(session: &Session, step: &Step, place: &Place) -> Option<Look> {
    let output = place.script(session, step, "look", &[]).await?;
    let count = |line: &str| {
        line.strip_prefix("oom ")
            .and_then(|count| count.trim().parse().ok())
    };
    Some(Look {
        alive: output.lines().any(|line| line == "alive"),
        oom_kills: output.lines().find_map(count),
    })
}

/// Signals a step's processes; gives the names of those that were there.
async fn signal_step(
    session: &Session,
    step: &Step,
    place: &Place,
    signal: &str,
) -> Option<Vec<String>> {
    let output = place.script(session, step, "end", &[signal]).await?;
    Some(output.lines().map(str::to_owned).collect())
}

/// The variable by which a step's processes are known.
pub fn mark(session: &Session, step: &Step) -> (String, String) {
    (
        "RETRIAL_STEP".to_owned(),
        format!("{}/{}", session.run.id(), step.directory()),
    )
}
