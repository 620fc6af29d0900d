//! Durations, sizes, rates and counts: read as people write them, and formatted as people read them. Values of
//! figures are formatted by `retrial-readings`.

pub mod format;
mod read;

pub use read::{parse_duration, parse_fraction, parse_size};
