//! Parses the words of a command line into flags, image and command, by the rules of Docker's own parser (pflag), which
//! are those of getopt as far as guides use them.

use retrial_container::ImageRef;

use super::flags::{FlagArity, LineFlag, Program};
use super::values::Word;
use crate::{Diagnostics, Span, find_nearest};

/// A flag of a command line with its value; a switch has `true`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FlagValue {
    pub flag: LineFlag,
    /// The value; of a switch `true`, and empty where a flag that may have one has none.
    pub value: Word,
}

/// A parsed `docker run` or `docker exec`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContainerLine {
    /// The flags in their order, without switches that are set to false.
    pub flags: Vec<FlagValue>,
    /// Variables between the flags whose value is unknown: further flags, as a rule none.
    pub unknown_flags: Vec<Word>,
    /// The image's reference; of `docker exec` the container's name.
    pub image: Word,
    /// The command and its arguments after the image.
    pub command: Vec<Word>,
    /// Other effects of the program, which a recipe does not have.
    pub remarks: Vec<String>,
    /// How many processes of the command are started, unless it is one.
    pub processes: Option<Word>,
}

impl ContainerLine {
    /// Returns the last value of a flag.
    pub(super) fn flag(&self, name: &str) -> Option<&Word> {
        let mut flags = self.flags.iter().rev();
        flags.find(|option| option.flag.name == name).map(|option| &option.value)
    }

    pub(super) fn all_values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Word> {
        let flags = self.flags.iter().filter(move |option| option.flag.name == name);
        flags.map(|option| &option.value)
    }
}

/// Parses the words after `docker run`; `place` is that of the command. Adds every flag and value that the program would
/// reject to `problems`.
pub(super) fn parse_line(
    program: &'static Program,
    words: &[Word],
    place: &Span,
    problems: &mut Diagnostics,
) -> Option<ContainerLine> {
    let before = problems.error_count();
    let mut reader = LineReader::new(program, words, problems);
    let mut unknown_flags = Vec::new();
    let image = loop {
        reader.read_flags();
        match reader.rest.next() {
            Some(word) if word.is_split && is_flag_variable(word, reader.rest.as_slice()) => {
                unknown_flags.push(word.clone());
            }
            image => break image.cloned(),
        }
    };
    let command = reader.rest.as_slice().to_vec();
    let flags = reader.flags;
    let taken = find_taken_image(&flags, image.is_none());
    match (taken, &image) {
        (Some(FlagValue { flag, value }), _) => {
            let (name, text) = (flag.name, &value.text);
            let message =
                format!("--{name} takes `{text}` as its value, which looks like the image");
            let help = format!(
                "write the value before the image: `--{name} VALUE {text}`; or remove --{name}"
            );
            problems.error("guide", message, &value.span, help);
        }
        (None, None) => {
            let help = "give the whole command line, up to the image and its command";
            let message = format!("no image follows the flags of `{}`", program.name);
            problems.error("guide", message, place, help);
        }
        (None, Some(_)) => {}
    }
    let image = image.filter(|_| problems.error_count() == before)?;
    Some(ContainerLine {
        flags,
        unknown_flags,
        image,
        command,
        remarks: Vec::new(),
        processes: None,
    })
}

/// Returns the flag that took the image as its value: the last one, if no image follows, or `--name`, whose value is
/// never like an image.
fn find_taken_image(flags: &[FlagValue], lacks_image: bool) -> Option<&FlagValue> {
    let is_taken = |option: &&FlagValue| {
        option.flag.arity == FlagArity::Value && is_image_reference(&option.value.text)
    };
    let last = flags.last().filter(|_| lacks_image);
    let named = flags.iter().filter(|option| option.flag.name == "name");
    last.into_iter().chain(named).find(is_taken)
}

/// Returns whether a text has the form of an image with a registry, a namespace or a tag.
fn is_image_reference(text: &str) -> bool {
    text.contains([':', '/']) && !text.starts_with(['/', '.']) && ImageRef::parse(text).is_ok()
}

/// Returns whether a variable of unknown value holds flags: an image follows it, and its name is none of an image.
fn is_flag_variable(word: &Word, rest: &[Word]) -> bool {
    let names_image = |word: &Word| {
        let name = word.text.to_lowercase();
        ["image", "img", "cont", "tag", "repo", "docker_name"]
            .iter()
            .any(|part| name.contains(part))
    };
    let is_image = |next: &Word| {
        let text = &next.text;
        text.starts_with('-')
            || text.contains("${{") && names_image(next)
            || is_image_reference(text)
    };
    !names_image(word) && rest.first().is_some_and(is_image)
}

/// Reads the flags at the start of words.
pub(super) struct LineReader<'words, 'a> {
    program: &'static Program,
    /// The words that are not read yet.
    pub rest: std::slice::Iter<'words, Word>,
    pub flags: Vec<FlagValue>,
    problems: &'a mut Diagnostics,
}

impl<'words, 'a> LineReader<'words, 'a> {
    pub(super) fn new(
        program: &'static Program,
        words: &'words [Word],
        problems: &'a mut Diagnostics,
    ) -> Self {
        Self { program, rest: words.iter(), flags: Vec::new(), problems }
    }

    /// Reads flags up to the first word that is none; `--` ends them.
    pub(super) fn read_flags(&mut self) {
        while let Some(word) = self.rest.as_slice().first() {
            let Some(dashed) = word.text.strip_prefix('-').filter(|dashed| !dashed.is_empty())
            else {
                return;
            };
            self.rest.next();
            match dashed.strip_prefix('-') {
                Some("") => return,
                Some(long) => self.read_long_flag(long, word),
                None => self.read_short_flags(dashed, word),
            }
        }
    }

    fn read_long_flag(&mut self, long: &str, word: &Word) {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(word.with_text(value))),
            None => (long, None),
        };
        if let Some(flag) = self.program.find_long(name) {
            return self.push_flag(flag, value, word);
        }
        let near = find_nearest(name, self.program.flags().map(|flag| flag.name));
        let help = near.map_or("remove it".to_owned(), |near| format!("did you mean --{near}?"));
        let message = format!("{} has no --{name}", self.program.name);
        self.problems.error("guide", message, &word.span, help);
    }

    /// `-it`, `-itv /a:/b`, `-eNAME=value`, `-p=80:80`.
    fn read_short_flags(&mut self, dashed: &str, word: &Word) {
        let mut rest = dashed;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let Some(flag) = self.program.find_short(letter) else {
                let message = format!("{} has no -{letter}", self.program.name);
                return self.problems.error("guide", message, &word.span, "remove it");
            };
            if flag.arity == FlagArity::Value {
                let attached =
                    (!rest.is_empty()).then(|| word.with_text(rest.trim_start_matches('=')));
                return self.push_flag(flag, attached, word);
            }
            if let Some(value) = rest.strip_prefix('=') {
                return self.push_flag(flag, Some(word.with_text(value)), word);
            }
            self.push_flag(flag, None, word);
        }
    }

    fn push_flag(&mut self, flag: LineFlag, value: Option<Word>, word: &Word) {
        match flag.arity {
            FlagArity::Value => {
                let Some(value) = value.or_else(|| self.rest.next().cloned()) else {
                    let message = format!("--{} needs a value", flag.name);
                    let help = "give the whole command line";
                    return self.problems.error("guide", message, &word.span, help);
                };
                self.flags.push(FlagValue { flag, value });
            }
            FlagArity::OptionalValue => {
                let value = value.unwrap_or_else(|| word.with_text(""));
                self.flags.push(FlagValue { flag, value });
            }
            FlagArity::Switch => self.push_switch(flag, value.as_ref(), word),
        }
    }

    fn push_switch(&mut self, flag: LineFlag, value: Option<&Word>, word: &Word) {
        // The values that Go's strconv.ParseBool accepts.
        match value.map(|value| &*value.text) {
            None | Some("1" | "t" | "T" | "true" | "TRUE" | "True") => {
                self.flags.push(FlagValue { flag, value: word.with_text("true") });
            }
            Some("0" | "f" | "F" | "false" | "FALSE" | "False") => {
                self.flags.retain(|other| other.flag.name != flag.name);
            }
            Some(other) => {
                let message = format!("--{}={other}: not true or false", flag.name);
                self.problems.error("guide", message, &word.span, "write true or false");
            }
        }
    }
}
