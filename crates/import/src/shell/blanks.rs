//! What a guide leaves to its reader: `<your model>`, `/path/to/data`, `YOUR_IMAGE`, `...`.
//!
//! A placeholder in brackets is marked before the grammar reads the text, since the shell takes `<` for a redirection:
//! each of its characters is moved to a private range of Unicode, so that all positions stay.

use std::ops::Range;

/// The first of the private characters that stand for those of a placeholder.
const PRIVATE: u32 = 0xE000;

/// Marks the placeholders of a text.
pub fn mark_placeholders(letters: &mut [char]) {
    let quoted = open_quotes(letters);
    let mut at = 0;
    while at < letters.len() {
        match find_end(letters, at, &quoted) {
            Some(end) => {
                for letter in &mut letters[at..end] {
                    if letter.is_ascii() {
                        *letter = char::from_u32(PRIVATE + *letter as u32).unwrap_or(*letter);
                    }
                }
                at = end;
            }
            None => at += 1,
        }
    }
}

/// Returns the quotes in which each character is.
pub fn open_quotes(letters: &[char]) -> Vec<Option<char>> {
    let mut state = None;
    let mut escaped = false;
    let quoted = letters.iter().map(|&letter| {
        match (state, letter) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => state = Some(letter),
            (Some(open), _) if open == letter => state = None,
            _ => {}
        }
        state
    });
    quoted.collect()
}

/// Returns the end of a placeholder that begins here.
fn find_end(letters: &[char], at: usize, quoted: &[Option<char>]) -> Option<usize> {
    let opens = match letters[at] {
        '<' => true,
        '‹' | '⟨' => false,
        _ => return None,
    };
    let before = at.checked_sub(1).map(|before| letters[before]);
    if before == Some('<')
        || before.is_some_and(|letter| {
            letter.is_ascii_digit() && opens && is_word_start(letters, at - 1)
        })
    {
        return None;
    }
    let inner = &letters[at + 1..];
    let length = placeholder_length(inner)?;
    let text = &inner[..length];
    let first = text.first()?;
    let begins = first.is_alphanumeric() || matches!(first, '_' | '/' | '.' | '$' | '-' | '*');
    let last_is_blank = text.last().is_some_and(|letter| letter.is_whitespace());
    let is_named = text.iter().any(|letter| letter.is_alphabetic());
    if opens && (!begins || last_is_blank)
        || !is_named
        || text.contains(&';')
        || !keeps_quotes(text, quoted[at])
    {
        return None;
    }
    // `List<int>`, `<b>…</b>`: code and markup in a quoted text.
    let end = at + length + 2;
    let name: String = text.iter().collect();
    let closes = |from: usize| {
        let rest: String = letters[from..].iter().take(2000).collect();
        rest.contains(&format!("</{name}>"))
    };
    let is_code = quoted[at] == Some('\'') && before.is_some_and(char::is_alphanumeric)
        || closes(end)
        || name.starts_with('/')
            && !name[1..].contains('/')
            && letters[at.saturating_sub(2000)..at].windows(name.len()).any(|window| {
                window[0] == '<' && window[1..].iter().copied().eq(name[1..].chars())
            });
    (!is_code).then_some(end)
}

/// Whether the quotes of a placeholder are its own: none closes the quotes around it, or is left open.
fn keeps_quotes(text: &[char], open: Option<char>) -> bool {
    let is_apostrophe = |at: usize| {
        at > 0
            && text[at - 1].is_alphanumeric()
            && text.get(at + 1).is_some_and(|next| next.is_alphanumeric())
    };
    let count = |quote: char| {
        let places = text.iter().enumerate().filter(|(_, letter)| **letter == quote);
        places.filter(|(at, _)| quote != '\'' || open == Some('\'') || !is_apostrophe(*at)).count()
    };
    ['\'', '"'].into_iter().all(|quote| match open {
        Some(open) if open == quote => count(quote) == 0,
        Some(_) => true,
        None => count(quote) % 2 == 0,
    })
}

/// Returns the length of a placeholder behind its bracket: up to the bracket that closes it, on its line.
fn placeholder_length(inner: &[char]) -> Option<usize> {
    let mut depth = 0;
    for (at, letter) in inner.iter().enumerate() {
        let next = inner.get(at + 1).copied().unwrap_or('\n');
        // `<=16` is text of the guide.
        let is_text = match letter {
            '<' => at > 0 && matches!(next, '=' | ' '),
            letter => *letter == '>' && next == '=',
        };
        match letter {
            _ if is_text => {}
            '<' | '‹' | '⟨' if at > 0 && next.is_alphanumeric() => depth += 1,
            '\n' | '<' | '‹' | '⟨' => return None,
            '>' | '›' | '⟩' if depth == 0 => return Some(at),
            '>' | '›' | '⟩' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn is_word_start(letters: &[char], at: usize) -> bool {
    at == 0 || letters[at - 1].is_whitespace()
}

/// Returns a text with the characters that were marked.
pub fn unmark(text: &str) -> String {
    text.chars().map(unmark_letter).collect()
}

fn unmark_letter(letter: char) -> char {
    let code = letter as u32;
    let is_marked = (PRIVATE..PRIVATE + 0x80).contains(&code);
    if is_marked { char::from_u32(code - PRIVATE).unwrap_or(letter) } else { letter }
}

/// A part of a text that the reader fills in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blank {
    /// Its place, in bytes.
    pub range: Range<usize>,
    /// The guide's words, without brackets.
    pub words: String,
}

impl Blank {
    /// Returns the value that the guide states if the reader fills in none: `(default: 1)`.
    pub fn default(&self) -> Option<String> {
        let lower = self.words.to_lowercase();
        let at = lower.find("default:").map(|at| at + "default:".len());
        let at = at.or_else(|| Some(lower.find("default ")? + "default ".len()))?;
        let rest = self.words.get(at..)?.trim_start_matches([' ', '=', '"', '\'', '`']);
        let end = rest.find([')', ',', ' ', '"', '\'', '`', '>']).unwrap_or(rest.len());
        (end > 0).then(|| rest[..end].to_owned())
    }
}

/// Finds the blanks of a text.
pub fn find_blanks(text: &str) -> Vec<Blank> {
    let mut blanks = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        match blank_at(text, at) {
            Some(blank) => {
                at = blank.range.end;
                blanks.push(blank);
            }
            None => at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }
    blanks
}

fn blank_at(text: &str, at: usize) -> Option<Blank> {
    let rest = &text[at..];
    let first = rest.chars().next()?;
    let before = text[..at].chars().next_back();
    if matches!(unmark_letter(first), '<') && unmark_letter(first) != first
        || matches!(first, '‹' | '⟨')
    {
        let letters: Vec<char> = rest.chars().map(unmark_letter).collect();
        let length = placeholder_length(&letters[1..])?;
        let end: usize = rest.chars().take(length + 2).map(char::len_utf8).sum::<usize>() + at;
        let whole = unmark(&text[at..end]);
        let words = whole.trim_matches(['<', '>', '‹', '›', '⟨', '⟩']).trim().to_owned();
        return Some(Blank { range: at..end, words });
    }
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let at_word = before.is_none_or(|letter| !is_name(letter) && letter != '$' && letter != '{');
    let is_path = at_word
        && before != Some('/')
        && ["/path/to/", "path/to/", "/your/", "/your_", "/your-"]
            .iter()
            .any(|start| rest.starts_with(start));
    let is_own =
        at_word && ["YOUR_", "YOUR-", "MY_OWN_"].iter().any(|start| rest.starts_with(start));
    if !is_path && !is_own {
        return None;
    }
    let ends = |letter: char| {
        letter.is_whitespace() || "\"'`:,;|&<>()={}$\\".contains(letter) || is_own && letter == '/'
    };
    let end = at + rest.find(ends).unwrap_or(rest.len());
    Some(Blank { range: at..end, words: text[at..end].to_owned() })
}

/// Returns whether a word stands for words that the guide leaves out: `...`, `…`, `....`.
pub fn is_ellipsis(word: &str) -> bool {
    let dots = word.trim_matches(['[', ']', '(', ')', '<', '>']);
    dots.chars().count() >= 3 && dots.chars().all(|letter| letter == '.')
        || !dots.is_empty() && dots.chars().all(|letter| letter == '…')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut letters: Vec<char> = text.chars().collect();
        mark_placeholders(&mut letters);
        let marked: String = letters.iter().collect();
        assert_eq!(unmark(&marked), text);
        find_blanks(&marked).into_iter().map(|blank| blank.words).collect()
    }

    #[test]
    fn placeholders_are_no_redirections() {
        for (text, expected) in [
            ("-v <path>:/data <your user>", &["path", "your user"][..]),
            ("X=<either INT8, or (default: FP32)>", &["either INT8, or (default: FP32)"]),
            ("H=<a cache, e.g. ~/.cache>", &["a cache, e.g. ~/.cache"]),
            ("‹steps (default: 1)>", &["steps (default: 1)"]),
            ("a <in >out 2>&1 <<EOF > f", &[]),
            ("cat < in > out", &[]),
            ("-v /path/to/x:/y --m YOUR_MODEL", &["/path/to/x", "YOUR_MODEL"]),
            ("echo '<b>x</b>' 'List<int>'", &[]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
        assert!(
            is_ellipsis("....") && is_ellipsis("…") && !is_ellipsis("..") && !is_ellipsis("./x")
        );
    }

    #[test]
    fn a_default_is_read() {
        let default = |words: &str| Blank { range: 0..0, words: words.to_owned() }.default();
        assert_eq!(default("steps (default: 1)").as_deref(), Some("1"));
        assert_eq!(default("steps"), None);
    }
}
