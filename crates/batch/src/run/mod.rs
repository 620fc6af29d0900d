//! Executes a batch: each trial run of its schedule as an ordinary run.
//!
//! What a trial run is, how it ended, and in which run, is in the batch's journal before the next thing
//! begins; the run keeps its own. So a kill at any point loses nothing: a process that resumes the batch
//! reuses what ended, and resumes an interrupted run as `retrial resume` does.
//!
//! - `session`: the process that executes a batch: its lock, its plan and its journal.
//! - `batch_end`: how a process came to the end of the schedule.
//! - `execute`: the workers; each takes its trial runs one after the other.
//! - `cell_failure`: which failure of a run is its cell's own.
//! - `trial run`: one trial run: started, resumed, retried.
//! - `search`: the next trial run of a search, from what the earlier ones gave.
//! - `images`: pulled ahead.
//! - `removal`: images that the batch pulled are removed.
//! - `tasks`: parts of the batch on other machines, each with a journal of its own.

mod batch_end;
mod cell_failure;
mod evidence;
mod execute;
mod images;
mod removal;
mod run_maker;
mod search;
mod session;
mod tasks;
mod trial_run;
mod workers;

pub use batch_end::BatchEnd;
pub use evidence::evidence_of_cells;
pub use execute::execute_batch;
pub use run_maker::RunMaker;
pub use search::RunObservations;
pub use session::{BatchJob, BatchSession, Emitter, ProgressEvent};
pub use tasks::{read_journal, read_state, task_directory};
pub use workers::{WorkerQueues, assign_tasks, assign_workers};
