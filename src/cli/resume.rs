//! `retrial resume`: go on with a run that was interrupted, killed or detached.

use super::arguments::Global;
use super::failure::Failure;
use super::{open, supervise};
use crate::verdict::ExitCode;

/// Takes up a run.
pub fn resume(
    global: &Global,
    run: &str,
    require_accuracy: bool,
    in_background: bool,
) -> Result<ExitCode, Failure> {
    if in_background {
        // Away from the terminal: its hangup is not ours. Fails only for a group leader.
        let _ = rustix::process::setsid();
    }
    let home = open::home(global);
    let directory = home.find(run)?;
    // Trust was asked for when a run of this home began; a plan from elsewhere may ask for anything.
    let runs = home.runs().canonicalize().unwrap_or_else(|_| home.runs());
    if !directory.path().starts_with(&runs) {
        return Err(Failure::usage(format!(
            "{} is no run of {}\n  if it began on this machine: retrial --home DIR resume {}",
            directory.path().display(),
            home.root().display(),
            directory.id()
        )));
    }
    supervise::runtime()?.block_on(async {
        let engine = open::engine(global).await?;
        supervise::follow(global, engine, directory, require_accuracy).await
    })
}
