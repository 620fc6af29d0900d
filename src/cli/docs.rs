//! `retrial schema`, `completions`, `man`: what editors, shells and manuals read.

use clap::CommandFactory;

use super::arguments::Arguments;
use super::failure::Failure;
use super::terminal;
use crate::verdict::ExitCode;

/// Prints the JSON schema of recipes.
pub fn schema() -> ExitCode {
    terminal::print(&crate::recipe::schema::json());
    ExitCode::Success
}

/// Prints a shell's completions.
pub fn completions(shell: clap_complete::Shell) -> ExitCode {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "retrial", &mut out);
    terminal::print(&String::from_utf8_lossy(&out));
    ExitCode::Success
}

/// Prints the manual page.
pub fn man() -> Result<ExitCode, Failure> {
    let mut out = Vec::new();
    clap_mangen::Man::new(Arguments::command())
        .render(&mut out)
        .map_err(|error| Failure::host(format!("cannot render the manual: {error}")))?;
    terminal::print(&String::from_utf8_lossy(&out));
    Ok(ExitCode::Success)
}
