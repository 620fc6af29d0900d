//! `doctor` on several machines: each examines itself, and they are compared as before a run. Nothing of a
//! run is executed on any of them.

mod collect;
mod machine;
mod multi_node;

pub use machine::{answer_examination, check_host};
pub use multi_node::{examine_nodes, examine_site};
