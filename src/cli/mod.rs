//! The command line: arguments, and one file per command.

mod arguments;
mod attach;
mod batch;
mod catalogue;
mod check;
mod compare;
mod completion;
mod configuration;
mod docs;
mod doctor;
mod export;
mod foreign_commands;
mod help;
mod judge;
mod list;
mod list_published;
mod list_results;
mod lock;
mod logs;
mod new;
mod new_figures;
mod new_from;
mod new_log;
mod new_questions;
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
use clap_complete::CompleteEnv;

use crate::app::failure::Failure;
use crate::app::options::{GlobalOptions, OutputFormat, ReportFormat};
use crate::app::{self, clean, log, nodes, stop, terminal};
use arguments::{Arguments, Command};

use retrial_results::verdict::ExitCode as Exit;

/// Parses the command line, executes the command, and reports its failure.
pub fn main() -> ExitCode {
    // A shell that completes a command line; it ends the process.
    CompleteEnv::with_factory(help::full_command).complete();
    // Only `--help` and usage errors show the texts, which take longer to build than most command lines take to parse.
    let parsed = Arguments::from_command_line(Arguments::command())
        .or_else(|_| Arguments::from_command_line(help::full_command()))
        .map_err(foreign_commands::suggest_command);
    let exit = match parsed {
        Ok((mut arguments, matches)) => {
            let output = arguments.global.output;
            let completed = configuration::complete_arguments(&mut arguments, &matches);
            completed.and_then(|()| dispatch(arguments)).unwrap_or_else(|failure| {
                failure.report_as(output);
                failure.exit
            })
        }
        // With a home in the environment clap does not count this as a call without arguments.
        Err(error) if error.kind() == ErrorKind::MissingSubcommand => {
            eprint!("{}", help::full_command().render_help());
            Exit::Usage
        }
        Err(error) if error.use_stderr() && arguments::asks_for_json() => {
            let failure = Failure::usage(arguments::describe_refusal(&error));
            failure.report_as(OutputFormat::Json);
            failure.exit
        }
        Err(error) if error.use_stderr() => {
            // There is no other place to report it.
            let _ = error.print();
            Exit::Usage
        }
        // `--help` and `--version`.
        Err(error) => {
            terminal::record_write_failure(error.print().and_then(|()| std::io::stdout().flush()));
            Exit::Success
        }
    };
    terminal::first_write_failure()
        .map_or(exit, |error| {
            Failure::host(format!("failed to write standard output: {error}")).report();
            Exit::Host
        })
        .into()
}

fn dispatch(arguments: Arguments) -> Result<Exit, Failure> {
    let global = arguments.global;
    check_format(&global, &arguments.command)?;
    if let Some(filter) = &global.log {
        match &arguments.command {
            // Whoever started an agent reads its standard error.
            Command::Node { run, name } => {
                log::start_log_file(filter, &nodes::agent_log_path(run, name));
            }
            Command::Examine { .. } => {}
            _ => log::start_log(filter),
        }
    }
    match arguments.command {
        Command::List { filter, published: true, .. } => {
            list_published::list_published(&global, &filter)
        }
        Command::List { filter, results, .. } => match results {
            Some(tree) => list_results::list_published_results(&global, &tree, &filter),
            None => list::list_recipes(&global, &filter),
        },
        Command::Catalogue => catalogue::print_catalogue(),
        Command::Show { recipe, resolved } => show::show_recipe(&global, &recipe, resolved),
        Command::Check { files } => Ok(check::check_files(&global, &files)),
        Command::Plan(arguments) => plan::plan_run_or_batch(
            &global,
            arguments.site.as_deref(),
            &arguments.plan,
            &arguments.matrix,
            arguments.format,
        ),
        Command::Run(arguments) => run::run_recipe(&global, &arguments),
        Command::Batch(arguments) => batch::run_batch(&global, &arguments),
        Command::Bisect(arguments) => batch::bisect_axis(&global, &arguments),
        Command::Resume(arguments) => resume::resume_run_or_batch(&global, &arguments),
        Command::Attach { run } => attach::attach_to(&global, &run),
        Command::Logs(arguments) => logs::print_logs(&global, &arguments),
        Command::Node { run, name } => nodes::serve_agent(&global, &run, &name),
        Command::Stop { run } => stop::stop_run_or_batch(&global, &run),
        Command::Shell(arguments) => shell::open_shell(&global, &arguments),
        Command::Judge(judge) => judge::judge_results(&global, &judge),
        Command::Verify(verify) => verify::verify_archive(&global, &verify),
        Command::Compare(compare) => compare::compare_results(&global, &compare),
        Command::Report(report) => report::write_report(&global, &report),
        Command::Export(arguments) => export::export_tree(&global, &arguments),
        Command::Doctor(arguments) => doctor::check_machines(&global, arguments),
        Command::Examine { directory, name } => {
            app::doctor::answer_examination(&global, &directory, name)
        }
        Command::Lock(lock) => lock::lock_recipe(&global, &lock),
        Command::Runs(runs) => runs::manage_runs(&global, *runs),
        Command::Config => configuration::print_configuration(&global),
        Command::Sites => Ok(sites::list_sites(&global)),
        #[cfg(feature = "mcp")]
        Command::Mcp => app::mcp::serve(&global).map(|()| Exit::Success),
        Command::New(arguments) => new::create_recipe(&global, &arguments),
        Command::Clean(arguments) => match arguments.cached.as_deref() {
            Some("") => Ok(clean::cached::list_cached(&global)),
            Some(key) => clean::cached::remove_cached(&global, key, arguments.extent),
            None => clean::containers::remove_containers(
                &global,
                arguments.run.as_deref(),
                arguments.extent,
            ),
        },
        Command::Schema { of } => Ok(docs::print_schema(of)),
        Command::Completions { shell } => docs::print_completions(shell),
        Command::Man { command, to } => docs::write_man_pages(command.as_deref(), to.as_deref()),
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
            | Command::Attach { .. }
            | Command::Judge(_)
            | Command::Compare(_)
    );
    let is_list = matches!(command, Command::Runs(runs) if runs.what.is_none());
    let message = match global.report_format {
        ReportFormat::Text | ReportFormat::Json => return Ok(()),
        _ if is_report => return Ok(()),
        ReportFormat::Markdown if is_list => return Ok(()),
        ReportFormat::Junit | ReportFormat::Markdown if has_verdict => return Ok(()),
        ReportFormat::Html | ReportFormat::Csv => {
            "--output html and csv are formats of reports: retrial report RUN --output html"
        }
        ReportFormat::Junit | ReportFormat::Markdown => {
            "--output junit and markdown are formats of verdicts: run, batch, bisect, resume, judge, compare \
             and report have them, `runs` has markdown, and other commands have text and json"
        }
    };
    Err(Failure::usage(message))
}
