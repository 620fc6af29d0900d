//! Classifies commands by their syntax, before their words are expanded.

use brush_parser::ast::{self, CommandPrefixOrSuffixItem as Item};

use super::commands::is_tool;
use super::wrappers::find_wrappers;

/// Whether a command is one of a container's tools.
pub(super) fn names_tool(command: &ast::Command) -> bool {
    tool_words(command).is_some()
}

/// Whether a command of a container's tool gives a container its input.
pub(super) fn reads_input(command: &ast::Command) -> bool {
    let is_of_image = |word: &&str| ["login", "load", "import"].contains(word);
    tool_words(command).is_some_and(|words| !words.iter().any(is_of_image))
}

/// Returns the words of a container's tool, with it.
fn tool_words(command: &ast::Command) -> Option<Vec<&str>> {
    let ast::Command::Simple(simple) = command else {
        return None;
    };
    let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
    let others = suffix.filter_map(|item| match item {
        Item::Word(word) => Some(&*word.value),
        _ => None,
    });
    let name = simple.word_or_name.iter().map(|word| &*word.value);
    let words: Vec<&str> = name.chain(others).collect();
    let tool = words.get(find_wrappers(&words).count..)?;
    let is_one = tool.first().is_some_and(|word| is_tool(word));
    is_one.then(|| tool.to_vec())
}

/// Whether a command only tests something.
pub(super) fn is_test(command: &ast::Command) -> bool {
    match command {
        ast::Command::Simple(simple) => {
            let name = simple.word_or_name.as_ref();
            name.is_some_and(|word| matches!(&*word.value, "[" | "test"))
        }
        ast::Command::ExtendedTest(..) => true,
        _ => false,
    }
}
