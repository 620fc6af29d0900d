//! A container engine: what is asked of it, what becomes of it, and the images that stand in for the vendors'.

mod edge;
mod entrypoint;
mod parity;
mod readme;
mod real;
mod registry;
mod restart;
mod shell_plan;
mod standins;
mod tags;

#[path = "../hub/mod.rs"]
mod hub;
#[path = "../support/mod.rs"]
mod support;
