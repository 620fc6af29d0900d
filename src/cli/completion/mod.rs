//! Completion of values that depend on recipes, runs and sites. A shell asks this program for it while somebody
//! types (`COMPLETE=bash retrial -- …`), so that nothing of it is written into the shell's script.

mod names;
mod recipe;

use std::ffi::OsStr;

use clap::{Arg, Command};
use clap_complete::ArgValueCompleter;
use clap_complete::engine::CompletionCandidate;

/// Adds completion to all arguments that name a recipe, a part of one, a run or a site.
pub fn add_completers(command: Command) -> Command {
    command.mut_subcommands(|subcommand| {
        let name = subcommand.get_name().to_owned();
        let add = |argument: Arg| match find_source(&name, argument.get_id().as_str()) {
            Some(source) => argument.add(ArgValueCompleter::new(move |typed: &OsStr| {
                let typed = typed.to_str().unwrap_or_default();
                let mut candidates = source(typed);
                candidates.retain(|one| starts_with(one, typed));
                candidates
            })),
            None => argument,
        };
        add_completers(subcommand.mut_args(add))
    })
}

/// Returns the values of an argument, from what was typed of it.
type CandidateSource = fn(&str) -> Vec<CompletionCandidate>;

fn find_source(command: &str, argument: &str) -> Option<CandidateSource> {
    Some(match (command, argument) {
        ("check", "files") | (_, "recipe") => names::recipes,
        (_, "settings" | "vary" | "exclude") => recipe::settings,
        (_, "along" | "by") => recipe::axes,
        (_, "scenario" | "scenarios") => recipe::scenarios,
        (_, "points") => recipe::points,
        ("plan" | "run" | "batch" | "bisect", "skip" | "from") => recipe::steps,
        ("logs", "step") | ("resume", "from") => names::steps_of_run,
        (_, "run" | "runs" | "subjects" | "directory") => names::runs,
        (_, "site") => names::sites,
        _ => return None,
    })
}

fn starts_with(candidate: &CompletionCandidate, typed: &str) -> bool {
    candidate.get_value().as_encoded_bytes().starts_with(typed.as_bytes())
}

fn candidate(value: impl Into<String>, help: impl Into<String>) -> CompletionCandidate {
    let help: String = help.into();
    let help = (!help.is_empty()).then(|| help.into());
    CompletionCandidate::new(value.into()).help(help)
}

/// The words of the command line that is being completed: a shell passes them after `--`.
fn typed_words() -> Vec<String> {
    let words = std::env::args().skip_while(|word| word != "--");
    words.skip(1).collect()
}
