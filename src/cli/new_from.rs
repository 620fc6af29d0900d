//! `retrial new NAME --from …`: reads a guide: a vendor's command line, or a page.

use std::io::{self, Read as _};
use std::path::Path;

use retrial_document::ErrorText;
use retrial_document::measures::format;
use retrial_engine::api::Engine as _;
use retrial_import::{
    Candidate, Companions, Draft, ImageProgram, MissingPlace, Refusal, Selection, draft_from_guide,
};
use retrial_recipe::{NoTemplates, RecipeFileKind, Severity, Source, check_source};

use super::arguments::NewArguments;
use super::{new_figures, new_questions};
use crate::app::catalog;
use crate::app::dialog::Dialog;
use crate::app::failure::Failure;
use crate::app::options::GlobalOptions;
use crate::app::runtime;

/// The longest guide that is read, bytes: a README is a page.
const MAX_GUIDE_BYTES: u64 = 1 << 20;

/// A guide's text, what places in it are called, and the command of it that is chosen.
struct Guide {
    name: String,
    text: String,
    selection: Selection,
}

/// Returns the recipe's text, and its differences from the guide. In a terminal it asks for missing parts.
pub fn convert_guide(
    global: &GlobalOptions,
    title: &str,
    from: &str,
    arguments: &NewArguments,
    dialog: Option<&Dialog>,
) -> Result<(String, Vec<String>), Failure> {
    let mut guide = read_guide(from).map_err(|failure| {
        failure.with_help(
            "--from takes a command line in quotes, a file of it, a page in Markdown, or - for standard input",
        )
    })?;
    if let Some(step) = arguments.step {
        guide.selection = Selection::Step(step);
    }
    let draft = draft_of_guide(global, &guide, dialog)?;
    finish_draft(title, draft, arguments, dialog)
}

/// Makes the draft; of several commands the user chooses one.
fn draft_of_guide(
    global: &GlobalOptions,
    guide: &Guide,
    dialog: Option<&Dialog>,
) -> Result<Draft, Failure> {
    let draft = |selection| {
        draft_from_guide(&guide.name, &guide.text, selection, &GuideCompanions { global })
    };
    let candidates = match draft(guide.selection) {
        Ok(draft) => return Ok(draft),
        Err(Refusal::Problems(problems)) => return Err(Failure::of_problems(problems)),
        Err(Refusal::Choose(candidates)) => candidates,
    };
    let Some(dialog) = dialog else { return Err(refuse_choice(guide, &candidates)) };
    candidates.iter().enumerate().for_each(|(at, one)| dialog.explain(&describe(at + 1, one)));
    let answer = dialog.ask("number of the command")?;
    match answer.trim().parse().map(|number| draft(Selection::Step(number))) {
        Ok(Ok(draft)) => Ok(draft),
        Ok(Err(Refusal::Problems(problems))) => Err(Failure::of_problems(problems)),
        Ok(Err(Refusal::Choose(_))) | Err(_) => Err(refuse_choice(guide, &candidates)),
    }
}

fn describe(number: usize, candidate: &Candidate) -> String {
    let heading = candidate.headings.join(" > ");
    let heading = if heading.is_empty() { heading } else { format!("{heading}: ") };
    format!("{number:>3}  line {}  {heading}{}", candidate.line, candidate.shown)
}

fn refuse_choice(guide: &Guide, candidates: &[Candidate]) -> Failure {
    let listed: Vec<String> =
        candidates.iter().enumerate().map(|(at, one)| describe(at + 1, one)).collect();
    let count = format::format_count(candidates.len(), "command");
    let message = format!("{} has {count} to choose from\n{}", guide.name, listed.join("\n"));
    let line = candidates.first().map_or(1, |one| one.line);
    Failure::usage(message)
        .with_help(format!("choose one: --from {}:{line}, or --step N", guide.name))
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
        let draft =
            read_answer(&answer).and_then(|guide| draft_of_guide(global, &guide, Some(dialog)));
        match draft {
            Ok(draft) => return finish_draft(title, draft, arguments, Some(dialog)).map(Some),
            Err(failure) => failure.report(),
        }
    }
}

/// Returns the command lines of an answer. A word is a file if a file of that name exists or if it is not a valid image;
/// else it is an image.
fn read_answer(answer: &str) -> Result<Guide, Failure> {
    let typed =
        |text: String| Guide { name: "your answer".to_owned(), text, selection: Selection::All };
    if answer.contains(char::is_whitespace) {
        Ok(typed(answer.to_owned()))
    } else if catalog::is_path(answer) || Path::new(answer).is_file() {
        read_guide(answer)
    } else {
        Ok(typed(format!("docker run {answer}")))
    }
}

fn finish_draft(
    title: &str,
    mut draft: Draft,
    arguments: &NewArguments,
    dialog: Option<&Dialog>,
) -> Result<(String, Vec<String>), Failure> {
    let client = draft.client(arguments.measure.as_deref());
    let mut figures = new_figures::read_figures(arguments, client)?;
    for setting in &arguments.settings {
        let place = MissingPlace::Param(setting.name.clone());
        draft.fill_in(&place, &setting.value).map_err(|error| {
            Failure::usage(ErrorText::of(&error).in_context(&format!("--set {}: ", setting.name)))
        })?;
    }
    if let Some(dialog) = dialog {
        new_questions::complete(dialog, &mut draft, &mut figures)?;
    }
    let made = draft.write(title, &figures);
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

/// Returns the text itself, or the content of a file or of standard input: `README.md:12` is a line of a file.
fn read_guide(from: &str) -> Result<Guide, Failure> {
    let guide =
        |name: &str, text: String, selection| Guide { name: name.to_owned(), text, selection };
    if from != "-" && from.contains(char::is_whitespace) {
        return Ok(guide("command line", from.to_owned(), Selection::All));
    }
    let mut text = String::new();
    if from == "-" {
        let read = io::stdin().take(MAX_GUIDE_BYTES).read_to_string(&mut text);
        return read
            .map(|_| guide("standard input", text, Selection::All))
            .map_err(|error| Failure::usage(format!("failed to read standard input: {error}")));
    }
    let numbered = from.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse().ok()?)));
    let (path, selection) = match numbered.filter(|_| !Path::new(from).exists()) {
        Some((path, line)) => (path, Selection::Line(line)),
        None => (from, Selection::All),
    };
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(MAX_GUIDE_BYTES).read_to_string(&mut text));
    read.map(|_| guide(path, text, selection))
        .map_err(|error| Failure::usage(format!("failed to read {path}: {error}")))
}

/// The files next to the guide, and the images of this engine.
struct GuideCompanions<'a> {
    global: &'a GlobalOptions,
}

impl Companions for GuideCompanions<'_> {
    fn read_file(&self, path: &str) -> io::Result<String> {
        std::fs::read_to_string(path)
    }

    fn image_program(&self, image: &str) -> Option<ImageProgram> {
        let found = runtime::query_engine(self.global, async |engine| {
            engine.find_image(image).await.ok().flatten()
        })?;
        Some(ImageProgram { entrypoint: found.entrypoint, command: found.command })
    }
}
