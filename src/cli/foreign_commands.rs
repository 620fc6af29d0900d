//! Commands as other tools call them: a refusal names ours. None of them is accepted.

use std::path::Path;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, Error};

use super::arguments::Arguments;

/// Names that Docker, git, Slurm and others use, and the commands that are meant.
const FOREIGN_COMMANDS: &[(&[&str], &str)] = &[
    (&["ls", "recipes", "search"], "list"),
    (&["info", "inspect", "describe"], "show"),
    (&["validate", "lint", "verify-recipe"], "check"),
    (&["init", "create"], "new"),
    (&["start", "exec", "bench", "benchmark"], "run"),
    (&["dry-run"], "plan"),
    (&["ps", "status", "history", "results", "jobs"], "runs"),
    (&["rm", "remove", "delete"], "runs remove"),
    (&["import", "load"], "runs import"),
    (&["pack", "save", "archive"], "runs pack"),
    (&["watch", "follow", "tail"], "attach"),
    (&["cancel", "kill"], "stop"),
    (&["diff"], "compare"),
    (&["sweep", "matrix"], "batch"),
    (&["prune", "gc"], "clean"),
    (&["version"], "--version"),
];

/// Names the command that is meant, where clap refuses the name that another tool has for it, or a recipe's path.
pub fn suggest_command(mut refusal: Error) -> Error {
    let Some(ContextValue::String(written)) = refusal.get(ContextKind::InvalidSubcommand) else {
        return refusal;
    };
    let suggested = match find_command(written) {
        Some(meant) => vec![meant],
        None => find_visible(refusal.get(ContextKind::SuggestedSubcommand)),
    };
    if suggested.is_empty() {
        refusal.remove(ContextKind::SuggestedSubcommand);
    } else {
        let suggested = ContextValue::Strings(suggested);
        refusal.insert(ContextKind::SuggestedSubcommand, suggested);
    }
    refusal
}

/// Returns clap's suggestions less those that only this program itself calls.
fn find_visible(suggested: Option<&ContextValue>) -> Vec<String> {
    let Some(ContextValue::Strings(names)) = suggested else {
        return Vec::new();
    };
    let command = Arguments::command();
    let is_hidden = |name: &String| {
        let found = command.find_subcommand(name);
        found.is_some_and(clap::Command::is_hide_set)
    };
    names.iter().filter(|name| !is_hidden(name)).cloned().collect()
}

fn find_command(written: &str) -> Option<String> {
    let extension = Path::new(written).extension();
    if extension.is_some_and(|end| end == "yaml" || end == "yml") {
        return Some(format!("run {written}"));
    }
    let mut all = FOREIGN_COMMANDS.iter();
    let (_, meant) = all.find(|(names, _)| names.contains(&written))?;
    Some((*meant).to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[test]
    fn every_foreign_command_leads_to_one_of_ours() {
        let command = Arguments::command();
        for (names, meant) in FOREIGN_COMMANDS {
            for name in *names {
                assert!(command.find_subcommand(name).is_none(), "{name}");
                let refusal = Arguments::try_parse_from(["retrial", name]).unwrap_err();
                let text = suggest_command(refusal).to_string();
                assert!(text.contains(&format!("'{meant}'")), "{text}");
            }
            let mut words = meant.split(' ');
            let known = words.try_fold(&command, |parent, word| parent.find_subcommand(word));
            assert!(meant.starts_with("--") || known.is_some(), "{meant}");
        }
    }

    #[test]
    fn hidden_commands_are_not_suggested() {
        let text = |name: &str| {
            let refusal = Arguments::try_parse_from(["retrial", name]).unwrap_err();
            suggest_command(refusal).to_string()
        };
        assert!(!text("nonode").contains("tip:"), "{}", text("nonode"));
        assert!(text("plam").contains("'plan'"), "{}", text("plam"));
    }

    #[test]
    fn a_path_in_place_of_a_command_is_run() {
        let refusal = Arguments::try_parse_from(["retrial", "./mine.yaml"]).unwrap_err();
        let text = suggest_command(refusal).to_string();
        assert!(text.contains("'run ./mine.yaml'"), "{text}");
    }
}
