//! Reads a command of the host's shell: what it changes for those behind it, and the program that it starts.

use super::commands::{is_tool, names_tool};
use super::reader::Reader;
use super::wrappers::find_wrappers;
use crate::shell::{Item, RawWord, Simple, mark_placeholders, parse_commands, unmark};

impl Reader<'_> {
    pub(super) fn read_simple(&mut self, simple: &Simple, item: &Item) {
        for assignment in &simple.assignments {
            self.assign(assignment);
        }
        let Some(first) = simple.words.first() else { return };
        if first.text == "export" {
            let names = simple.words[1..]
                .iter()
                .map(|word| word.text.split('=').next().unwrap_or_default());
            self.values.exported.extend(names.map(str::to_owned));
            return;
        }
        if matches!(
            &*first.text,
            "declare" | "readonly" | "local" | "typeset" | "set" | "shopt" | ":" | "true" | "unset"
        ) {
            return;
        }
        if let Some(alias) = self.aliases.get(&first.text).cloned() {
            let words = alias.into_iter().chain(simple.words[1..].iter().cloned()).collect();
            return self.read_words(&Simple { words, ..simple.clone() }, item);
        }
        if let Some(function) = self.functions.get(&first.text).cloned() {
            return self.call_function(&first.text, &function, item);
        }
        self.read_words(simple, item);
    }

    fn call_function(&mut self, name: &str, inner: &[Item], item: &Item) {
        if !inner.iter().any(names_tool) {
            return self.push_host(item);
        }
        let span = self.span(item.range.clone());
        let help = "give the command line that the function executes, with its values";
        self.problems.error(
            "guide",
            format!("`{name}`: a function that starts a container"),
            &span,
            help,
        );
    }

    /// Reads words; a program in a variable is that of its value: `$DOCKER run …`.
    fn read_words(&mut self, simple: &Simple, item: &Item) {
        let first = &simple.words[0];
        let is_variable = first.text.trim_matches('"').starts_with('$');
        let expanded =
            if is_variable { self.expand(std::slice::from_ref(first)).words } else { Vec::new() };
        if expanded.iter().any(|word| word.plain().is_some_and(is_tool)) {
            let program = expanded.iter().map(|word| {
                let mut letters: Vec<char> = word.sketch(&self.values).chars().collect();
                mark_placeholders(&mut letters);
                RawWord { text: letters.into_iter().collect(), range: first.range.clone() }
            });
            let program: Vec<RawWord> = program.collect();
            let words = program.into_iter().chain(simple.words[1..].iter().cloned()).collect();
            return self.read_program(&Simple { words, ..simple.clone() }, item);
        }
        self.read_program(simple, item);
    }

    fn read_program(&mut self, simple: &Simple, item: &Item) {
        let texts: Vec<&str> = simple.words.iter().map(|word| &*word.text).collect();
        let wrappers = find_wrappers(&texts);
        let name = texts.get(wrappers.count).copied().unwrap_or_default();
        match name {
            "cd" | "pushd" => {
                let words = self.expand(&simple.words[wrappers.count + 1..]);
                return self.change_directory(words.words.first());
            }
            "alias" => return self.read_alias(&simple.words[wrappers.count + 1..]),
            _ => {}
        }
        if !is_tool(name) {
            if self.refuse_launcher(name, &texts, item) {
                return;
            }
            self.read_file(simple);
            return self.push_host(item);
        }
        for (at, reason) in &wrappers.notes {
            self.note(format!("`{}` before `{name}`: dropped, {reason}", texts[*at]));
        }
        let words = self.expand(&simple.words[wrappers.count + 1..]);
        self.read_tool(name, &words, simple, item);
    }

    /// Refuses a launcher in front of a program that starts containers: `mpirun -np 2 apptainer exec …`.
    fn refuse_launcher(&mut self, name: &str, words: &[&str], item: &Item) -> bool {
        let tool = words.iter().skip(1).find(|word| is_tool(word));
        let launchers = ["mpirun", "mpiexec", "xargs", "parallel", "watch", "pdsh", "clush"];
        let (Some(tool), true) = (tool, launchers.contains(&name)) else { return false };
        let span = self.span(item.range.clone());
        let help = "a recipe has one container in which the launcher runs: write `apptainer exec docker://IMAGE mpirun … COMMAND`, or `nodes` for several machines";
        self.problems.error(
            "guide",
            format!("`{name}` in front of `{tool}`: a container for each process"),
            &span,
            help,
        );
        true
    }

    /// Keeps the text of a file that a here-document writes.
    fn read_file(&mut self, simple: &Simple) {
        let (Some(document), Some(path)) = (&simple.here_document, &simple.output) else { return };
        let path = unmark(&path.text).trim_start_matches("./").to_owned();
        if !document.expands || !document.body.contains(['$', '`']) {
            self.files.insert(path, unmark(&document.body));
        }
    }

    fn read_alias(&mut self, words: &[RawWord]) {
        for word in words {
            let Some((name, text)) = word.text.split_once('=') else { continue };
            let text = text.trim_matches(['\'', '"']);
            let letters: Vec<char> = text.chars().collect();
            let items = parse_commands(&letters).unwrap_or_default();
            let simple = items.first().and_then(Item::simple);
            if let Some(simple) = simple {
                let place = |raw: &RawWord| RawWord { range: word.range.clone(), ..raw.clone() };
                self.aliases.insert(name.to_owned(), simple.words.iter().map(place).collect());
            }
        }
    }
}
