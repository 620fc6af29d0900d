//! Commands of the container as text of the recipe: the guide's own text, in which only expansions of the host's shell
//! and blanks are replaced.

use retrial_document::{Diagnostic, Diagnostics, Span};
use retrial_recipe::quote::shell_quote;

use super::blanks::{find_blanks, unmark};
use super::expand::{ask_for_blank, find_expansions};
use super::parse::RawWord;
use super::part::Part;
use super::secret::{find_hub_token, takes_secret};
use super::values::Values;
use super::word::Word;

/// Renders words into texts of the recipe. A problem counts when the word that has it is used.
pub struct Renderer<'a> {
    pub values: &'a mut Values,
    pub problems: &'a mut Diagnostics,
    /// The secrets that the texts name.
    pub secrets: &'a mut Vec<String>,
}

impl Renderer<'_> {
    /// Returns a word as the value of a key; none if it has a problem.
    pub fn value(&mut self, key: &str, word: &Word) -> Option<String> {
        self.join(key, word, false)
    }

    /// Returns a word as a path of the host: relative to the recipe, or to the home directory.
    pub fn host_path(&mut self, key: &str, word: &Word) -> Option<String> {
        self.join(key, word, true)
    }

    fn join(&mut self, key: &str, word: &Word, is_host_path: bool) -> Option<String> {
        let mut out = String::new();
        for (number, part) in word.parts.iter().enumerate() {
            match part {
                Part::Here if is_host_path && number == 0 => {
                    out.push_str(if word.parts.len() == 1 { "./" } else { "." });
                }
                Part::Home if is_host_path && number == 0 => out.push('~'),
                Part::Secret(name) => {
                    let message = format!(
                        "{key}: `${name}` looks like a secret, and would be written to the recipe"
                    );
                    let help = format!("pass it on by --env {name}");
                    self.problems.error("guide", message, &word.span, help);
                    return None;
                }
                part => out.push_str(&self.part(part, &word.span)?),
            }
        }
        self.check(key, out, &word.span)
    }

    fn check(&mut self, key: &str, text: String, span: &Span) -> Option<String> {
        if find_hub_token(&text).is_some() {
            let message = format!("{key}: it contains a token of the Hugging Face hub");
            let help = "write $HF_TOKEN in its place: a recipe contains no secrets";
            self.problems.error("guide", message, span, help);
            return None;
        }
        Some(text)
    }

    fn part(&mut self, part: &Part, span: &Span) -> Option<String> {
        match part {
            Part::Text(text) if text.contains("${{") => {
                let message = "`${{`: a recipe would read it as an expression";
                let help = "write the command into a script next to the recipe";
                self.problems.error("guide", message, span, help);
                None
            }
            Part::Text(text) => Some(text.clone()),
            Part::Param(id) => Some(self.values.expression(*id)),
            Part::Secret(name) => {
                self.name_secret(name);
                Some(format!("${{{name}}}"))
            }
            Part::Here | Part::Home => {
                let (name, written, question) = match part {
                    Part::Here => ("pwd", "$PWD", "the directory of the guide, an absolute path"),
                    _ => ("home", "$HOME", "the home directory of the guide, an absolute path"),
                };
                let id = self.values.add_param(name, written, None, Some(question.to_owned()));
                Some(self.values.expression(id))
            }
            Part::Problem(problem) => {
                let diagnostic = Diagnostic::error("guide", problem.message.clone(), span.clone());
                self.problems.push(diagnostic.with_help(problem.help));
                None
            }
        }
    }

    pub fn name_secret(&mut self, name: &str) {
        if !self.secrets.iter().any(|known| known == name) {
            self.secrets.push(name.to_owned());
        }
    }

    /// Returns arguments behind an image as the shell of a step reads them, one line.
    pub fn arguments(&mut self, words: &[RawWord], span: &Span) -> Option<String> {
        let mut texts = Vec::new();
        let mut option = "";
        for word in words {
            let (name, value) = word.text.split_once('=').unwrap_or((option, &word.text));
            let variable = variable_name(value).filter(|_| takes_secret(name));
            texts.push(match variable {
                Some(variable) => {
                    self.name_secret(variable);
                    word.text.clone()
                }
                None => self.argument(&word.text, span)?,
            });
            option = &word.text;
        }
        let kept: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        self.check("the command", kept.join(" "), span)
    }

    fn argument(&mut self, text: &str, span: &Span) -> Option<String> {
        let mut out = String::new();
        let mut done = 0;
        for expansion in find_expansions(text, self.values) {
            out.push_str(&self.source(&text[done..expansion.range.start], span)?);
            let written = &text[expansion.range.clone()];
            for part in &expansion.parts {
                out.push_str(&match part {
                    Part::Text(text) if expansion.is_quoted => escape_quoted(text),
                    Part::Text(text) => quote_fields(text),
                    Part::Secret(name) if written.trim_matches(['$', '{', '}']) == name => {
                        self.name_secret(name);
                        written.to_owned()
                    }
                    part => self.part(part, span)?,
                });
            }
            done = expansion.range.end;
        }
        out.push_str(&self.source(&text[done..], span)?);
        // `"$@"` of a script without arguments is no word.
        let is_no_word = out == "\"\"" && text.contains('@');
        Some(if is_no_word { String::new() } else { out })
    }

    /// Returns text of the guide that is typed in a container: only its blanks are replaced.
    pub fn typed(&mut self, text: &str, span: &Span) -> Option<String> {
        let mut out = String::new();
        let mut done = 0;
        for blank in find_blanks(text) {
            out.push_str(&self.source(&text[done..blank.range.start], span)?);
            let secret = secret_before(&text[..blank.range.start]);
            if let Some(name) = secret {
                self.name_secret(name);
                out.push('$');
                out.push_str(name);
            } else {
                let id = ask_for_blank(&blank.words, blank.default(), self.values);
                out.push_str(&self.values.expression(id));
            }
            done = blank.range.end;
        }
        out.push_str(&self.source(&text[done..], span)?);
        self.check("the command", out, span)
    }

    fn source(&mut self, text: &str, span: &Span) -> Option<String> {
        self.part(&Part::Text(unmark(text)), span)
    }
}

/// Returns the name of the variable that a word is: `$NAME`, `"${NAME}"`.
fn variable_name(word: &str) -> Option<&str> {
    let name = word.trim_matches('"').strip_prefix('$')?;
    let name = name.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(name);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// Returns the secret to which a blank behind a text is assigned: `HF_TOKEN=`.
fn secret_before(text: &str) -> Option<&str> {
    let name = text.trim_end_matches(['"', '\'']).strip_suffix('=')?;
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let start = name.rfind(|letter| !is_name(letter)).map_or(0, |at| at + 1);
    let name = &name[start..];
    super::secret::is_secret(name).then_some(name)
}

fn escape_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '"' | '\\' | '$' | '`') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// Quotes each word of a text that the shell splits.
fn quote_fields(text: &str) -> String {
    let is_split =
        text.split(char::is_whitespace).all(|word| word.is_empty() || shell_quote(word) == word);
    if is_split {
        return text.to_owned();
    }
    let mut out = String::new();
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end_matches(char::is_whitespace);
        if !word.is_empty() {
            out.push_str(&shell_quote(word));
        }
        out.push_str(&piece[word.len()..]);
    }
    out
}
