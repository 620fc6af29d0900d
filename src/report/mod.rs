//! Finished models to text: nothing is judged here, and nothing is written.

pub mod catalogue;
pub mod checks;
pub mod human;
pub mod junit;
pub mod markdown;
pub mod progress;
mod rows;
pub mod schema;
pub mod terminal;
mod words;
