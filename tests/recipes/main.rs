//! Recipes, batches and hosts: what is read, planned, listed and refused, without running anything.

mod batch;
mod batch_claims;
mod catalog;
mod choices;
mod completion;
mod configuration;
mod doctor;
mod failure_signs;
mod fuzz_seeds;
mod guides;
mod hostile;
mod hosts;
mod images;
mod library_releases;
mod list;
mod new_asked;
mod new_made;
mod onnxruntime;
mod onnxruntime_images;
mod published;
mod rocm;
mod schema;
mod serving_curve;
mod variants;

#[path = "../support/mod.rs"]
mod support;
