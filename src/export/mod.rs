//! Runs as a submission in `MLCommons`' layout: which files it has, with which contents, and what it
//! still lacks. Pure: `evidence::exported` reads the runs, `store::submission` writes the tree.
//!
//! ```text
//! runs + who submits + a round's rules ──build──▶ files, missing, broken
//! ```
//!
//! Nothing is invented. What no run knows (cooling, data types of the weights) comes from the
//! submitter's own file, or is named as missing; one trial stands for a result, by a rule that
//! does not look for the best.

mod build;
mod choose;
mod conf;
mod gather;
mod info;
mod lacking;
mod layout;
mod model;
mod names;
pub mod read;
mod readme;
mod result;
mod system;
pub mod write;

pub use build::build;
pub use info::Info;
pub use model::{
    Broken, Content, Division, Export, ExportRequest, Exported, File, FoundResult, Missing, Origin,
    Printed, Refusal, RunRead,
};
