//! Executes simple commands of a block: those with an effect on the shell have it, all others are kept.

use brush_parser::Parser;
use brush_parser::ast::{self, CommandPrefixOrSuffixItem as Item, SourceLocation as _};

use super::commands::{CommandInput, CommandKind, GuideCommand, is_tool};
use super::grammar::{PLACEHOLDER_START, parser_options};
use super::line::{ContainerLine, FlagValue, LineReader};
use super::programs::SRUN;
use super::secret::is_secret;
use super::shell::{Shell, written_text};
use super::shells::is_shell_name;
use super::shown_text::{show, show_text};
use super::values::Word;
use super::wrappers::find_wrappers;
use crate::Span;

/// The deepest nesting of calls of a block's functions.
const MAX_CALL_DEPTH: usize = 8;
/// Commands with an effect on the shell only, which is not followed and does not matter.
const SILENT: [&str; 11] =
    ["set", "shopt", ":", "true", "exit", "return", "wait", "trap", "shift", "sleep", "clear"];

/// Variables that every container sets itself.
const OWN_VARIABLES: [&str; 5] = ["PATH", "HOME", "USER", "SHELL", "LD_LIBRARY_PATH"];

impl Shell<'_> {
    pub(super) fn run_simple(&mut self, simple: &ast::SimpleCommand, is_background: bool) {
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let mut command = GuideCommand {
            is_background,
            ..GuideCommand::new(
                CommandKind::Other,
                written_text(simple),
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
            return assigned.into_iter().for_each(|assignment| drop(self.assign(assignment)));
        };
        let mut words = self.expand(name);
        if let Some(alias) = words.first().and_then(|word| self.aliases.get(&word.text)) {
            let alias = alias.iter().map(|word| words[0].with_text(&word.text));
            words.splice(0..1, alias.collect::<Vec<_>>());
        }
        // `$DOCKER run`
        let program = words.first().map(|word| self.values.literal(&word.text));
        if let Some(program) = program
            && name.value.trim_start_matches('"').starts_with('$')
            && program.split_whitespace().any(is_tool)
        {
            let parts = program.split_whitespace();
            let parts: Vec<Word> = parts.map(|part| words[0].with_text(part)).collect();
            words.splice(0..1, parts);
        }
        for item in suffix {
            match item {
                Item::AssignmentWord(assignment, _) if is_declaration(&words) => {
                    let name = self.assign(assignment);
                    let is_export = words[0].text == "export";
                    self.exported.extend(name.filter(|_| is_export));
                }
                Item::Word(word) | Item::AssignmentWord(_, word) => words.extend(self.expand(word)),
                Item::IoRedirect(redirect) => self.redirect(redirect, &mut command),
                Item::ProcessSubstitution(..) => {
                    let message = format!("`{}` needs a shell", show(item));
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
        let outer = (self.variables.clone(), self.exported.clone());
        for assignment in assigned {
            command.assigned.extend(self.assign(assignment));
        }
        let words = self.drop_wrappers(words, &mut command);
        self.exported.extend(command.assigned.iter().cloned());
        let is_assigned = !command.assigned.is_empty();
        self.execute(&words, command);
        if is_assigned {
            (self.variables, self.exported) = outer;
        }
    }

    /// Drops the programs that only start another one.
    fn drop_wrappers(&mut self, mut words: Vec<Word>, command: &mut GuideCommand) -> Vec<Word> {
        let texts: Vec<&str> = words.iter().map(|word| &*word.text).collect();
        let wrappers = find_wrappers(&texts);
        let counts = |word: &&str| word.split_whitespace().any(is_tool);
        if texts.get(wrappers.count).is_some_and(counts) {
            for (range, reason) in wrappers.notes {
                let shown = show_text(&self.values.written(&texts[range].join(" ")));
                self.note(format!("`{shown}`: dropped, {reason}"));
            }
        }
        for at in wrappers.assignments {
            let word = &words[at];
            if let Some((name, value)) = word.text.split_once('=') {
                self.variables.insert(name.to_owned(), vec![word.with_text(value)]);
                command.assigned.push(name.to_owned());
            }
        }
        words.split_off(wrappers.count)
    }

    /// Executes a command: those with an effect on the shell have it, all others are kept.
    fn execute(&mut self, words: &[Word], mut command: GuideCommand) {
        let Some(first) = words.first().map(|word| word.text.clone()) else {
            return;
        };
        if let Some(script) = inner_script(words) {
            return self.follow_inner(&script, &command.span);
        }
        match &*first {
            "export" => {
                let names = words[1..].iter().filter(|word| !word.text.starts_with('-'));
                return self.exported.extend(names.map(|word| word.text.clone()));
            }
            "declare" | "typeset" | "readonly" | "local" => return,
            "cd" | "pushd" => return self.change_directory(words.get(1)),
            "unset" => {
                for word in &words[1..] {
                    self.variables.remove(&word.text);
                }
                return;
            }
            "alias" => return words[1..].iter().for_each(|word| self.define_alias(word)),
            "salloc" => return self.allocate(&words[1..], command),
            silent if SILENT.contains(&silent) => return,
            _ => {}
        }
        if let Some(body) = self.functions.get(&first).cloned() {
            return self.call(&body, &words[1..], &command);
        }
        command.directory.clone_from(&self.directory);
        command.kind = self.read_kind(words, &command);
        if let CommandKind::Run(line) | CommandKind::Exec(line) = &mut command.kind {
            self.settle_variables(line, &command.assigned);
        }
        self.remember_file(words, &command);
        self.is_typing = command.opens_shell();
        if command.input == CommandInput::Other && command.is_in_container() {
            let message =
                format!("`{}`: a recipe's commands have no input", show_text(&command.text));
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

    /// Follows the commands within a word: `ssh host 'docker run …'`, `bash -c "docker run …"`.
    pub(super) fn follow_inner(&mut self, script: &str, span: &Span) {
        let parsed = Parser::new(script.as_bytes(), &parser_options()).parse_program();
        let Ok(program) = parsed else {
            let help = "give the commands in the quotes, each on a line of its own";
            let message = "shell syntax error in the quoted commands";
            return self.problems.error("guide", message, span, help);
        };
        let outer = self.place.replace(span.clone());
        for list in &program.complete_commands {
            self.run_list(list);
        }
        self.place = outer;
    }

    /// Follows the command that `salloc` starts, with the job's options.
    fn allocate(&mut self, words: &[Word], command: GuideCommand) {
        let mut reader = LineReader::new(&SRUN, words, &mut self.problems);
        reader.read_flags();
        let rest = reader.rest.as_slice();
        let flags = reader.flags;
        self.job.flags.extend(flags);
        self.execute(rest, command);
    }

    /// Gives `--env NAME` the value that the block assigns.
    fn settle_variables(&mut self, line: &mut ContainerLine, assigned: &[String]) {
        let is_docker = |flag: &FlagValue| !matches!(flag.flag.program, "srun" | "apptainer");
        let own = |name: &&String| !name.starts_with("DOCKER_") && line.flags.iter().all(is_docker);
        for name in assigned.iter().filter(own) {
            let is_passed = |word: &Word| word.text.split('=').next() == Some(name);
            if !line.all_values("env").any(is_passed) {
                self.note(format!(
                    "`{name}=…` before the command: dropped, docker passes a variable only with `--env {name}`"
                ));
            }
        }
        for option in &mut line.flags {
            let name = option.value.text.clone();
            let is_name = option.flag.name == "env" && !name.contains(['=', '$']);
            if !is_name || is_secret(&name) || !self.variables.contains_key(&name) {
                continue;
            }
            if !self.exported.contains(&name) {
                self.note(format!(
                    "--env {name}: the guide assigns {name} without `export`, and docker passes nothing then; its value is in the recipe"
                ));
            }
            let value = self.variable(&name, &format!("${name}"), None);
            option.value = option.value.with_text(format!("{name}={value}"));
        }
    }

    /// Returns the variables that Slurm and Apptainer pass on: those that the block exports and does not use itself.
    pub(super) fn inherited_variables(&mut self, span: &Span) -> Vec<Word> {
        let names: Vec<String> = self.exported.difference(&self.used).cloned().collect();
        let mut words = Vec::new();
        for name in names.iter().filter(|name| !OWN_VARIABLES.contains(&&***name)) {
            let prefixes = ["APPTAINERENV_", "SINGULARITYENV_"];
            let inside = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix));
            let value = match self.variables.get(name).map(|words| &words[..]) {
                Some([word]) if !word.text.contains(PLACEHOLDER_START) => word.text.clone(),
                _ => self.variable(name, &format!("${name}"), None),
            };
            words.push(Word::new(format!("{}={value}", inside.unwrap_or(name)), span));
        }
        words
    }

    /// Keeps the text of a file that the block writes, for `--env-file`.
    fn remember_file(&mut self, words: &[Word], command: &GuideCommand) {
        let texts: Vec<&str> = words.iter().map(|word| &*word.text).collect();
        let (path, text) = match (&texts[..], &command.input, &command.output) {
            (["cat"], CommandInput::Script(text), Some((path, _))) => (path.clone(), text.clone()),
            (["tee", path], CommandInput::Script(text), _) => ((*path).to_owned(), text.clone()),
            (["echo", texts @ ..], CommandInput::Nothing, Some((path, _))) => {
                (path.clone(), texts.join(" ") + "\n")
            }
            _ => return,
        };
        let appends = command.output.as_ref().is_some_and(|(_, appends)| *appends);
        let file = self.files.entry(path.trim_start_matches("./").to_owned());
        let file = file.or_default();
        if !appends {
            file.clear();
        }
        file.push_str(&text);
    }

    fn call(&mut self, body: &ast::FunctionBody, arguments: &[Word], command: &GuideCommand) {
        if self.call_depth == MAX_CALL_DEPTH {
            let help = "write the equivalent `docker run`";
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

    /// Assigns a variable, and returns its name.
    fn assign(&mut self, assignment: &ast::Assignment) -> Option<String> {
        let ast::AssignmentName::VariableName(name) = &assignment.name else {
            return None;
        };
        let mut words = match &assignment.value {
            ast::AssignmentValue::Scalar(word) => vec![self.expand_assigned(word)],
            ast::AssignmentValue::Array(items) => {
                items.iter().flat_map(|(_, word)| self.expand(word)).collect()
            }
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
        Some(name.clone())
    }

    /// Returns the value of an assignment; one with a placeholder stays as it is written.
    fn expand_assigned(&mut self, word: &ast::Word) -> Word {
        if word.value.contains(PLACEHOLDER_START) {
            return Word::new(word.value.trim_matches(['"', '\'']), &self.word_span(word));
        }
        self.expand_joined(word)
    }

    fn redirect(&mut self, redirect: &ast::IoRedirect, command: &mut GuideCommand) {
        use ast::{IoFileRedirectKind as Kind, IoFileRedirectTarget as Target};
        match redirect {
            ast::IoRedirect::File(_, Kind::Read | Kind::ReadAndWrite, _) => {
                command.input = CommandInput::Other;
            }
            ast::IoRedirect::HereString(_, word) => {
                let text = self.expand_joined(word).text;
                command.input = CommandInput::Script(text + "\n");
            }
            ast::IoRedirect::HereDocument(_, document) => {
                let text = &document.doc.value;
                let text = if document.requires_expansion {
                    self.expand_document(text, &command.span)
                } else {
                    self.take_literally(text, &command.span)
                };
                command.input = CommandInput::Script(text);
            }
            ast::IoRedirect::File(descriptor, kind, target) => {
                if let (None | Some(1), Target::Filename(word)) = (descriptor, target) {
                    let path = self.expand_joined(word).text;
                    command.output = Some((path, matches!(kind, Kind::Append)));
                }
                command.redirects.push(show(redirect));
            }
            ast::IoRedirect::OutputAndError(..) => command.redirects.push(show(redirect)),
        }
    }
}

/// Returns the commands that a shell is given as words, if containers are started by them.
fn inner_script(words: &[Word]) -> Option<String> {
    let texts: Vec<&str> = words.iter().map(|word| &*word.text).collect();
    let script = match texts[..] {
        [script] | ["sg", _, "-c", script] => script.to_owned(),
        [shell, "-c" | "-lc" | "-ic" | "-ec", script, ..] if is_shell_name(shell) => {
            script.to_owned()
        }
        ["eval", ref words @ ..] => words.join(" "),
        _ => return None,
    };
    let has_words = script.split_whitespace().nth(1).is_some();
    (has_words && script.split_whitespace().any(is_tool)).then_some(script)
}

fn is_declaration(words: &[Word]) -> bool {
    let name = words.first().map(|word| &*word.text);
    matches!(name, Some("export" | "declare" | "typeset" | "readonly" | "local"))
}
