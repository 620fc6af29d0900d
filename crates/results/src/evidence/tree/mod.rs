//! Whole submission trees of `MLPerf Inference`, or any folder of one.
//!
//! ```text
//! directory ──find──▶ benchmarks with their places ──gather──▶ evidence ──judge──▶ verdicts
//!            (names)   (a place is one scenario)      (files)             (pure)
//! ```
//!
//! [`find`](find::find_submission_trees) looks at names of folders only; [`gather`](gather::gather_place) reads the files of
//! one place and shares nothing with the others, so that places may be read side by side.

pub mod accelerators;
mod compliance;
mod endpoint;
mod endpoint_audit;
pub(crate) mod files;
pub mod find;
pub mod gather;
mod inferred;
pub mod judge;
pub mod judge_context;
mod one_result;
mod performance;
pub(crate) mod position;
mod power;
pub mod published;
mod required;
mod round;
mod submission;
mod system;

pub use files::DescriptionError;
pub use find::{SubmissionTrees, TreeFault, find_submission_trees};
pub use judge::{JudgedBenchmark, judge_benchmark};
pub use judge_context::{JudgeContext, find_official_name};
pub use performance::published_figure;
pub use published::{PublishedFigures, PublishedResult};
pub use retrial_mlperf::submission_layout::ScenarioPart;
pub use round::{TreeRound, find_round_of_tree as round_of};
pub use submission::{ScenarioFolder, SubmittedBenchmark, Submitter};
pub use system::read_description;
