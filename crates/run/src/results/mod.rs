//! Results of a run: copied out of the container, restored in another one, shown and judged. What they mean is
//! decided by `retrial_results` alone.

pub mod collect;
pub mod judge;
mod restore;
pub mod trial_figures;

pub use restore::restore_results;
