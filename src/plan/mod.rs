//! Recipe, choices and host to an ordered list of steps. Pure data: printed or executed.

pub mod container;
