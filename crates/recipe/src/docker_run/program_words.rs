//! The program that a line starts in its container, as its image, entrypoint or command names it.

use super::line::ContainerLine;
use super::parts::RecipeParts;
use super::servers::{ImageArguments, is_server, read_image_arguments};

/// Returns whether a line starts a server that Retrial knows.
pub(super) fn is_known_server(parts: &RecipeParts<'_>, line: &ContainerLine) -> bool {
    is_server(&program_words(parts, line))
}

/// Returns the words of the program that a line starts, as far as they are known.
pub(super) fn program_words(parts: &RecipeParts<'_>, line: &ContainerLine) -> Vec<String> {
    let words = line.command.iter().map(|word| parts.literal(word));
    let words: Vec<String> = words.collect();
    if let Some(entrypoint) = line.flag("entrypoint") {
        return [parts.literal(entrypoint)].into_iter().chain(words).collect();
    }
    match read_image_arguments(&parts.literal(&line.image), &words, false) {
        ImageArguments::Of(entrypoint) => entrypoint.into_iter().chain(words).collect(),
        _ => words,
    }
}
