//! The `retrial` program: parse, dispatch, exit code.

fn main() {}
