//! The container engine behind one trait: Docker by bollard.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod api;
mod configuration;
mod connect;
mod credential_helper;
pub mod credentials;
pub mod docker;
pub mod endpoint;
pub mod error;
pub mod missing_image;
mod proxies;
pub mod tags;

pub use api::Engine;
pub use docker::DockerEngine;
pub use error::EngineError;
