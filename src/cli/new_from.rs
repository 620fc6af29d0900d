//! `retrial new NAME --from …`: reads a vendor's command line, and the variables of this shell.

use crate::app::failure::Failure;
use std::io::{self, Read as _};

use retrial_document::ErrorText;
use retrial_recipe::docker_run::{self, ShellEnvironment};
use retrial_recipe::{NoTemplates, RecipeFileKind, Source, check_source};
use retrial_results::verdict::ExitCode;

/// The longest command line that is read, bytes: a guide's block is a page.
const MAX_COMMAND_LINE_BYTES: u64 = 1 << 20;

/// Returns the recipe's text, and its differences from the command line.
pub fn convert_command_line(title: &str, from: &str) -> Result<(String, Vec<String>), Failure> {
    let block = read_command_line(from)?;
    let reading =
        docker_run::recipe_from_block(title, &block, &CurrentShell).map_err(|problems| {
            let errors = problems.iter().map(|problem| ErrorText::of(problem));
            Failure::with_errors(ExitCode::Usage, errors.collect())
        })?;
    let source = Source::new("the converted recipe", reading.recipe.clone());
    let problems = check_source(&source, RecipeFileKind::Recipe, &NoTemplates);
    if problems.has_errors() {
        return Err(Failure::usage(format!(
            "a recipe cannot express all of this\n{}",
            problems.render(false)
        )));
    }
    Ok((reading.recipe, reading.notes))
}

/// Returns the text itself, or the content of a file or of standard input.
fn read_command_line(from: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let read = if from == "-" {
        std::io::stdin()
            .take(MAX_COMMAND_LINE_BYTES)
            .read_to_string(&mut text)
    } else if from.contains(char::is_whitespace) {
        return Ok(from.to_owned());
    } else {
        std::fs::File::open(from)
            .and_then(|file| file.take(MAX_COMMAND_LINE_BYTES).read_to_string(&mut text))
    };
    match read {
        Ok(_) => Ok(text),
        Err(error) => Err(
            Failure::usage(format!("failed to read {from}: {error}")).with_help(
                "--from takes a command line in quotes, a file of it, or - for standard input",
            ),
        ),
    }
}

/// The shell that this program was started from.
struct CurrentShell;

impl ShellEnvironment for CurrentShell {
    fn variable_value(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn read_file(&self, path: &str) -> io::Result<String> {
        std::fs::read_to_string(path)
    }
}
