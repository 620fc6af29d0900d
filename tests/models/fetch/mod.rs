//! Models of the hub, against a hub of the project's own: what arrives, what a user reads where it
//! does not, and that no wrong byte is ever taken.
#![expect(clippy::unwrap_used, reason = "tests")]

mod access;
mod disk;
mod faults;
mod offline;
mod processes;
mod python;
mod scene;
mod whole;
mod xet;
