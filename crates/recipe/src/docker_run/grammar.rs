//! Markers and options for the grammar of the shell: what stands in a text in place of placeholders, and how a part of
//! it becomes the user's text again.

use brush_parser::ParserOptions;

/// Delimit a placeholder in the prepared text, where the user's text has `<` and `>`.
pub(super) const PLACEHOLDER_START: char = '\u{e000}';
pub(super) const PLACEHOLDER_END: char = '\u{e001}';
pub(super) const PLACEHOLDER_BLANK: char = '\u{e002}';

/// The options of the grammar. `~` is read here.
pub(super) fn parser_options() -> ParserOptions {
    ParserOptions { tilde_expansion_at_word_start: false, ..ParserOptions::default() }
}

/// Marks `<HOST_DIR>`, the placeholder of many guides, which the shell would read as redirections.
pub(super) fn mark_placeholders(letters: &mut [char]) {
    let mut from = 0;
    while let Some(start) = letters[from..].iter().position(|&letter| letter == '<') {
        let start = from + start;
        from = start + 1;
        // A quote between blanks or brackets is the shell's: `'<a' 'b>'` is two words.
        let is_inner = |&at: &usize| match letters.get(at) {
            Some('\'') => [at - 1, at + 1]
                .iter()
                .all(|next| letters.get(*next).is_some_and(|letter| letter.is_alphanumeric())),
            Some(letter) => letter.is_alphanumeric() || "_-./ ,:".contains(*letter),
            None => false,
        };
        let end = from + (from..letters.len()).take_while(is_inner).count();
        let is_named = letters[from..end].iter().any(|letter| letter.is_alphanumeric());
        let is_closed = letters.get(end) == Some(&'>') && letters.get(end + 1) != Some(&'>');
        let is_redirection = start > 0 && matches!(letters[start - 1], '<' | '&')
            || letters.get(from).is_none_or(|letter| letter.is_whitespace())
            || letters.get(end - 1) == Some(&' ');
        if !is_named || !is_closed || is_redirection {
            continue;
        }
        letters[start] = PLACEHOLDER_START;
        letters[end] = PLACEHOLDER_END;
        for letter in &mut letters[from..end] {
            // A quote in a placeholder, as in <the model's path>, does not belong to the shell.
            if matches!(letter, ' ' | '\'') {
                *letter = PLACEHOLDER_BLANK;
            }
        }
        from = end + 1;
    }
}

/// Returns a prepared text as a person reads it.
pub(super) fn unmark_placeholders(text: &str) -> String {
    text.replace(PLACEHOLDER_START, "<")
        .replace(PLACEHOLDER_END, ">")
        .replace(PLACEHOLDER_BLANK, " ")
}

/// Removes the quotes from the last line of here-documents with a quoted end, as the grammar renders them.
pub(super) fn restore_here_documents(text: &str) -> String {
    let quoted_end = |line: &str| {
        let (_, end) = line.split_once("<<")?;
        let end = end.trim_start_matches('-').split_whitespace().next()?;
        end.contains(['\'', '"', '\\']).then(|| end.to_owned())
    };
    let mut ends: Vec<String> = Vec::new();
    let lines = text.split('\n').map(|line| {
        if let Some(at) = ends.iter().position(|end| end == line) {
            return ends.remove(at).replace(['\'', '"', '\\'], "");
        }
        ends.extend(quoted_end(line));
        line.to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}
