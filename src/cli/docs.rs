//! `retrial schema`, `completions`, `man`: output for editors, shells and manuals.

use clap::CommandFactory;

use super::arguments::{Arguments, SchemaOf};
use crate::app::failure::Failure;
use crate::app::terminal;
use retrial_report as report;
use retrial_results::verdict::ExitCode;

/// Prints a JSON schema.
pub fn schema(subject: SchemaOf) -> ExitCode {
    terminal::print(&match subject {
        SchemaOf::Recipe => retrial_recipe::schema::json(),
        SchemaOf::Verdict => report::schema::verdict(),
        SchemaOf::Comparison => report::schema::comparison(),
        SchemaOf::Report => report::schema::report(),
        SchemaOf::Comparisons => report::schema::comparisons(),
        SchemaOf::Tree => report::schema::tree(),
        SchemaOf::Batch => retrial_batch::schema::json(),
        SchemaOf::BatchVerdict => report::schema::batch_verdict(),
        SchemaOf::Verification => report::schema::verification(),
        SchemaOf::Site => retrial_site::schema::json(),
    });
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
