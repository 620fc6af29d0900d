//! The `retrial` program: parse, dispatch, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    retrial::cli::main()
}
