//! Continued lines as guides write them: with blanks or comments at which the shell would end the command, and in the
//! syntax of PowerShell and `cmd`.

/// Returns whether the next line continues this one, and writes its end as bash has it. `is_continued` is the answer
/// for the line before, `rest` the text behind this line.
pub(super) fn settle_continuation(letters: &mut [char], is_continued: bool, rest: &str) -> bool {
    let first = letters.iter().position(|letter| !letter.is_whitespace());
    let is_comment = first.is_some_and(|at| letters[at] == '#');
    let is_gap = is_continued && (is_comment || first.is_none());
    let comment = match first {
        Some(at) if is_gap => Some(at),
        _ => find_comment(letters),
    };
    let ends_in_backslash = |letters: &[char]| {
        let last = letters.iter().rposition(|letter| !letter.is_whitespace());
        last.filter(|&at| continues_line(&letters[..=at]))
    };
    let is_continued_comment = is_gap && ends_in_backslash(letters).is_some();
    if let Some(at) = comment {
        let end = letters.len() - usize::from(letters.ends_with(&['\n']));
        letters[at..end].fill(' ');
    }
    let last = ends_in_backslash(letters);
    let goes_on = last.is_some() || is_continued_comment || is_gap && begins_with_flag(rest);
    if goes_on {
        if let Some(at) = last.filter(|_| letters.ends_with(&['\n'])) {
            letters[at] = ' ';
        }
        match letters {
            [.., before, '\n'] => *before = '\\',
            [end @ '\n'] => *end = ' ',
            _ => {}
        }
    }
    goes_on
}

/// Returns the start of a comment behind a `\`, because of which bash would not continue the line: `--ipc=host \ # shared memory`.
fn find_comment(letters: &[char]) -> Option<usize> {
    let mut places = letters.iter().enumerate().skip(1);
    places.find_map(|(at, letter)| {
        let is_alone = *letter == '\\' && letters[at - 1].is_whitespace();
        let mut behind = (at + 1..letters.len()).skip_while(|next| letters[*next] == ' ');
        let comment = behind.next().filter(|next| letters[*next] == '#');
        comment.filter(|next| is_alone && next - at > 1)
    })
}

/// Returns whether the next line that is not a comment begins with a flag, and so belongs to the command before it.
fn begins_with_flag(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    lines
        .find(|line| !line.is_empty() && !line.starts_with('#'))
        .is_some_and(|line| line.starts_with('-') && !line.starts_with("- "))
}

/// Returns whether a line ends in a sign of continuation: `\`, or the backtick of PowerShell or `^` of `cmd` as a word.
fn continues_line(letters: &[char]) -> bool {
    match letters {
        [before @ .., '\\'] => before.last() != Some(&'\\'),
        [before @ .., '`'] => before.ends_with(&[' ']) && !before.contains(&'`'),
        [before @ .., '^'] => before.ends_with(&[' ']),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_on_as_guides_mean_it() {
        let settled = |line: &str, is_continued: bool, rest: &str| {
            let mut letters: Vec<char> = line.chars().collect();
            let goes_on = settle_continuation(&mut letters, is_continued, rest);
            (letters.into_iter().collect::<String>(), goes_on)
        };
        for (line, is_continued, rest, expected) in [
            ("a \\ \r\n", false, "", Some("a   \\\n")),
            ("a \\ # b\n", false, "", Some("a     \\\n")),
            ("# b \\\n", true, "x", Some("    \\\n")),
            ("# b\n", true, "# c\n -x", Some("  \\\n")),
            ("\n", true, "--x", Some(" ")),
            ("# b\n", true, "x", None),
            ("# b \\\n", false, "x", Some("# b \\\n")),
            ("\n", true, "x", None),
            ("a \\\\\n", false, "", None),
            ("a `\n", false, "", Some("a \\\n")),
            ("a `b`\n", false, "", None),
        ] {
            let (text, goes_on) = settled(line, is_continued, rest);
            assert_eq!(goes_on, expected.is_some(), "{line:?}");
            if let Some(expected) = expected {
                assert_eq!(text, expected, "{line:?}");
            }
        }
    }
}
