//! The `retrial` program: parse, dispatch, exit code.

use std::process::ExitCode;

/// A submission tree is hundreds of thousands of short texts, read by all cores at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    retrial::cli::main()
}
