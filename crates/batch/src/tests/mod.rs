//! What tests of batches share, and those of the batch as a whole.

pub mod build;

#[cfg(test)]
pub(crate) mod cells;
