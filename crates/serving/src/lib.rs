//! What clients of LLM servers write of a load: figures by one name each, and checks of the numbers against each other.
//!
//! Pure: texts in, values out. Whether a figure is as published is not decided here.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod checks;
mod client;
mod layout;
mod point;

pub use checks::{LoadCheck, LoadOutcome, LoadRule};
pub use client::Client;
pub use layout::{ClientFigure, LoadOfCall};
pub use point::{AnswerLengths, LoadPoint, OutputError};
