//! Executes simple commands of a block: those with an effect on the shell have it, all others are kept.

use brush_parser::Parser;
use brush_parser::ast::{self, CommandPrefixOrSuffixItem as Item, SourceLocation as _};

use super::block::{PLACEHOLDER_START, parser_options};
use super::commands::{CommandInput, CommandKind, GuideCommand, read_kind};
use super::shell::{Shell, WRAPPERS, show, show_text};
use super::values::Word;

/// The deepest nesting of calls of a block's functions.
const MAX_CALL_DEPTH: usize = 8;
/// Commands with an effect on the shell only, which is not followed and does not matter.
const SILENT: [&str; 11] = [
    "set", "shopt", ":", "true", "exit", "return", "wait", "trap", "shift", "sleep", "clear",
];

impl Shell<'_> {
    pub(super) fn run_simple(&mut self, simple: &ast::SimpleCommand, is_background: bool) {
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let mut command = GuideCommand {
            is_background,
            ..GuideCommand::new(
                CommandKind::Other,
                show(simple),
                &self.span(simple.location()),
            )
        };
        let mut assigned = Vec::new();
        for item in prefix {
            match item {
                Item::AssignmentWord(assignment, _) => assigned.push(assignment),
                Item::IoRedirect(redirect) => self.redirect(redirect, &mut command),
                Item::Word(_) | Item::ProcessSubstitution(..) => {}
            }
        }
        let Some(name) = &simple.word_or_name else {
            return assigned
                .into_iter()
                .for_each(|assignment| self.assign(assignment));
        };
        let mut words = self.expand(name);
        if let Some(alias) = words.first().and_then(|word| self.aliases.get(&word.text)) {
            let alias = alias.iter().map(|word| words[0].with_text(&word.text));
            words.splice(0..1, alias.collect::<Vec<_>>());
        }
        for item in suffix {
            match item {
                Item::AssignmentWord(assignment, _) if is_declaration(&words) => {
                    self.assign(assignment);
                }
                Item::Word(word) | Item::AssignmentWord(_, word) => words.extend(self.expand(word)),
                Item::IoRedirect(redirect) => self.redirect(redirect, &mut command),
                Item::ProcessSubstitution(..) => {
                    let message = format!("`{item}` needs a shell");
                    let text = self.values.defer(
                        &item.to_string(),
                        message,
                        command.span.clone(),
                        "write a file in its place",
                    );
                    words.push(Word::new(text, &command.span));
                }
            }
        }
        let words = self.unwrap(words);
        self.execute(&words, command);
    }

    /// Drops the programs that only start another one.
    fn unwrap(&mut self, mut words: Vec<Word>) -> Vec<Word> {
        while let Some(first) = words.first().filter(|word| WRAPPERS.contains(&&*word.text)) {
            let is_env = first.text == "env";
            words.remove(0);
            while let Some(option) = words
                .first()
                .filter(|word| word.text.starts_with('-') || is_env && word.text.contains('='))
            {
                if let Some((name, value)) = option.text.split_once('=').filter(|_| is_env) {
                    let word = option.with_text(value);
                    self.variables.insert(name.to_owned(), vec![word]);
                }
                words.remove(0);
            }
        }
        words
    }

    /// Executes a command: those with an effect on the shell have it, all others are kept.
    fn execute(&mut self, words: &[Word], mut command: GuideCommand) {
        let Some(first) = words.first().map(|word| word.text.clone()) else {
            return;
        };
        match &*first {
            "export" | "declare" | "typeset" | "readonly" | "local" => return,
            "cd" | "pushd" => return self.change_directory(words.get(1)),
            "unset" => {
                for word in &words[1..] {
                    self.variables.remove(&word.text);
                }
                return;
            }
            "alias" => return words[1..].iter().for_each(|word| self.define_alias(word)),
            silent if SILENT.contains(&silent) => return,
            _ => {}
        }
        if let Some(body) = self.functions.get(&first).cloned() {
            return self.call(&body, &words[1..], &command);
        }
        command.directory.clone_from(&self.directory);
        command.kind = read_kind(words, &command, &mut self.problems);
        self.is_typing = command.opens_shell();
        let is_refused = command.input != CommandInput::Nothing
            && command.is_in_container()
            && command.script().is_none();
        if is_refused {
            let message = format!(
                "`{}`: a recipe's commands have no input",
                show_text(&command.text)
            );
            let help = "write the input into a file, or into `bash -c '…'`";
            self.problems.error("guide", message, &command.span, help);
        }
        if command.is_in_container() {
            for redirect in std::mem::take(&mut command.redirects) {
                self.note(format!("`{redirect}`: dropped, Retrial keeps the output"));
            }
        }
        self.commands.push(command);
    }

    fn call(&mut self, body: &ast::FunctionBody, arguments: &[Word], command: &GuideCommand) {
        if self.call_depth == MAX_CALL_DEPTH {
            let help = "give the `docker run` that it comes to";
            self.problems.error(
                "guide",
                "functions call each other too often",
                &command.span,
                help,
            );
            return;
        }
        let outer = self.arguments.replace(arguments.to_vec());
        self.call_depth += 1;
        let whole = ast::Command::Compound(body.0.clone(), None);
        self.run_compound(&body.0, &whole);
        self.call_depth -= 1;
        self.arguments = outer;
    }

    fn define_alias(&mut self, word: &Word) {
        let Some((name, text)) = word.text.split_once('=') else {
            return;
        };
        let mut parser = Parser::new(text.as_bytes(), &parser_options());
        let Ok(program) = parser.parse_program() else {
            return;
        };
        let lists = program.complete_commands.iter().flat_map(|list| &list.0);
        let commands = lists.flat_map(|item| &item.0.first.seq).collect::<Vec<_>>();
        let [ast::Command::Simple(simple)] = commands[..] else {
            return;
        };
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let others = suffix.filter_map(|item| match item {
            Item::Word(word) | Item::AssignmentWord(_, word) => Some(word),
            _ => None,
        });
        let all: Vec<&ast::Word> = simple.word_or_name.iter().chain(others).collect();
        let words = all.into_iter().flat_map(|word| self.expand(word)).collect();
        self.aliases.insert(name.to_owned(), words);
    }

    fn assign(&mut self, assignment: &ast::Assignment) {
        let ast::AssignmentName::VariableName(name) = &assignment.name else {
            return;
        };
        let mut words = match &assignment.value {
            ast::AssignmentValue::Scalar(word) => vec![self.expand_assigned(word)],
            ast::AssignmentValue::Array(items) => items
                .iter()
                .flat_map(|(_, word)| self.expand(word))
                .collect(),
        };
        if assignment.append {
            let before = self.variables.remove(name).unwrap_or_default();
            words = match (&assignment.value, &before[..]) {
                (ast::AssignmentValue::Scalar(_), [one]) => {
                    vec![words[0].with_text(format!("{}{}", one.text, words[0].text))]
                }
                _ => before.into_iter().chain(words).collect(),
            };
        }
        self.variables.insert(name.clone(), words);
    }

    /// Returns the value of an assignment; one with a placeholder stays as it is written.
    fn expand_assigned(&mut self, word: &ast::Word) -> Word {
        if word.value.contains(PLACEHOLDER_START) {
            return Word::new(word.value.trim_matches(['"', '\'']), &self.word_span(word));
        }
        self.expand_joined(word)
    }

    fn redirect(&mut self, redirect: &ast::IoRedirect, command: &mut GuideCommand) {
        use ast::IoFileRedirectKind as Kind;
        match redirect {
            ast::IoRedirect::File(_, Kind::Read | Kind::ReadAndWrite, _) => {
                command.input = CommandInput::Other;
            }
            ast::IoRedirect::HereString(..) => command.input = CommandInput::Other,
            ast::IoRedirect::HereDocument(_, document) => {
                let text = &document.doc.value;
                let is_plain = !document.requires_expansion || !text.contains(['$', '`', '\\']);
                command.input = if is_plain && !text.contains("${{") {
                    CommandInput::Script(self.name_placeholders(text))
                } else {
                    CommandInput::Other
                };
            }
            _ => command.redirects.push(show(redirect)),
        }
    }
}

fn is_declaration(words: &[Word]) -> bool {
    let name = words.first().map(|word| &*word.text);
    matches!(
        name,
        Some("export" | "declare" | "typeset" | "readonly" | "local")
    )
}
