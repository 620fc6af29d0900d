//! The files of a built-in recipe, which the script writes next to itself: a script pasted elsewhere has no
//! other source for them. Files of a recipe on disk are used in place.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use itertools::join;

use super::shell_quote;
use crate::step::{Action, Plan, RECIPE_DIRECTORY};

/// Placeholder for the recipe's directory until a word of the script is written.
const DIRECTORY_PLACEHOLDER: &str = "${{ recipe.directory }}";

/// A file of a built-in recipe's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeFile {
    /// Relative to the recipe's directory.
    pub path: String,
    /// Its lines, each with its end.
    pub text: String,
}

/// A word of the script. The directory that the script creates is a shell variable.
pub(super) fn quote_word(text: &str) -> String {
    if !text.contains(DIRECTORY_PLACEHOLDER) {
        return shell_quote(text);
    }
    let parts = text.split(DIRECTORY_PLACEHOLDER).map(|part| match part {
        "" => String::new(),
        part => shell_quote(part),
    });
    join(parts, "\"$recipe\"")
}

/// Makes the plan use the recipe's files in the directory that the script creates. Returns the required files;
/// a plan without files of its own needs none.
pub(super) fn use_written_files<'a>(
    plan: &mut Plan,
    files: &'a [RecipeFile],
) -> Vec<&'a RecipeFile> {
    let directory = plan.directory.clone();
    let Some(directory) = directory.filter(|_| !files.is_empty()) else {
        return Vec::new();
    };
    let mut needed = BTreeSet::new();
    for path in recipe_paths(plan) {
        let suffix = path.strip_prefix(&directory);
        let below = suffix.filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let Some(rest) = below.map(str::to_owned) else {
            continue;
        };
        *path = format!("{DIRECTORY_PLACEHOLDER}{rest}");
        needed.insert(rest.trim_start_matches('/').to_owned());
    }
    plan.directory = Some(DIRECTORY_PLACEHOLDER.to_owned());
    let is_needed = |file: &&RecipeFile| {
        let file = Path::new(&file.path);
        needed.iter().any(|path| file.starts_with(path))
    };
    files.iter().filter(is_needed).collect()
}

/// All paths of a plan that may name a file of the recipe.
fn recipe_paths(plan: &mut Plan) -> Vec<&mut String> {
    let mounts = plan.container.mounts.iter_mut();
    let mut paths: Vec<&mut String> = mounts.map(|mount| &mut mount.source).collect();
    for step in &mut plan.steps {
        match &mut step.action {
            Action::Build(build) => paths.push(&mut build.context),
            Action::StartService(service) => {
                let own = service.own_container.iter_mut();
                let mounts = own.flat_map(|container| &mut container.mounts);
                paths.extend(mounts.map(|mount| &mut mount.source));
            }
            Action::Host(command) => paths.extend(recipe_directory_variable(&mut command.env)),
            Action::Populate(populate) => {
                paths.extend(recipe_directory_variable(&mut populate.command.env));
                let companions = populate.directory.companions.iter_mut();
                paths.extend(companions.map(|mount| &mut mount.source));
            }
            _ => {}
        }
    }
    paths
}

fn recipe_directory_variable(env: &mut [(String, String)]) -> Option<&mut String> {
    let mut variables = env.iter_mut();
    let found = variables.find(|(name, _)| name == RECIPE_DIRECTORY);
    found.map(|(_, value)| value)
}

/// Returns the commands that write the files next to the script.
pub(super) fn write_files_commands(files: &[&RecipeFile]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let mut out = String::from("\n# files of the recipe\nrecipe=\"$PWD/recipe\"\n");
    let directories: BTreeSet<&str> = files
        .iter()
        .map(|file| file.path.rsplit_once('/').map_or("", |(above, _)| above))
        .collect();
    for directory in directories {
        let _ = writeln!(out, "mkdir -p {}", quote_recipe_path(directory));
    }
    for file in files {
        let (text, path) = (&file.text, quote_recipe_path(&file.path));
        let mut end = "END".to_owned();
        while text.lines().any(|line| line == end) {
            end.push('_');
        }
        let _ = writeln!(out, "cat >{path} <<'{end}'\n{text}{end}");
        if text.starts_with("#!") {
            let _ = writeln!(out, "chmod +x {path}");
        }
    }
    out
}

fn quote_recipe_path(relative: &str) -> String {
    let slash = if relative.is_empty() { "" } else { "/" };
    quote_word(&format!("{DIRECTORY_PLACEHOLDER}{slash}{relative}"))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_directory_in_a_word_becomes_a_variable() {
        let mount = format!("--volume={DIRECTORY_PLACEHOLDER}/a b:/b");
        assert_eq!(quote_word(&mount), "--volume=\"$recipe\"'/a b:/b'");
        assert_eq!(quote_word("--init"), "--init");
        assert_eq!(quote_word(""), "''");
    }

    #[test]
    fn files_are_written_verbatim() {
        let text = "#!/bin/sh\ncat <<'END'\n$HOME `x` \\\nEND\n";
        let file = RecipeFile { path: "below/a b.sh".to_owned(), text: text.to_owned() };
        let directory = tempfile::tempdir().unwrap();
        let mut sh = Command::new("sh");
        sh.args(["-euc", &write_files_commands(&[&file])]).current_dir(&directory);
        assert!(sh.status().unwrap().success());
        let written = directory.path().join("recipe/below/a b.sh");
        assert_eq!(std::fs::read_to_string(&written).unwrap(), text);
        let executed = Command::new(written).output().unwrap();
        assert_eq!(executed.stdout, b"$HOME `x` \\\n");
    }
}
