//! The container engine behind one trait: Docker by bollard, and a fake for flows.

pub mod api;
pub mod error;
