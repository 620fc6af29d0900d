//! `ROCm`'s releases: their order, the one that an image's name states, what AMD lists for each, known issues.
//!
//! Pure: files and containers are read elsewhere.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod image_name;
mod installation;
mod known_issue;
mod listed_release;
mod range;
mod release;
mod table;

pub use image_name::{GpuFamily, release_in_name, target_family_in_name};
pub use installation::{
    Layout, PythonWheels, RocmEvidence, RocmInstallation, StatedRelease, VersionFile,
};
pub use known_issue::{KnownIssue, RecipeUse, Remedy};
pub use listed_release::{ListedRelease, framework_of_package};
pub use range::{InvalidRange, ReleaseRange};
pub use release::{InvalidRelease, RocmRelease, Stage};
pub use table::{InvalidTable, ReleaseTable, UnlistedRelease, is_version_of};
