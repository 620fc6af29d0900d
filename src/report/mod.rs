//! Finished models to text: nothing is judged here, and nothing is written.

pub mod catalogue;
pub mod checks;
pub mod export;
pub mod human;
pub mod progress;
pub mod terminal;
pub mod tree;
