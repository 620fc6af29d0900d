//! `retrial schema`, `completions`, `man`: output for editors, shells and manuals.

use clap::CommandFactory;

use super::arguments::{Arguments, SchemaSubject};
use crate::app::failure::Failure;
use crate::app::terminal;
use retrial_batch::verdict::BatchVerdict;
use retrial_bundle::verification::Verification;
use retrial_report::content::tree::TreeVerdict;
use retrial_report::json::JsonReport;
use retrial_report::schema::render_schema;
use retrial_results::verdict::comparison::{Comparison, Comparisons};
use retrial_results::verdict::{ExitCode, Verdict};

/// Prints a JSON schema.
pub fn print_schema(subject: SchemaSubject) -> ExitCode {
    terminal::print_text(&match subject {
        SchemaSubject::Recipe => retrial_recipe::schema::recipe_schema_json(),
        SchemaSubject::Verdict => render_schema::<Verdict>("Retrial verdict"),
        SchemaSubject::Comparison => render_schema::<Comparison>("Retrial comparison"),
        SchemaSubject::Report => render_schema::<JsonReport<'_>>("Retrial report"),
        SchemaSubject::Comparisons => render_schema::<Comparisons>("Retrial comparisons"),
        SchemaSubject::Tree => {
            render_schema::<TreeVerdict>("Retrial verdicts on a submission tree")
        }
        SchemaSubject::Batch => retrial_batch::schema::batch_schema_json(),
        SchemaSubject::BatchVerdict => render_schema::<BatchVerdict>("Retrial verdict on a batch"),
        SchemaSubject::Verification => render_schema::<Verification>("Retrial verification"),
        SchemaSubject::Site => retrial_cluster::site::schema::site_schema_json(),
    });
    ExitCode::Success
}

/// Prints a shell's completions.
pub fn print_completions(shell: clap_complete::Shell) -> ExitCode {
    let mut command = Arguments::command();
    clap_complete::generate(shell, &mut command, "retrial", &mut terminal::Stdout);
    ExitCode::Success
}

/// Prints the manual page.
pub fn print_man_page() -> Result<ExitCode, Failure> {
    clap_mangen::Man::new(Arguments::command())
        .render(&mut terminal::Stdout)
        .map_err(|error| Failure::host(format!("cannot render the manual: {error}")))?;
    Ok(ExitCode::Success)
}
