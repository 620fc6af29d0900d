//! `retrial new NAME --from …`: reads a vendor's command line, and the variables of this shell.

use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::runtime;
use std::io::{self, Read as _};

use retrial_document::measures::format;
use retrial_engine::api::Engine as _;
use retrial_recipe::docker_run::{self, ImageProgram, MeasuredFigures, ShellEnvironment};
use retrial_recipe::{NoTemplates, RecipeFileKind, Source, check_source};

use super::arguments::NewArguments;

/// The longest command line that is read, bytes: a guide's block is a page.
const MAX_COMMAND_LINE_BYTES: u64 = 1 << 20;

/// Returns the recipe's text, and its differences from the command line.
pub fn convert_command_line(
    global: &GlobalOptions,
    title: &str,
    from: &str,
    arguments: &NewArguments,
) -> Result<(String, Vec<String>), Failure> {
    let (place, block) = read_command_line(from)?;
    let figures = read_figures(arguments)?;
    let reading =
        docker_run::recipe_from_block(title, place, &block, &CurrentShell { global }, &figures)
            .map_err(Failure::of_problems)?;
    let source = Source::new("the converted recipe", reading.recipe.clone());
    let problems = check_source(&source, RecipeFileKind::Recipe, &NoTemplates);
    if problems.has_errors() {
        return Err(Failure::usage(format!(
            "a recipe cannot express all of this\n{}",
            problems.render(false)
        )));
    }
    let left = match reading.incomplete.len() {
        0 => None,
        count => Some(format!(
            "{} of `incomplete` to be completed before it can run",
            format::format_count(count, "line")
        )),
    };
    Ok((
        reading.recipe,
        reading.notes.into_iter().chain(left).collect(),
    ))
}

/// Reads `--figure`, `--expect` and `--measure`.
fn read_figures(arguments: &NewArguments) -> Result<MeasuredFigures, Failure> {
    let pair = |option: &str, text: &str| -> Result<(String, String), Failure> {
        let pair = text
            .split_once('=')
            .filter(|(name, value)| !name.is_empty() && !value.is_empty());
        let (name, value) = pair.ok_or_else(|| {
            Failure::usage(format!("invalid value for --{option}: {text}")).with_help(format!(
                "write --{option} NAME=…, for example --{option} speed={}",
                if option == "figure" {
                    "'speed: ${number}'"
                } else {
                    "42.0"
                }
            ))
        })?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    };
    let figures: Result<Vec<_>, _> = arguments
        .figures
        .iter()
        .map(|text| pair("figure", text))
        .collect();
    let expected = arguments.expected.iter().map(|text| {
        let (name, value) = pair("expect", text)?;
        let end = value
            .find(|letter: char| !letter.is_ascii_digit() && !".,-+eE".contains(letter))
            .unwrap_or(value.len());
        let (number, unit) = value.split_at(end);
        let number = number.replace(',', "").parse::<f64>().map_err(|_| {
            Failure::usage(format!("invalid value for --expect: {text}")).with_help(
                "write a number, and its unit if it has one: --expect speed='42.0 items/s'",
            )
        })?;
        let unit = Some(unit.trim().to_owned()).filter(|unit| !unit.is_empty());
        Ok((name, number, unit))
    });
    let (figures, expected) = (figures?, expected.collect::<Result<Vec<_>, Failure>>()?);
    if let Some((name, ..)) = expected
        .iter()
        .find(|(name, ..)| figures.iter().all(|(figure, _)| figure != name))
    {
        return Err(
            Failure::usage(format!("--expect {name}: no --figure of this name")).with_help(
                format!("add --figure {name}=PATTERN, which finds it in the output"),
            ),
        );
    }
    Ok(MeasuredFigures {
        command: arguments.measure.clone(),
        figures,
        expected,
    })
}

/// Returns the text itself, or the content of a file or of standard input, and what places in it are called.
fn read_command_line(from: &str) -> Result<(&str, String), Failure> {
    let mut text = String::new();
    let read = if from == "-" {
        std::io::stdin()
            .take(MAX_COMMAND_LINE_BYTES)
            .read_to_string(&mut text)
    } else if from.contains(char::is_whitespace) {
        return Ok(("command line", from.to_owned()));
    } else {
        std::fs::File::open(from)
            .and_then(|file| file.take(MAX_COMMAND_LINE_BYTES).read_to_string(&mut text))
    };
    match read {
        Ok(_) => Ok((if from == "-" { "standard input" } else { from }, text)),
        Err(error) => Err(
            Failure::usage(format!("failed to read {from}: {error}")).with_help(
                "--from takes a command line in quotes, a file of it, or - for standard input",
            ),
        ),
    }
}

/// The shell that this program was started from.
struct CurrentShell<'a> {
    global: &'a GlobalOptions,
}

impl ShellEnvironment for CurrentShell<'_> {
    fn variable_value(&self, name: &str) -> Option<String> {
        let directory = || {
            std::env::current_dir()
                .ok()?
                .into_os_string()
                .into_string()
                .ok()
        };
        let value = if name == "PWD" {
            directory()
        } else {
            std::env::var(name).ok()
        };
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
            (fields.first() == Some(&name))
                .then(|| fields.get(2)?.parse().ok())
                .flatten()
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
        Some(ImageProgram {
            entrypoint: found.entrypoint,
            command: found.command,
        })
    }

    fn processors(&self) -> Option<usize> {
        std::thread::available_parallelism()
            .ok()
            .map(std::num::NonZero::get)
    }
}
