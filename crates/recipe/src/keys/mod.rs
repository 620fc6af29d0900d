//! The top level of a recipe: keys that are not read into the model, reserved words, versions.

/// Keys that are reserved for a later release.
pub const RESERVED_KEYS: &[&str] = &["roles"];

/// Keys that only the top level of a file has.
pub const TOP_LEVEL_KEYS: &[&str] =
    &["schema", "extends", "variants", "default", "unsupported", "smoke_test"];

/// The newest schema that is understood.
pub const SCHEMA_VERSION: i64 = 1;
