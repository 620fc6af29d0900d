//! What the tests of progress share.

pub mod script;
