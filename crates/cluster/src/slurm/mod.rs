//! Slurm's programs: sbatch, squeue, sacct, scancel, scontrol and srun, called as a user would call them.
//!
//! Only fixed fields are read (`squeue -h -o`, `sacct -n -P -o`): the JSON of older releases has no filter and
//! other types. Error messages are passed on and never parsed.

mod error;
mod program;
mod rows;

pub use error::SlurmError;
pub use program::{Slurm, current_job_nodes, current_node, query_max_array_size, start_on_nodes};
pub use rows::{Job, JobPhase};
