//! What the benches share: pairs of timings, and the world that they run in.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "each bench uses its part of it; counts are small"
)]

pub mod paired;
pub mod world;
