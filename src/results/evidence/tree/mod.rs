//! Whole submission trees of `MLPerf Inference`, or any folder of one.
//!
//! ```text
//! directory ──find──▶ benchmarks with their places ──gather──▶ evidence ──judge──▶ verdicts
//!            (names)   (a place is one scenario)      (files)             (pure)
//! ```
//!
//! [`find`](find::find) looks at names of folders only; [`gather`](gather::gather) reads the files of
//! one place and shares nothing with the others, so that places may be read side by side.

mod accuracy;
mod compliance;
mod endpoint;
mod files;
pub mod find;
pub mod frame;
pub mod gather;
mod inferred;
pub mod judge;
mod layout;
mod names;
mod performance;
mod place;
mod power;
pub mod published;
mod required;
mod round;
mod system;

pub use find::{Fault, Found, find};
pub use frame::Frame;
pub use judge::{Judged, judge};
pub use layout::is_test;
pub use place::{Benchmark, Part, Place, Submitter};
pub use published::Published;
pub use round::of_tree as round_of;
