//! Slurm's programs: sbatch, squeue, sacct and scancel, called as a user would call them.
//!
//! Only fixed fields are read (`squeue -h -o`, `sacct -n -P -o`): the JSON of older releases has no
//! filter and other types. What a program says of a failure is passed on and never read.

mod error;
mod program;
mod rows;

pub use error::SlurmError;
pub use program::{Slurm, nodes_of_job, start_on_nodes};
pub use rows::{AccountedJob, JobPhase, QueuedJob};
