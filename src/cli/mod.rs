//! The command line: arguments, and one file per command.

mod arguments;
mod batch;
mod catalogue;
mod check;
mod compare;
mod docs;
mod doctor;
mod export;
mod judge;
mod list;
mod list_results;
mod lock;
mod logs;
mod new;
mod new_from;
mod plan;
mod plan_batch;
mod report;
mod resume;
mod run;
mod runs;
mod shell;
mod show;
mod sites;
mod verify;

use std::io::Write as _;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap::error::ErrorKind;

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat};
use crate::app::{self, clean, nodes, stop, terminal};
use arguments::{Arguments, Command};

use retrial_results::verdict::ExitCode as Exit;

/// Parses the command line, executes the command, and reports its failure.
pub fn main() -> ExitCode {
    let exit = match Arguments::read() {
        Ok(arguments) => dispatch(arguments).unwrap_or_else(|failure| {
            failure.report();
            failure.exit
        }),
        // With a home in the environment clap does not count this as a call without arguments.
        Err(error) if error.kind() == ErrorKind::MissingSubcommand => {
            eprint!("{}", Arguments::command().render_help());
            Exit::Usage
        }
        Err(error) if error.use_stderr() => {
            let _ = error.print();
            Exit::Usage
        }
        // `--help` and `--version`.
        Err(error) => {
            terminal::check_write(error.print().and_then(|()| std::io::stdout().flush()));
            Exit::Success
        }
    };
    terminal::write_failure()
        .map_or(exit, |error| {
            Failure::host(format!("failed to write standard output: {error}")).report();
            Exit::Host
        })
        .into()
}

fn dispatch(arguments: Arguments) -> Result<Exit, Failure> {
    let global = arguments.global;
    check_format(&global, &arguments.command)?;
    match arguments.command {
        Command::List { filter, results } => match results {
            Some(tree) => list_results::list(&global, &tree, &filter),
            None => list::list(&global, &filter),
        },
        Command::Catalogue => catalogue::catalogue(),
        Command::Show { recipe, resolved } => show::show(&global, &recipe, resolved),
        Command::Check { files } => Ok(check::check(&global, &files)),
        Command::Plan(arguments) => plan::plan(
            &global,
            arguments.site.as_deref(),
            &arguments.plan,
            &arguments.matrix,
            arguments.format,
        ),
        Command::Run(arguments) => run::run(&global, &arguments),
        Command::Batch(arguments) => batch::batch(&global, &arguments),
        Command::Bisect(arguments) => batch::bisect(&global, &arguments),
        Command::Resume(arguments) => resume::resume(&global, &arguments),
        Command::Logs(arguments) => logs::logs(&global, &arguments),
        Command::Node { run, name } => nodes::serve(&global, &run, &name),
        Command::Stop { run } => stop::stop(&global, &run),
        Command::Shell(arguments) => shell::shell(&global, &arguments),
        Command::Judge(judge) => judge::judge(&global, &judge),
        Command::Verify(verify) => verify::verify(&global, &verify),
        Command::Compare(compare) => compare::compare(&global, &compare),
        Command::Report(report) => report::report(&global, &report),
        Command::Export(arguments) => export::export(&global, &arguments),
        Command::Doctor(arguments) => doctor::doctor(&global, arguments),
        Command::Examine { directory, name } => app::doctor::examine(&global, &directory, name),
        Command::Lock(lock) => lock::lock(&global, &lock),
        Command::Runs(runs) => runs::runs(&global, *runs),
        Command::Sites => Ok(sites::sites(&global)),
        Command::New(arguments) => new::new(&arguments),
        Command::Clean(arguments) => match arguments.cached.as_deref() {
            Some("") => Ok(clean::cached::list(&global)),
            Some(key) => clean::cached::remove(&global, key, arguments.extent),
            None => clean::containers::clean(&global, arguments.run.as_deref(), arguments.extent),
        },
        Command::Schema { of } => Ok(docs::schema(of)),
        Command::Completions { shell } => Ok(docs::completions(shell)),
        Command::Man => docs::man(),
    }
}

/// Refuses formats that a command does not have.
fn check_format(global: &GlobalOptions, command: &Command) -> Result<(), Failure> {
    let is_report = matches!(command, Command::Report(_));
    let has_verdict = matches!(
        command,
        Command::Run(_)
            | Command::Batch(_)
            | Command::Bisect(_)
            | Command::Resume(_)
            | Command::Judge(_)
            | Command::Compare(_)
    );
    let is_list = matches!(command, Command::Runs(runs) if runs.what.is_none());
    let message = match global.output {
        OutputFormat::Text | OutputFormat::Json => return Ok(()),
        _ if is_report => return Ok(()),
        OutputFormat::Markdown if is_list => return Ok(()),
        OutputFormat::Junit | OutputFormat::Markdown if has_verdict => return Ok(()),
        OutputFormat::Html | OutputFormat::Csv => {
            "--output html and csv are formats of reports: retrial report RUN --output html"
        }
        OutputFormat::Junit | OutputFormat::Markdown => {
            "--output junit and markdown are formats of verdicts: run, batch, bisect, resume, judge, compare \
             and report have them, `runs` has markdown, and other commands have text and json"
        }
    };
    Err(Failure::usage(message))
}
