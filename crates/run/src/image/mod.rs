//! The image: pulled or built, and files copied out of it. No container of it measures here (`container`).

pub mod copy_out;
mod provide;

pub use provide::{build_image, pull_image};
