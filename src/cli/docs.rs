//! `retrial schema`, `completions`, `man`: output for editors, shells and manuals.

use std::path::Path;

use clap_complete::env::Shells;

use super::arguments::SchemaSubject;
use super::help::documented_command;
use crate::app::failure::Failure;
use crate::app::terminal;
use retrial_batch::verdict::BatchVerdict;
use retrial_bundle::verification::Verification;
use retrial_recipe::did_you_mean;
use retrial_report::content::tree::TreeVerdict;
use retrial_report::json::JsonReport;
use retrial_report::schema::render_schema;
use retrial_results::verdict::comparison::{Comparison, Comparisons};
use retrial_results::verdict::{ExitCode, Verdict};

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

/// Prints the script by which a shell asks this program for completions.
pub fn print_completions(shell: clap_complete::Shell) -> Result<ExitCode, Failure> {
    let shells = Shells::builtins();
    let name = shell.to_string();
    let Some(completer) = shells.completer(&name) else {
        return Err(Failure::usage(format!("there are no completions for {name}")));
    };
    let script = completer.write_registration(
        "COMPLETE",
        "retrial",
        "retrial",
        "retrial",
        &mut terminal::Stdout,
    );
    script.map_err(|error| Failure::host(format!("cannot write the script: {error}")))?;
    Ok(ExitCode::Success)
}

/// Prints the manual page of the program or of a command, or writes those of all commands.
pub fn write_man_pages(command: Option<&str>, to: Option<&Path>) -> Result<ExitCode, Failure> {
    let mut whole = documented_command();
    let fault = |error: std::io::Error| Failure::host(format!("cannot write the manual: {error}"));
    if let Some(directory) = to {
        std::fs::create_dir_all(directory).map_err(fault)?;
        clap_mangen::generate_to(whole, directory).map_err(fault)?;
        return Ok(ExitCode::Success);
    }
    let page = match command {
        None => whole,
        Some(name) => {
            let names: Vec<String> =
                whole.get_subcommands().map(|one| one.get_name().to_owned()).collect();
            let Some(found) = whole.find_subcommand_mut(name) else {
                let help = did_you_mean(name, names.iter().map(String::as_str), "commands");
                return Err(Failure::usage(format!("there is no command {name}")).with_help(help));
            };
            found.clone()
        }
    };
    clap_mangen::Man::new(page).render(&mut terminal::Stdout).map_err(fault)?;
    Ok(ExitCode::Success)
}
