//! Vendors' command lines as recipes: the shell plan of the recipe has the flags of the guide.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod flags;
mod guides;
mod random;

use std::collections::BTreeMap;

use retrial_host::model::HostView;
use retrial_plan as plan;
use retrial_plan::build::RecipeOrigin;
use retrial_plan::options::PlanOptions;
use retrial_recipe::docker_run::{
    FlagTreatment, ShellEnvironment, ShellWord, parse_line, split_commands,
};
use retrial_recipe::{
    NoTemplates, ParamSetting, RecipeFileKind, Source, check_source, resolve_recipe,
};

/// A shell with these variables, and one file.
struct Shell(BTreeMap<String, String>);

impl Shell {
    fn new(variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self(variables.iter().map(owned).collect())
    }
}

impl ShellEnvironment for Shell {
    fn variable_value(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    fn read_file(&self, path: &str) -> std::io::Result<String> {
        assert_eq!(path, "mlperf.env");
        Ok("# comment\nONE=1\nTWO=a b\n\nTHREE\n".to_owned())
    }
}

/// The flags of a `docker run` with Docker's own spelling of each value, sorted; and image and
/// command.
type Flags = (Vec<(String, String)>, String, Vec<String>);

/// Differences that result from Retrial running the container are omitted from both sides.
fn flags(text: &str, ours: bool) -> Flags {
    let words = split_commands(text).unwrap();
    let run = words
        .iter()
        .find_map(|words| {
            let at = words
                .iter()
                .position(|word| word.as_plain() == Some("run"))?;
            Some(&words[at + 1..])
        })
        .unwrap();
    let line = parse_line(run).unwrap();
    let mut flags = Vec::new();
    for argument in &line.flags {
        let (name, value) = (argument.flag.name, argument.value.to_shell_text());
        if argument.flag.treatment != FlagTreatment::Key
            || name == "entrypoint"
            || (ours && value == "PYTHONUNBUFFERED=1")
        {
            continue;
        }
        flags.push((name.to_owned(), spelled(name, &value)));
    }
    flags.sort();
    let command = line.command.iter().map(ShellWord::to_shell_text).collect();
    (flags, line.image.to_shell_text(), command)
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
    let settings: Vec<ParamSetting> = settings
        .iter()
        .map(|(name, value)| ParamSetting::new(*name, *value))
        .collect();
    let resolved = resolve_recipe("guide", &source, &NoTemplates, &settings)
        .unwrap_or_else(|problems| panic!("{problems}\n{recipe}"));
    let origin = RecipeOrigin {
        directory: Some("/guide".to_owned()),
        hash: resolved.hash.clone(),
        built_in: false,
    };
    let plan = plan::build_plan(
        &resolved.recipe,
        &origin,
        &PlanOptions::default(),
        &HostView::default(),
    );
    plan::shell::render_script(&plan.unwrap(), &[])
}

/// The `docker run` and the commands of `docker exec` of a script.
fn made(script: &str) -> (Flags, Vec<String>) {
    let at = script.find("docker run -d").unwrap();
    let flags = flags(&script[at..], true);
    let executed = split_commands(&script[at..]).unwrap();
    let exec = |words: &Vec<ShellWord>| -> Option<String> {
        let is_kept = words[0].as_plain() == Some("logged");
        let words: &[ShellWord] = if is_kept { &words[2..] } else { words };
        (words[1].as_plain() == Some("exec")).then(|| words.last().unwrap().to_shell_text())
    };
    (flags, executed.iter().filter_map(exec).collect())
}
