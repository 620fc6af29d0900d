//! Models of a hub: fetched by the library, and shared with Hugging Face's own client.

mod fetch;
mod python;

#[path = "../hub/mod.rs"]
mod hub;
#[path = "../support/mod.rs"]
mod support;
