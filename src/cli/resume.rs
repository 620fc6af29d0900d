//! `retrial resume`: continues a run or a batch that was interrupted, killed or detached.

use std::path::Path;

use super::arguments::ResumeArguments;
use super::{batch, judge};
use crate::app::failure::Failure;
use crate::app::open::{self, RunOrBatch};
use crate::app::options::GlobalOptions;
use crate::app::{batch as app_batch, follow, recheck, runtime, site};
use retrial_results::verdict::ExitCode;
use retrial_store::{Home, RecordDirectory};

/// Resumes a run or a batch; the verdict of one that is complete is printed again.
pub fn resume(global: &GlobalOptions, arguments: &ResumeArguments) -> Result<ExitCode, Failure> {
    let (in_job, require_accuracy) = (arguments.in_job, arguments.require_accuracy);
    if arguments.in_background {
        // Detach from the terminal, whose hangup must not end this process. Fails only for a group leader.
        let _ = rustix::process::setsid();
    }
    let home = &global.home;
    let directory = match open::run_or_batch(home, &arguments.run)? {
        RunOrBatch::Run(directory) => directory,
        RunOrBatch::Batch(directory) => {
            check_home(&directory, &home.batches_directory(), "batch", home)?;
            if arguments.from.is_some() {
                return Err(Failure::usage(
                    "--from names a check of a run, and this is a batch",
                ));
            }
            if let Some(array) = arguments.array {
                return app_batch::array::execute(global, &directory, array);
            }
            return batch::resume(global, &directory);
        }
    };
    check_home(&directory, &home.runs_directory(), "run", home)?;
    if !in_job {
        open::check_not_imported(&directory)?;
    }
    if let Some(check) = &arguments.from {
        recheck::reset(&directory, check)?;
    }
    let state = directory.read_state()?;
    if state.is_judged() {
        return judge::one_run(global, &directory, require_accuracy);
    }
    if !in_job && site::is_submitted(&directory) {
        return site::resume(global, &directory, require_accuracy);
    }
    let run = directory.clone();
    let follow = || {
        runtime::runtime()?.block_on(async {
            let engine = open::engine(global).await?;
            follow::follow(global, engine, directory, require_accuracy).await
        })
    };
    if !in_job {
        return follow();
    }
    let ended = site::node::prepare(global, &run).and_then(|()| follow());
    if let Err(failure) = &ended {
        site::node::record_failure(&run, failure)?;
    }
    ended
}

/// Refuses records of other homes: privileges were approved when a run of this home started, and a
/// plan from elsewhere may need any.
fn check_home(
    record: &RecordDirectory,
    parent: &Path,
    kind: &str,
    home: &Home,
) -> Result<(), Failure> {
    let parent = parent.canonicalize().unwrap_or_else(|_| parent.to_owned());
    let path = record.path().canonicalize();
    if path.is_ok_and(|path| path.starts_with(&parent)) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} is not a {kind} of {}",
        record.path().display(),
        home.root().display()
    ))
    .with_help(format!(
        "if it started on this machine: retrial --home DIR resume {}",
        record.id()
    )))
}
