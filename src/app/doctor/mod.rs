//! `doctor` on several machines: each examines itself, and they are compared as before a run. Nothing of a
//! run is executed on any of them.

mod collect;
mod machine;
mod multi_node;

pub use machine::{examine, look};
pub use multi_node::{nodes, site};
