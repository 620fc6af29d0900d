//! Whole submission trees of `MLPerf Training`, or any folder of one:
//! `SUBMITTER/results/SYSTEM/BENCHMARK/result_0.txt`, one log for each run, and
//! `SUBMITTER/systems/SYSTEM.json`. The logs of a benchmark on a system are one result.
//!
//! `find` looks at names only; `judge` reads the logs of one result and shares nothing with the
//! others, so that results may be read side by side.

mod find;
mod judge;
mod round;
mod system;

pub use find::{TrainingResult, TrainingTrees, find_training_trees};
pub use judge::{
    JudgedTraining, TRAINING_SCENARIO, TrainingContext, gather_evidence, judge_training_result,
};
pub use round::find_round;
