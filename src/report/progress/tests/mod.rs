//! What the tests of progress share.

pub(crate) mod script;
