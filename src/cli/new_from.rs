//! `retrial new NAME --from …`: reads a vendor's command line, and the variables of this shell.

use std::io::{self, Read as _};
use std::path::Path;

use retrial_document::ErrorText;
use retrial_document::measures::format;
use retrial_engine::api::Engine as _;
use retrial_recipe::docker_run::{
    self, DockerRunDraft, ImageProgram, MissingPlace, ShellEnvironment,
};
use retrial_recipe::{NoTemplates, RecipeFileKind, Severity, Source, check_source};

use super::arguments::NewArguments;
use super::{new_figures, new_questions};
use crate::app::catalog;
use crate::app::dialog::Dialog;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::{runtime, terminal};

/// The longest command line that is read, bytes: a guide's block is a page.
const MAX_COMMAND_LINE_BYTES: u64 = 1 << 20;

/// Returns the recipe's text, and its differences from the command line. In a terminal it asks for missing parts.
pub fn convert_command_line(
    global: &GlobalOptions,
    title: &str,
    from: &str,
    arguments: &NewArguments,
    dialog: Option<&Dialog>,
) -> Result<(String, Vec<String>), Failure> {
    let (place, block) = read_command_line(from).map_err(|failure| {
        failure.with_help(
            "--from takes a command line in quotes, a file of it, or - for standard input",
        )
    })?;
    let draft = docker_run::draft_from_block(place, &block, &CurrentShell { global })
        .map_err(Failure::of_problems)?;
    finish_draft(title, draft, arguments, dialog)
}

/// Returns the recipe that the user describes in a terminal, image first; none for an empty answer, for the example.
pub fn describe_recipe(
    global: &GlobalOptions,
    title: &str,
    arguments: &NewArguments,
    dialog: &Dialog,
) -> Result<Option<(String, Vec<String>)>, Failure> {
    loop {
        let Some(answer) = new_questions::ask_for_block(dialog)? else {
            return Ok(None);
        };
        let (place, block) = match read_answer(&answer) {
            Ok(read) => read,
            Err(failure) => {
                failure.report();
                continue;
            }
        };
        match docker_run::draft_from_block(place, &block, &CurrentShell { global }) {
            Ok(draft) => return finish_draft(title, draft, arguments, Some(dialog)).map(Some),
            Err(problems) => terminal::print_problems(&problems),
        }
    }
}

/// Returns the command lines of an answer, and the name of their source in messages. A word is a file if a file of that
/// name exists or if it is not a valid image; else it is an image.
fn read_answer(answer: &str) -> Result<(&str, String), Failure> {
    if answer.contains(char::is_whitespace) {
        Ok(("your answer", answer.to_owned()))
    } else if catalog::is_path(answer) || Path::new(answer).is_file() {
        read_command_line(answer)
    } else {
        Ok(("your answer", format!("docker run {answer}")))
    }
}

fn finish_draft(
    title: &str,
    mut draft: DockerRunDraft,
    arguments: &NewArguments,
    dialog: Option<&Dialog>,
) -> Result<(String, Vec<String>), Failure> {
    let mut figures = new_figures::read_figures(arguments)?;
    for setting in &arguments.settings {
        let place = MissingPlace::Param(setting.name.clone());
        draft.fill_in(&place, &setting.value).map_err(|error| {
            Failure::usage(ErrorText::of(&error).in_context(&format!("--set {}: ", setting.name)))
        })?;
    }
    if let Some(dialog) = dialog {
        new_questions::complete(dialog, &mut draft, &mut figures)?;
    }
    let made = docker_run::recipe_from_draft(title, draft, &figures);
    let source = Source::new("the converted recipe", made.recipe.clone());
    let mut problems = check_source(&source, RecipeFileKind::Recipe, &NoTemplates);
    if problems.has_errors() {
        problems.retain(|problem| problem.severity == Severity::Error);
        return Err(Failure::usage("the recipe would not be valid").with_problems(problems));
    }
    let left = (!made.incomplete.is_empty()).then(|| {
        format!(
            "{} of `incomplete` must be completed before it can run",
            format::format_count(made.incomplete.len(), "line")
        )
    });
    Ok((made.recipe, made.notes.into_iter().chain(left).collect()))
}

/// Returns the text itself, or the content of a file or of standard input, and what places in it are called.
fn read_command_line(from: &str) -> Result<(&str, String), Failure> {
    let mut text = String::new();
    let read = if from == "-" {
        std::io::stdin().take(MAX_COMMAND_LINE_BYTES).read_to_string(&mut text)
    } else if from.contains(char::is_whitespace) {
        return Ok(("command line", from.to_owned()));
    } else {
        std::fs::File::open(from)
            .and_then(|file| file.take(MAX_COMMAND_LINE_BYTES).read_to_string(&mut text))
    };
    match read {
        Ok(_) => Ok((if from == "-" { "standard input" } else { from }, text)),
        Err(error) => Err(Failure::usage(format!("failed to read {from}: {error}"))),
    }
}

/// The shell that this program was started from.
struct CurrentShell<'a> {
    global: &'a GlobalOptions,
}

impl ShellEnvironment for CurrentShell<'_> {
    fn variable_value(&self, name: &str) -> Option<String> {
        let directory = || std::env::current_dir().ok()?.into_os_string().into_string().ok();
        let value = if name == "PWD" { directory() } else { std::env::var(name).ok() };
        value.filter(|value| !value.is_empty())
    }

    fn read_file(&self, path: &str) -> io::Result<String> {
        std::fs::read_to_string(path)
    }

    fn user_id(&self) -> Option<u32> {
        Some(rustix::process::getuid().as_raw())
    }

    fn group_id(&self) -> Option<u32> {
        Some(rustix::process::getgid().as_raw())
    }

    fn group_id_of(&self, name: &str) -> Option<u32> {
        let groups = std::fs::read_to_string("/etc/group").ok()?;
        groups.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            (fields.first() == Some(&name)).then(|| fields.get(2)?.parse().ok()).flatten()
        })
    }

    fn host_name(&self) -> Option<String> {
        let name = rustix::system::uname();
        Some(name.nodename().to_string_lossy().into_owned())
    }

    fn image_program(&self, image: &str) -> Option<ImageProgram> {
        let found = runtime::query_engine(self.global, async |engine| {
            engine.find_image(image).await.ok().flatten()
        })?;
        Some(ImageProgram { entrypoint: found.entrypoint, command: found.command })
    }

    fn processors(&self) -> Option<usize> {
        std::thread::available_parallelism().ok().map(std::num::NonZero::get)
    }
}
