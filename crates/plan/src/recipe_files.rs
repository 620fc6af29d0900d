//! The files next to the recipe that a command on the host names, `$RETRIAL_RECIPE_DIR/scripts/build.sh`: only these
//! are copied for it.

use crate::exec::ExecStep;

/// The variable with the directory of the recipe's copied files, for commands on the host that name it.
pub const RECIPE_DIRECTORY: &str = "RETRIAL_RECIPE_DIR";

/// Returns the paths, relative to the recipe's directory, that a command names; none if it names the variable by
/// itself, or with a path that the shell makes.
pub fn named_recipe_files(run: &str) -> Option<Vec<String>> {
    run.match_indices(RECIPE_DIRECTORY)
        .filter(|(start, _)| !is_other_variable(run, *start))
        .map(|(start, _)| {
            let rest = &run[start + RECIPE_DIRECTORY.len()..];
            let rest = rest.strip_prefix('}').unwrap_or(rest).strip_prefix('/')?;
            let end = rest.find(|character| !is_plain(character)).unwrap_or(rest.len());
            let (path, next) = (&rest[..end], rest[end..].chars().next());
            let is_whole = next.is_none_or(|next| " \t\n\"';&|)<>".contains(next));
            // `scripts/*.sh` names the directory.
            let path = if is_whole { path } else { &path[..path.rfind('/')?] };
            is_plain_path(path).then(|| path.trim_end_matches('/').to_owned())
        })
        .collect()
}

/// Returns whether a command only runs a file next to the recipe by its path, with plain words: its text and that file
/// are all that decides what it does.
pub fn runs_recipe_file(command: &ExecStep) -> bool {
    let ExecStep { run, shell, env, workdir, user, .. } = command;
    let has_settings = shell.is_some()
        || workdir.is_some()
        || user.is_some()
        || env.iter().any(|(name, _)| name != RECIPE_DIRECTORY);
    let mut words = run.trim().split([' ', '\t']).filter(|word| !word.is_empty());
    !has_settings
        && words.next().is_some_and(is_recipe_file)
        && words.all(|word| is_recipe_file(word) || is_plain_argument(word))
}

/// In quotes: a directory's name may have blanks, at which the shell would take the path apart.
fn is_recipe_file(word: &str) -> bool {
    let quoted = word.strip_prefix('"').and_then(|word| word.strip_suffix('"'));
    let word = quoted.unwrap_or_default();
    let starts = ["$RETRIAL_RECIPE_DIR/", "${RETRIAL_RECIPE_DIR}/"];
    let mut paths = starts.iter().filter_map(|start| word.strip_prefix(start));
    paths.next().is_some_and(is_plain_path)
}

/// Without paths, whose files may change.
fn is_plain_argument(word: &str) -> bool {
    word.chars().all(|character| is_plain(character) && character != '/')
}

fn is_plain_path(path: &str) -> bool {
    let has_name = path.split('/').any(|part| !part.is_empty() && part != ".");
    has_name && path.chars().all(is_plain) && path.split('/').all(|part| part != "..")
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || "._-/+=:,@%".contains(character)
}

fn is_other_variable(run: &str, start: usize) -> bool {
    let is_part = |character: Option<char>| {
        character.is_some_and(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    is_part(run[..start].chars().next_back())
        || is_part(run[start + RECIPE_DIRECTORY.len()..].chars().next())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("true", Some(vec![]))]
    #[case("MY_RETRIAL_RECIPE_DIR=/x", Some(vec![]))]
    #[case("sh \"$RETRIAL_RECIPE_DIR/a/b.sh\" && ${RETRIAL_RECIPE_DIR}/c", Some(vec!["a/b.sh", "c"]))]
    #[case("cat $RETRIAL_RECIPE_DIR/scripts/*.sh", Some(vec!["scripts"]))]
    #[case("ls $RETRIAL_RECIPE_DIR/scripts/", Some(vec!["scripts"]))]
    #[case("ls $RETRIAL_RECIPE_DIR", None)]
    #[case("ls $RETRIAL_RECIPE_DIR/", None)]
    #[case("ls $RETRIAL_RECIPE_DIR/./", None)]
    #[case("ls $RETRIAL_RECIPE_DIR/../x", None)]
    #[case("ls $RETRIAL_RECIPE_DIR/*.sh", None)]
    #[case("ls \"$RETRIAL_RECIPE_DIR\"/x", None)]
    #[case("env | grep RETRIAL_RECIPE_DIR", None)]
    fn a_command_names_plain_paths(#[case] run: &str, #[case] expected: Option<Vec<&str>>) {
        let named = named_recipe_files(run);
        assert_eq!(named, expected.map(|paths| paths.into_iter().map(str::to_owned).collect()));
    }

    #[rstest]
    #[case("\"$RETRIAL_RECIPE_DIR/x.sh\"", true)]
    #[case("$RETRIAL_RECIPE_DIR/x.sh", false)]
    #[case("\"$RETRIAL_RECIPE_DIR/a/x.sh\" --size=4 \"${RETRIAL_RECIPE_DIR}/b\"", true)]
    #[case("sh \"$RETRIAL_RECIPE_DIR/x.sh\"", false)]
    #[case("\"$RETRIAL_RECIPE_DIR/x.sh\"; /tmp/y", false)]
    #[case("\"$RETRIAL_RECIPE_DIR/x.sh\"\n/tmp/y", false)]
    #[case("\"$RETRIAL_RECIPE_DIR/x.sh\" /tmp/y", false)]
    #[case("\"$RETRIAL_RECIPE_DIR/x.sh\" $(id)", false)]
    #[case("\"$RETRIAL_RECIPE_DIR/../x.sh\"", false)]
    #[case("/opt/x.sh", false)]
    fn only_a_file_run_by_its_path_is_all_that_a_command_does(
        #[case] run: &str,
        #[case] expected: bool,
    ) {
        let command = ExecStep { run: run.to_owned(), ..ExecStep::default() };
        assert_eq!(runs_recipe_file(&command), expected);
        let env = vec![("LD_PRELOAD".to_owned(), "x".to_owned())];
        assert!(!runs_recipe_file(&ExecStep { env, ..command }));
    }
}
