//! Which files are wanted: Python's `fnmatchcase`, where `*` also matches `/`.

/// Whether a path is wanted: it matches one of `allow`, where there are any, and none of `ignore`.
#[must_use]
pub fn wanted(path: &str, allow: &[String], ignore: &[String]) -> bool {
    let any = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, path));
    (allow.is_empty() || any(allow)) && !any(ignore)
}

/// Whether a path matches; a pattern that ends with `/` means everything beneath.
fn matches(pattern: &str, path: &str) -> bool {
    let mut pattern = pattern.replace('\\', "/");
    if pattern.ends_with('/') {
        pattern.push('*');
    }
    let pattern = parse(&pattern);
    let path: Vec<char> = path.replace('\\', "/").chars().collect();
    // The last `*`, and how much of the path it has taken: only that one is ever tried again.
    let (mut at, mut of) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < path.len() {
        match pattern.get(of) {
            Some(Piece::Star) => {
                star = Some((of, at));
                of += 1;
            }
            Some(piece) if piece.takes(path[at]) => {
                at += 1;
                of += 1;
            }
            _ => match star {
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    at = taken + 1;
                    of = place + 1;
                }
                None => return false,
            },
        }
    }
    pattern[of..]
        .iter()
        .all(|piece| matches!(piece, Piece::Star))
}

/// A piece of a pattern.
enum Piece {
    Star,
    Any,
    One(char),
    Set {
        not: bool,
        ranges: Vec<(char, char)>,
    },
}

impl Piece {
    fn takes(&self, character: char) -> bool {
        match self {
            Self::Star | Self::Any => true,
            Self::One(wanted) => *wanted == character,
            Self::Set { not, ranges } => {
                let within = |(first, last): &(char, char)| (*first..=*last).contains(&character);
                ranges.iter().any(within) != *not
            }
        }
    }
}

fn parse(pattern: &str) -> Vec<Piece> {
    let characters: Vec<char> = pattern.chars().collect();
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(&character) = characters.get(at) {
        at += 1;
        pieces.push(match character {
            '*' => Piece::Star,
            '?' => Piece::Any,
            '[' => match set(&characters[at..]) {
                Some((piece, used)) => {
                    at += used;
                    piece
                }
                None => Piece::One('['),
            },
            other => Piece::One(other),
        });
    }
    pieces
}

/// What follows a `[`, up to its `]`, and how many characters that is; none where it is not closed.
fn set(rest: &[char]) -> Option<(Piece, usize)> {
    let not = rest.first() == Some(&'!');
    let first = usize::from(not);
    // A `]` that comes first stands for itself.
    let end = rest.iter().skip(first + 1).position(|c| *c == ']')? + first + 1;
    let inside = &rest[first..end];
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < inside.len() {
        let is_range = inside.get(at + 1) == Some(&'-') && at + 2 < inside.len();
        let last = if is_range { inside[at + 2] } else { inside[at] };
        ranges.push((inside[at], last));
        at += if is_range { 3 } else { 1 };
    }
    Some((Piece::Set { not, ranges }, end + 1))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    // Each was asked of Python's fnmatch.fnmatchcase.
    #[rstest]
    #[case("*.safetensors", "model-00001-of-00002.safetensors", true)]
    #[case("*.safetensors", "original/model.safetensors", true)]
    #[case("*.json", "config.JSON", false)]
    #[case("original/*", "original/a/b", true)]
    #[case("original/", "original/a/b", true)]
    #[case("original", "original/a", false)]
    #[case("model-0000?-of-*", "model-00001-of-00002.safetensors", true)]
    #[case("model-0000[12]*", "model-00003-of-4", false)]
    #[case("model-0000[!12]*", "model-00003-of-4", true)]
    #[case("[a-c]x", "bx", true)]
    #[case("[a-c]x", "dx", false)]
    #[case("[]]", "]", true)]
    #[case("[!]]", "]", false)]
    #[case("[abc", "[abc", true)]
    #[case("a[-]b", "a-b", true)]
    #[case("[z-a]", "z", false)]
    #[case("", "", true)]
    #[case("*", "", true)]
    #[case("a*b*c", "aXbYbZc", true)]
    #[case("a*b*c", "aXbYbZ", false)]
    #[case("a.b", "axb", false)]
    fn as_python_matches(#[case] pattern: &str, #[case] path: &str, #[case] expected: bool) {
        assert_eq!(matches(pattern, path), expected);
    }

    #[test]
    fn allow_and_ignore() {
        let list = |patterns: &[&str]| patterns.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
        assert!(wanted("a.json", &[], &[]));
        assert!(wanted("a.json", &list(&["*.txt", "*.json"]), &[]));
        assert!(!wanted("a.json", &list(&["*.txt"]), &[]));
        assert!(!wanted("a.json", &list(&["*.json"]), &list(&["a*"])));
    }
}
