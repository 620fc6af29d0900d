//! `doctor` on several machines: each examines itself, and they are compared as before a run. Nothing of a
//! run is executed on any of them.

mod ask;
mod hear;
mod machine;

pub use ask::{nodes, site};
pub use machine::{examine, look};
