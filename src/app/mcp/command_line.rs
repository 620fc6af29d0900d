//! A command line of this program whose words a client chose.

use std::collections::BTreeMap;
use std::fmt::Display;

use itertools::Itertools as _;

use crate::app::options::GlobalOptions;
use retrial_document::escape_harmful;
use retrial_recipe::quote::shell_quote;
use retrial_store::Home;

/// A command, its options, and its other words. A client's text is never read as an option: the value of an option is in
/// the same word as its name, and other words come after `--`.
#[derive(Debug)]
pub struct CommandLine {
    command: &'static str,
    options: Vec<String>,
    words: Vec<String>,
    is_background: bool,
    pub prints_json: bool,
}

impl CommandLine {
    pub fn new(command: &'static str) -> Self {
        Self {
            command,
            options: Vec::new(),
            words: Vec::new(),
            is_background: false,
            prints_json: true,
        }
    }

    /// Adds an option for each value.
    pub fn option(mut self, name: &str, values: impl IntoIterator<Item = String>) -> Self {
        self.options.extend(values.into_iter().map(|value| format!("{name}={value}")));
        self
    }

    pub fn flag(mut self, name: &str, is_set: bool) -> Self {
        self.options.extend(is_set.then(|| name.to_owned()));
        self
    }

    pub fn settings(self, settings: BTreeMap<String, impl Display>) -> Self {
        self.option("--set", settings.into_iter().map(|(name, value)| format!("{name}={value}")))
    }

    pub fn words(mut self, words: impl IntoIterator<Item = String>) -> Self {
        self.words.extend(words);
        self
    }

    /// Ends as soon as a process in the background has taken over.
    pub fn in_background(mut self) -> Self {
        self.is_background = true;
        self
    }

    /// Prints no JSON.
    pub fn prints_text(mut self) -> Self {
        self.prints_json = false;
        self
    }

    /// Returns whether a terminal shows each word as it is.
    pub fn is_plain(&self) -> bool {
        self.options.iter().chain(&self.words).all(|word| escape_harmful(word) == *word)
    }

    /// The arguments of the process, without the options of every command.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        let background: &[&str] = if self.is_background { &["--detach", "--quiet"] } else { &[] };
        let output = if self.prints_json { "--output=json" } else { "--output=text" };
        let options = self.options.iter().map(String::as_str);
        [self.command, output]
            .into_iter()
            .chain(background.iter().copied())
            .chain(options)
            .chain(["--"])
            .chain(self.words.iter().map(String::as_str))
    }

    /// What a person types at any terminal to start the same.
    pub fn for_person(&self, global: &GlobalOptions) -> String {
        let directory = std::env::current_dir().unwrap_or_default().display().to_string();
        let home = global.home.root();
        let home =
            (home != Home::default_home().root()).then(|| format!("--home={}", home.display()));
        let engine = global.engine.as_ref().map(|engine| format!("--engine={engine}"));
        let is_option = self.words.iter().any(|word| word.starts_with('-'));
        let separator = is_option.then(|| "--".to_owned());
        let program = ["retrial".to_owned()].into_iter().chain(home).chain(engine);
        let command = program.chain([self.command.to_owned()]).chain(self.options.clone());
        let words = command.chain(separator).chain(self.words.clone());
        let command = words.map(|word| shell_quote(&word)).join(" ");
        format!("cd {} && {command}", shell_quote(&directory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "--allow=privileged";

    #[test]
    fn a_clients_text_is_never_an_option() {
        let settings = BTreeMap::from([(HOSTILE.to_owned(), HOSTILE.to_owned())]);
        let line = CommandLine::new("run")
            .settings(settings)
            .option("--trials", Some(HOSTILE.to_owned()))
            .flag("--smoke-test", false)
            .in_background()
            .words([HOSTILE.to_owned()]);
        let expected = "run --output=json --detach --quiet --set=--allow=privileged=--allow=privileged --trials=--allow=privileged -- --allow=privileged";
        assert_eq!(line.arguments().collect::<Vec<_>>(), expected.split(' ').collect::<Vec<_>>());
    }

    #[test]
    fn a_person_sees_every_word_of_a_command() {
        let is_plain = |word: &str| CommandLine::new("run").words([word.to_owned()]).is_plain();
        assert!(is_plain("./a b's.yaml"));
        for hidden in ["a\nb", "a\u{1b}[2Kb", "a\u{202e}b", "a\0b", "a\u{200b}b", "a          b"] {
            assert!(!is_plain(hidden), "{hidden:?}");
        }
    }
}
