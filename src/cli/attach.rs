//! `retrial attach`: shows a run or a batch that another process executes.

use super::{batch, judge};
use crate::app::failure::Failure;
use crate::app::open::{self, RunOrBatch};
use crate::app::options::GlobalOptions;
use crate::app::own_record::Own;
use crate::app::{attach, batch::record::BatchRecord, site};
use retrial_cluster::job::record::is_submitted;
use retrial_results::verdict::ExitCode;

/// Shows a run or a batch until it ends, and prints its verdict; of one that nobody executes, its evidence so far.
pub fn attach_to(global: &GlobalOptions, name: &str) -> Result<ExitCode, Failure> {
    match open::find_run_or_batch(&global.home, name)? {
        RunOrBatch::Run(run) => {
            if is_submitted(&run) && !run.read_state()?.is_judged() {
                let run = Own::require_run(&global.home, run)?;
                return site::resume_run(global, &run, false, false);
            }
            if run.read_state()?.is_judged() {
                attach::note_without_follower(global, run.record());
            } else {
                attach::show_run(global, &run);
            }
            judge::judge_one_run(global, &run, false)
        }
        RunOrBatch::Batch(directory) => {
            let record: BatchRecord = directory.read_json("batch.json")?;
            if record.site.is_some() {
                let batch = Own::require_batch(&global.home, directory)?;
                return batch::resume_batch(global, &batch, false);
            }
            attach::show_batch(global, &directory, &record.plan);
            batch::judge_evidence_so_far(global, &directory)
        }
    }
}
