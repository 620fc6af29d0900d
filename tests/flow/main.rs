//! Whole runs: the real program, a real engine, and what can happen to a run on its way.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

#[path = "../hub/mod.rs"]
mod hub;
mod lab;
#[path = "../support/mod.rs"]
mod support;

mod approval;
mod batch;
mod bystanders;
mod cached;
mod causes;
mod changed;
mod ci;
mod command_line;
mod compared;
mod detached;
mod disk;
mod engine_away;
mod engines;
mod examined;
mod failing;
mod fake;
mod faults;
mod fetch;
mod figures;
mod happy;
mod host;
mod images;
mod killed;
mod locked;
mod logged;
mod mcp;
mod models;
mod notify;
mod other_image;
mod programs;
mod races;
mod random;
mod rechecked;
mod rejudged;
mod results;
mod rocm;
mod services;
mod shared_home;
mod shared_host;
mod signs;
mod stopped;
mod training;
mod trust;
mod watching;
