//! A run under way, as text: events in, lines out. Pure: time comes with the events, and writing
//! to a terminal is `app::watch`'s.
//!
//! - [`sentence`]: what one event says, in lines; the plain reporter's and the failures of all.
//! - [`plain`]: the lines of a run where no terminal is, pulls and builds thinned out.
//! - [`pull`]: layers, bytes, speed, time left.
//! - [`view`]: the live view: what has finished; `frame`: what goes on.

pub mod batch;
pub mod fit;
mod frame;
pub mod plain;
pub mod pull;
pub mod row;
pub mod sentence;
pub mod style;
pub mod view;

#[cfg(test)]
pub(crate) mod tests;
