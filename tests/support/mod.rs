//! Shared by the tests: what they need of the machine, and what they are run on.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "each group of tests uses its part of it"
)]

pub mod cluster;
pub mod copy;
pub mod corpus;
pub mod json_schema;
pub mod lab;
pub mod needs;
pub mod planted;
pub mod remedy;
pub mod terminal;
pub mod wait;
