//! `retrial resume`: continues a run or a batch that was interrupted, killed or detached.

use super::arguments::ResumeArguments;
use super::{batch, judge};
use crate::app::failure::Failure;
use crate::app::launch::background::{start_in_background, wait_for_predecessor};
use crate::app::launch::{check_paths_again, continue_run};
use crate::app::open;
use crate::app::options::GlobalOptions;
use crate::app::own_record::OwnRunOrBatch;
use crate::app::{batch as app_batch, recheck, site};
use retrial_cluster::job::record::is_submitted;
use retrial_results::verdict::ExitCode;
use retrial_store::error::RecordKind;

/// Resumes a run or a batch; the verdict of one that is complete is printed again.
pub fn resume_run_or_batch(
    global: &GlobalOptions,
    arguments: &ResumeArguments,
) -> Result<ExitCode, Failure> {
    let ResumeArguments { in_job, require_accuracy, detach, .. } = *arguments;
    if arguments.in_background {
        // Detach from the terminal, whose hangup must not end this process. Fails only for a group leader.
        let _ = rustix::process::setsid();
    }
    let home = &global.home;
    let directory = match OwnRunOrBatch::find(home, &arguments.run)? {
        OwnRunOrBatch::Run(directory) => directory,
        OwnRunOrBatch::Batch(directory) => {
            if arguments.in_background {
                wait_for_predecessor(&directory);
            }
            if arguments.from.is_some() {
                return Err(Failure::usage("--from names a check of a run, and this is a batch"));
            }
            if let Some(array) = arguments.array {
                return app_batch::array::execute_task(global, &directory, array);
            }
            return batch::resume_batch(global, &directory, detach);
        }
    };
    if arguments.in_background {
        wait_for_predecessor(directory.record());
    }
    if let Some(check) = &arguments.from {
        recheck::reset_check(&directory, check)?;
    }
    let state = directory.read_state()?;
    if state.is_judged() {
        return judge::judge_one_run(global, &directory, require_accuracy);
    }
    if !in_job && is_submitted(&directory) {
        return site::resume_run(global, &directory, require_accuracy, detach);
    }
    if !in_job {
        open::refuse_to_resume_elsewhere(directory.id(), &state)?;
        check_paths_again(global, &directory.read_json("plan.json")?)?;
    }
    if detach {
        return start_in_background(global, RecordKind::Run, directory.record());
    }
    let run = directory.clone();
    let proceed = || continue_run(global, directory, require_accuracy);
    if !in_job {
        return proceed();
    }
    let ended = site::node::prepare_on_node(global, &run).and_then(|()| proceed());
    if let Err(failure) = &ended {
        site::node::record_failure(&run, failure)?;
    }
    ended
}
