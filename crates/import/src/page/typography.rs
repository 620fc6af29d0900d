//! Characters that the typesetting of a web page puts in the place of the shell's: `“quotes”` and `–option`. The shell
//! takes them as text, which no guide means. Within plain quotes they stay.

/// The quotes in which a character of the block is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QuoteState {
    Plain,
    Comment,
    /// Within these plain quotes.
    Quoted(char),
    /// Within typeset quotes that stand for these.
    Typeset(char),
}

/// A block without typesetting.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PlainText {
    /// The text with plain quotes; a character stays one character.
    pub text: String,
    /// Whether typeset quotes were replaced.
    pub has_typeset_quotes: bool,
    /// The places of typeset dashes that begin an option: each may be one plain dash or two.
    pub dashes: Vec<usize>,
}

pub fn undo_typesetting(text: &str) -> PlainText {
    let mut plain = PlainText::default();
    let mut state = QuoteState::Plain;
    let mut before = ' ';
    let mut letters = text.chars().enumerate().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_escaped = before == '\\' && state != QuoteState::Quoted('\'');
        let begins_word = before.is_whitespace();
        let quote = plain_quote(letter);
        let quote = quote.filter(|_| matches!(state, QuoteState::Plain | QuoteState::Typeset(_)));
        state = match (state, letter, quote) {
            (QuoteState::Plain, _, Some(quote)) => QuoteState::Typeset(quote),
            (QuoteState::Typeset(opened), _, Some(quote)) if quote == opened => QuoteState::Plain,
            (QuoteState::Plain, '"' | '\'', _) if !is_escaped => QuoteState::Quoted(letter),
            (QuoteState::Plain, '#', _) if begins_word => QuoteState::Comment,
            (QuoteState::Comment, '\n', _) => QuoteState::Plain,
            (QuoteState::Quoted(opened), ..) if letter == opened && !is_escaped => {
                QuoteState::Plain
            }
            (other, ..) => other,
        };
        let is_option =
            letters.peek().is_some_and(|(_, next)| next.is_alphanumeric() || *next == letter);
        if state == QuoteState::Plain && begins_word && is_option && is_dash(letter) {
            plain.dashes.push(at);
        }
        plain.has_typeset_quotes |= quote.is_some();
        plain.text.push(quote.unwrap_or(letter));
        before = letter;
    }
    plain
}

/// Returns the quote that typesetting replaced.
fn plain_quote(letter: char) -> Option<char> {
    match letter {
        '“' | '”' | '„' => Some('"'),
        '‘' | '’' | '‚' => Some('\''),
        _ => None,
    }
}

/// Whether a character is a dash other than that of the keyboard.
fn is_dash(letter: char) -> bool {
    matches!(letter, '\u{2010}'..='\u{2015}' | '\u{2212}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typesetting_is_undone_outside_of_plain_quotes() {
        let plain = |text: &str| {
            let undone = undo_typesetting(text);
            (undone.text, undone.dashes)
        };
        let quoted = plain("a ‘“b=0”’ \"“c” it’s\" # “d” don't\n“e f”");
        assert_eq!(quoted, ("a '\"b=0\"' \"“c” it’s\" # “d” don't\n\"e f\"".to_owned(), vec![]));
        assert_eq!(plain("a –rm '–x' – b—c ——d").1, [2, 17]);
    }
}
