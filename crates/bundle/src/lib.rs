//! The evidence of one run in one archive, which somebody else can verify: its content, its statement and its
//! signatures. Pure except for readers and writers that are passed in; the application handles keys and files.
//!
//! ```text
//! RUN.tar.zst
//!   head  a zstd frame of uncompressed blocks   manifest.json             sizes and SHA-256 of every file, and of the body
//!                                               statement.json            in-toto: the result; its subject is the manifest
//!                                               statement.json.sig        SSHSIG of the statement
//!                                               statement.dsse.json       DSSE envelope of the statement
//!   body  a zstd frame                          RUN/…                     the files of the manifest, in its order
//! ```
//!
//! The signature covers the statement, the statement the manifest, the manifest the body. Each
//! part has a unique encoding and any other is refused, so that no byte of an archive can be changed.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod allowed_signers;
pub mod blocks;
pub mod body;
pub mod canonical;
pub mod comparison;
pub mod differences;
pub mod envelope;
pub mod error;
pub mod hashing;
pub mod head;
pub mod manifest;
pub mod signature;
pub mod statement;
pub mod stored;
pub mod verification;

pub use error::BundleError;
pub use head::BundleHead;
pub use manifest::{BundleManifest, FileEntry, SizedDigest};
