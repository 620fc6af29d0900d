//! Guides as recipes: the shell plan of the recipe has the flags, the words and the files of the guide.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod cases;
mod flags;
mod random;
mod round_trip;
mod selection;

use brush_parser::Token;
use retrial_host::model::HostView;
use retrial_import::{
    FlagTreatment, LineFlag, MeasuredFigures, NoCompanions, Refusal, Selection, WrittenRecipe,
    docker_run_flags, draft_from_guide,
};
use retrial_plan as plan;
use retrial_plan::build::RecipeOrigin;
use retrial_plan::options::PlanOptions;
use retrial_recipe::{
    Diagnostics, NoTemplates, ParamSetting, RecipeFileKind, Source, check_source, resolve_recipe,
};

/// Converts a block whose figures nobody states.
fn recipe_from_block(block: &str) -> Result<WrittenRecipe, Diagnostics> {
    match draft_from_guide("guide.txt", block, Selection::All, &NoCompanions) {
        Ok(draft) => Ok(draft.write("x", &MeasuredFigures::default())),
        Err(Refusal::Problems(problems)) => Err(problems),
        Err(Refusal::Choose(candidates)) => panic!("{candidates:?}"),
    }
}

/// The words of each command of a text without variables.
fn split_commands(text: &str) -> Vec<Vec<String>> {
    let tokens = brush_parser::tokenize_str(text).unwrap();
    let commands = tokens.split(|token| matches!(token, Token::Operator(..)));
    let words = |words: &[Token]| -> Vec<String> {
        let unquoted = words.iter().flat_map(|word| shlex::split(word.to_str()).unwrap());
        unquoted.collect()
    };
    commands.map(words).filter(|words| !words.is_empty()).collect()
}

/// The words after `docker run`, as Docker reads them.
struct Line {
    flags: Vec<(LineFlag, String)>,
    image: String,
    command: Vec<String>,
}

fn parse_line(words: &[String]) -> Line {
    let find = |name: &str| {
        let name = if name == "net" { "network" } else { name };
        docker_run_flags().find(|flag| flag.name == name).unwrap()
    };
    let mut flags: Vec<(LineFlag, String)> = Vec::new();
    let mut rest = words.iter();
    let image = loop {
        let word = rest.next().unwrap();
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long
                .split_once('=')
                .map_or((long, None), |(name, value)| (name, Some(value.to_owned())));
            let flag = find(name);
            let value = value.or_else(|| flag.takes_value().then(|| rest.next().unwrap().clone()));
            flags.push((flag, value.unwrap_or("true".to_owned())));
        } else if let Some(letters) = word.strip_prefix('-') {
            for (at, letter) in letters.char_indices() {
                let flag = docker_run_flags().find(|flag| flag.short == Some(letter)).unwrap();
                let attached = letters[at + 1..].trim_start_matches('=');
                if flag.takes_value() {
                    let value = if attached.is_empty() { rest.next().unwrap() } else { attached };
                    flags.push((flag, value.to_owned()));
                    break;
                }
                flags.push((flag, "true".to_owned()));
            }
        } else {
            break word.clone();
        }
    };
    Line { flags, image, command: rest.cloned().collect() }
}

/// The flags of a `docker run` with Docker's own spelling of each value, sorted; and image and
/// command.
type Flags = (Vec<(String, String)>, String, Vec<String>);

/// Differences that result from Retrial running the container are omitted from both sides.
fn flags(text: &str, ours: bool) -> Flags {
    let commands = split_commands(text);
    let mut runs = commands.iter().filter_map(|words| {
        let at = words.iter().position(|word| word == "run")?;
        Some(&words[at + 1..])
    });
    let line = parse_line(runs.next().unwrap());
    let mut flags = Vec::new();
    for (flag, value) in line.flags {
        let name = flag.name;
        if flag.treatment != FlagTreatment::Key
            || ["entrypoint", "gpus"].contains(&name)
            || (ours && value == "PYTHONUNBUFFERED=1")
        {
            continue;
        }
        flags.push((name.to_owned(), spelled(name, &value)));
    }
    flags.sort();
    (flags, line.image, line.command)
}

fn spelled(name: &str, value: &str) -> String {
    let bytes = |text: &str| -> u64 {
        let lower = text.to_lowercase();
        let digits = lower.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let power = "kmgt".find(lower[digits.len()..].chars().next().unwrap_or('-'));
        let power = power.map_or(0, |at| u32::try_from(at).unwrap() + 1);
        digits.parse::<u64>().unwrap() * 1024_u64.pow(power)
    };
    match name {
        "shm-size" | "memory" => bytes(value).to_string(),
        "ulimit" => match value.split_once(':') {
            Some(_) => value.to_owned(),
            None => format!("{value}:{}", value.split_once('=').unwrap().1),
        },
        "volume" => value.trim_end_matches(":rw").to_owned(),
        _ => value.to_owned(),
    }
}

/// The script that the recipe's plan prints, next to `/guide`.
fn script(recipe: &str, settings: &[(&str, &str)]) -> String {
    let source = Source::new("recipe.yaml", recipe.to_owned());
    let problems = check_source(&source, RecipeFileKind::Recipe, &NoTemplates);
    assert!(!problems.has_errors(), "{problems}\n{recipe}");
    let settings: Vec<ParamSetting> =
        settings.iter().map(|(name, value)| ParamSetting::new(*name, *value)).collect();
    let resolved = resolve_recipe("guide", &source, &NoTemplates, &settings)
        .unwrap_or_else(|problems| panic!("{problems}\n{recipe}"));
    let origin = RecipeOrigin {
        directory: Some("/guide".to_owned()),
        hash: resolved.hash.clone(),
        ..RecipeOrigin::default()
    };
    let plan =
        plan::build_plan(&resolved.recipe, &origin, &PlanOptions::default(), &HostView::default());
    plan::shell::render_script(&plan.unwrap(), &[])
}

/// The `docker run` and the commands of `docker exec` of a script.
fn made(script: &str) -> (Flags, Vec<String>) {
    let at = script.find("docker run -d").unwrap();
    let flags = flags(&script[at..], true);
    let executed = split_commands(&script[at..]);
    let exec = |words: &Vec<String>| -> Option<String> {
        let is_kept = words[0] == "logged";
        let words = if is_kept { &words[2..] } else { &words[..] };
        (words.get(1)? == "exec").then(|| words.last().unwrap().clone())
    };
    (flags, executed.iter().filter_map(exec).collect())
}
