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
    let directory = open::home(global).find(run)?;
    supervise::runtime()?.block_on(async {
        let engine = open::engine(global).await?;
        supervise::follow(global, engine, directory, require_accuracy).await
    })
}
