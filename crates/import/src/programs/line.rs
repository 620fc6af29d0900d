//! Parses the words of a command line into flags, image and arguments, by the rules of Docker's own parser (pflag), which
//! are those of getopt as far as guides use them.

use retrial_container::ImageRef;
use retrial_document::{Diagnostics, Span};
use retrial_document::{find_nearest, suggest_name};

use super::flags::{FlagArity, LineFlag, Program};
use crate::shell::{RawWord, Values, Word};

/// A flag of a command line with its value; a switch has `true`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlagValue {
    pub flag: LineFlag,
    /// The value; of a switch `true`, and empty where a flag that may have one has none.
    pub value: Word,
}

/// The words of a command, with the number of the typed word from which each was made.
#[derive(Debug, Clone, Default)]
pub struct TypedWords {
    pub words: Vec<Word>,
    pub origins: Vec<usize>,
    pub raw: Vec<RawWord>,
}

impl TypedWords {
    pub fn skip(&self, count: usize) -> Self {
        Self {
            words: self.words[count.min(self.words.len())..].to_vec(),
            origins: self.origins[count.min(self.origins.len())..].to_vec(),
            raw: self.raw.clone(),
        }
    }
}

/// The words behind an image or a container's name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    /// As the shell expands them.
    pub words: Vec<Word>,
    /// As they are typed.
    pub raw: Vec<RawWord>,
}

impl Arguments {
    /// Returns the words with the values that are known.
    pub fn sketch(&self, values: &Values) -> Vec<String> {
        self.words.iter().map(|word| word.sketch(values)).collect()
    }
}

/// A line that starts a container, or a command in one, whatever the program.
#[derive(Debug, Clone)]
pub struct ContainerLine {
    /// The flags in their order, without switches that are set to false.
    pub flags: Vec<FlagValue>,
    /// Variables between the flags whose value is unknown: further flags, as a rule none.
    pub unknown_flags: Vec<Word>,
    /// The image's reference; of `docker exec` the container's name.
    pub image: Word,
    pub arguments: Arguments,
    /// Other effects of the program, which a recipe does not have.
    pub remarks: Vec<String>,
    /// How many processes of the command are started, unless it is one.
    pub processes: Option<Word>,
}

impl ContainerLine {
    /// Returns the last value of a flag.
    pub fn flag(&self, name: &str) -> Option<&Word> {
        let mut flags = self.flags.iter().rev();
        flags.find(|option| option.flag.name == name).map(|option| &option.value)
    }

    pub fn all_values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Word> {
        let flags = self.flags.iter().filter(move |option| option.flag.name == name);
        flags.map(|option| &option.value)
    }
}

/// Parses the words after `docker run`; `place` is that of the command. Adds every flag and value that the program would
/// reject to `problems`.
pub fn parse_line(
    program: &'static Program,
    words: &TypedWords,
    values: &Values,
    place: &Span,
    problems: &mut Diagnostics,
) -> Option<ContainerLine> {
    let before = problems.error_count();
    let mut reader = LineReader::new(program, &words.words, problems);
    let mut unknown_flags = Vec::new();
    let image = loop {
        reader.read_flags();
        match reader.next_word() {
            Some(word) if word.is_open && is_flag_variable(word, reader.rest(), values) => {
                unknown_flags.push(word.clone());
            }
            image => break image.cloned(),
        }
    };
    let at = reader.position;
    let flags = reader.flags;
    let taken = find_taken_image(&flags, image.is_none());
    match (taken, &image) {
        (Some(FlagValue { flag, value }), _) => {
            let (name, text) = (flag.name, &value.written);
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
        arguments: arguments_from(words, at),
        remarks: Vec::new(),
        processes: None,
    })
}

/// Returns the words from a position as arguments.
pub fn arguments_from(words: &TypedWords, at: usize) -> Arguments {
    let rest = words.words[at.min(words.words.len())..].to_vec();
    let raw = match words.origins.get(at) {
        // A variable has the image and its arguments: they are used as they are expanded.
        Some(&origin) if at > 0 && words.origins[at - 1] == origin => {
            let same = words.origins[at..].iter().filter(|other| **other == origin).count();
            let own = rest[..same].iter().map(|word| RawWord {
                text: word
                    .plain()
                    .map_or_else(|| word.written.clone(), retrial_recipe::quote::shell_quote),
                range: 0..0,
            });
            own.chain(words.raw[origin + 1..].iter().cloned()).collect()
        }
        Some(&origin) => words.raw[origin..].to_vec(),
        None => Vec::new(),
    };
    Arguments { words: rest, raw }
}

/// Returns the flag that took the image as its value: the last one, if no image follows, or `--name`, whose value is
/// never like an image.
fn find_taken_image(flags: &[FlagValue], lacks_image: bool) -> Option<&FlagValue> {
    let is_taken = |option: &&FlagValue| {
        option.flag.arity == FlagArity::Value
            && option.value.plain().is_some_and(is_image_reference)
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
fn is_flag_variable(word: &Word, rest: &[Word], values: &Values) -> bool {
    let names_image = |word: &Word| {
        let name = word.written.to_lowercase();
        ["image", "img", "cont", "tag", "repo", "docker_name"]
            .iter()
            .any(|part| name.contains(part))
    };
    let is_image = |next: &Word| {
        next.start().starts_with('-')
            || next.known(values).is_none() && names_image(next)
            || next.known(values).is_some_and(|text| is_image_reference(&text))
    };
    !names_image(word) && rest.first().is_some_and(is_image)
}

/// Reads the flags at the start of words.
pub struct LineReader<'words, 'a> {
    program: &'static Program,
    words: &'words [Word],
    /// The number of words that were read.
    pub position: usize,
    pub flags: Vec<FlagValue>,
    problems: &'a mut Diagnostics,
}

impl<'words, 'a> LineReader<'words, 'a> {
    pub fn new(
        program: &'static Program,
        words: &'words [Word],
        problems: &'a mut Diagnostics,
    ) -> Self {
        Self { program, words, position: 0, flags: Vec::new(), problems }
    }

    pub fn next_word(&mut self) -> Option<&'words Word> {
        let word = self.words.get(self.position)?;
        self.position += 1;
        Some(word)
    }

    pub fn rest(&self) -> &'words [Word] {
        &self.words[self.position..]
    }

    /// Reads flags up to the first word that is none; `--` ends them.
    pub fn read_flags(&mut self) {
        while let Some(word) = self.words.get(self.position) {
            let is_flag = word.start().starts_with('-') && word.plain() != Some("-");
            if !is_flag {
                return;
            }
            self.position += 1;
            if word.plain() == Some("--") {
                return;
            }
            if word.start().starts_with("--") {
                self.read_long_flag(&word.skip(2), word);
            } else {
                self.read_short_flags(&word.skip(1), word);
            }
        }
    }

    fn read_long_flag(&mut self, long: &Word, word: &Word) {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name.start().to_owned(), Some(value)),
            None => (long.start().to_owned(), None),
        };
        if let Some(flag) = self.program.find_long(&name) {
            return self.push_flag(flag, value, word);
        }
        let names = self.program.flags().map(|flag| flag.name);
        let near = find_nearest(&name, names).map(|near| suggest_name(format_args!("--{near}")));
        let help = near.unwrap_or_else(|| "remove it".to_owned());
        let message = format!("{} has no --{name}", self.program.name);
        self.problems.error("guide", message, &word.span, help);
    }

    /// `-it`, `-itv /a:/b`, `-eNAME=value`, `-p=80:80`.
    fn read_short_flags(&mut self, dashed: &Word, word: &Word) {
        let mut rest = dashed.clone();
        while let Some(letter) = rest.start().chars().next() {
            rest = rest.skip(letter.len_utf8());
            let Some(flag) = self.program.find_short(letter) else {
                let message = format!("{} has no -{letter}", self.program.name);
                return self.problems.error("guide", message, &word.span, "remove it");
            };
            if flag.arity == FlagArity::Value {
                let equals = rest.start().len() - rest.start().trim_start_matches('=').len();
                let attached = (!rest.is_empty()).then(|| rest.skip(equals));
                return self.push_flag(flag, attached, word);
            }
            if rest.start().starts_with('=') {
                return self.push_flag(flag, Some(rest.skip(1)), word);
            }
            self.push_flag(flag, None, word);
        }
    }

    fn push_flag(&mut self, flag: LineFlag, value: Option<Word>, word: &Word) {
        match flag.arity {
            FlagArity::Value => {
                let Some(value) = value.or_else(|| self.next_word().cloned()) else {
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
        match value.map(Word::start) {
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
