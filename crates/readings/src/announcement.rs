//! Lines that announce a pattern's figure and have no number: `rate: nan`, `rate: ERROR`, `rate:`.
//!
//! Such a line has what the pattern has before the number, or, where that is no word, behind it. What
//! counts as an announcement depends on how surely the place of the number is known:
//!
//! - Behind a name that ends with `:`, `=` or `|`, anything counts, or nothing. If the pattern has words
//!   behind the number too (`rate: ([0-9.]+) GB`), several figures may begin alike: then only one
//!   word before these counts, or a word that stands for a missing number, or the end of the line.
//! - Elsewhere only a word counts that stands for a missing number: `nan`, `inf`, `N/A`, `null`, `-`.

use itertools::Itertools as _;
use memchr::memmem::Finder;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::bounded::{BoundedRegex, Search};
use super::literal;

/// Words in place of a number, in any case.
const MISSING: &str = r"(?i:[-+]?nan|[-+]?inf(?:inity)?|n/?a|null|none|undefined|unknown)";
/// Marks in place of a number. Behind a list's mark or a dash there may be prose, so the text ends with them,
/// or the cell.
const MARKS: &str = r"(?:-+|\?+|\*+|\.\.+|…)\s*(?:[,;|)\]].*)?$";
/// Words in place of a number behind a name that ends with a separator.
const FAILED: &str =
    r"(?i:err(?:or)?|fail(?:ed|ure)?|oom|time(?:d[ -]?)?out|crash(?:ed)?|aborted|skipped|invalid)";
/// The end of such a word.
const END: &str = r"(?:[\s,;:.!|)%\]}].*)?$";
/// A class of so few characters is a letter in both cases, or a choice of separators.
const SMALL_CLASS: usize = 6;

/// Recognises the lines that announce a figure.
#[derive(Debug, Clone)]
pub struct Announcement {
    lines: Vec<BoundedRegex>,
    /// What every such line holds.
    required: Hir,
}

impl Announcement {
    /// Returns what recognises the announcements of the number in a group of a pattern; none where the
    /// pattern has no words next to it.
    pub fn of(expression: &str, group: usize) -> Option<Self> {
        let parsed = regex_syntax::parse(expression).ok()?;
        let (before, after) = around(&parsed, u32::try_from(group).ok()?)?;
        let name = Name::of(&before);
        let after_text = Hir::concat(after.clone()).to_string();
        let has_words_after = after.iter().any(has_word);
        let (expressions, required) = if has_word(&name.hir) {
            (name.lines(&before, &after), name.hir)
        } else if has_words_after {
            let begin = if before.is_empty() {
                r"(?:^|[\s:=(\[])".to_owned()
            } else {
                Hir::concat(before).to_string()
            };
            let line = format!("{begin}{MISSING}{after_text}");
            (vec![line], Hir::concat(after))
        } else {
            return None;
        };
        let lines: Result<_, _> = expressions
            .iter()
            .map(|line| BoundedRegex::new(line))
            .collect();
        Some(Self {
            lines: lines.ok()?,
            required,
        })
    }

    /// Returns a finder of a literal that every announcement contains.
    pub fn literal(&self) -> Option<Finder<'static>> {
        literal::of(&self.required)
    }

    /// Returns the searches of one text that recognise its announcements.
    pub fn searches(&self) -> Vec<Search<'_>> {
        self.lines.iter().map(BoundedRegex::search).collect()
    }
}

/// What names a figure: the pattern before the number, without the white space next to it.
struct Name {
    hir: Hir,
    ends_with_separator: bool,
}

impl Name {
    fn of(before: &[Hir]) -> Self {
        let mut parts = before.to_vec();
        let mut has_space = false;
        while let Some(last) = parts.pop() {
            if let HirKind::Literal(literal) = last.kind() {
                let text = String::from_utf8_lossy(&literal.0).into_owned();
                let name = text.trim_end();
                has_space |= name.len() < text.len();
                if !name.is_empty() {
                    parts.push(Hir::literal(name.as_bytes()));
                    break;
                }
            } else if is_space(&last) {
                has_space = true;
            } else if last.properties().minimum_len() != Some(0) {
                parts.push(last);
                break;
            }
        }
        let separators = if has_space { ":=|" } else { ":=|,;" };
        let ends_with_separator = parts.last().is_some_and(|last| match last.kind() {
            HirKind::Literal(literal) => literal
                .0
                .last()
                .is_some_and(|byte| separators.contains(char::from(*byte))),
            HirKind::Class(class) => {
                characters(class).is_some_and(|all| all.iter().all(|one| separators.contains(*one)))
            }
            _ => false,
        });
        Self {
            hir: Hir::concat(parts),
            ends_with_separator,
        }
    }

    /// Expressions for the lines that announce its figure.
    fn lines(&self, before: &[Hir], after: &[Hir]) -> Vec<String> {
        let (name, whole) = (&self.hir, Hir::concat(before.to_vec()));
        if !self.ends_with_separator {
            return vec![format!("{whole}(?:{MISSING}{END}|{MARKS})")];
        }
        let is_bare = after
            .iter()
            .all(|part| matches!(part.kind(), HirKind::Look(_)));
        let behind = Hir::concat(after.to_vec());
        if after.is_empty() {
            vec![name.to_string()]
        } else if is_bare || !after.iter().any(has_word) {
            // A number with something else behind it is another figure.
            vec![
                format!(r"{name}\s*(?:[^\s\d+.-].*|{MISSING}{END}|{MARKS}|$)"),
                format!(r"{whole}\S*{behind}"),
            ]
        } else {
            vec![
                format!(r"{name}\s*(?:(?:{MISSING}|{FAILED}){END}|{MARKS}|$)"),
                format!(r"{whole}\S*{behind}"),
            ]
        }
    }
}

/// The parts of an expression before and behind a group, on the way that goes through it.
fn around(expression: &Hir, group: u32) -> Option<(Vec<Hir>, Vec<Hir>)> {
    match expression.kind() {
        HirKind::Capture(capture) if capture.index == group => Some((Vec::new(), Vec::new())),
        HirKind::Capture(capture) => around(&capture.sub, group),
        HirKind::Repetition(repetition) => around(&repetition.sub, group),
        HirKind::Alternation(branches) => branches.iter().find_map(|branch| around(branch, group)),
        HirKind::Concat(parts) => {
            let mut tried = parts.iter().map(|part| around(part, group)).enumerate();
            let (at, inner) = tried.find_map(|(at, inner)| Some((at, inner?)))?;
            let before = parts[..at].iter().cloned().chain(inner.0);
            let after = inner.1.into_iter().chain(parts[at + 1..].iter().cloned());
            Some((before.collect(), after.collect()))
        }
        _ => None,
    }
}

/// Whether every match has a letter or digit that is stated.
fn has_word(expression: &Hir) -> bool {
    match expression.kind() {
        HirKind::Literal(literal) => String::from_utf8_lossy(&literal.0)
            .chars()
            .any(char::is_alphanumeric),
        HirKind::Class(class) => characters(class)
            .is_some_and(|all| all.len() <= 3 && all.iter().all(|one| one.is_alphabetic())),
        HirKind::Capture(capture) => has_word(&capture.sub),
        HirKind::Repetition(repetition) => repetition.min > 0 && has_word(&repetition.sub),
        HirKind::Concat(parts) => parts.iter().any(has_word),
        HirKind::Alternation(branches) => branches.iter().all(has_word),
        HirKind::Empty | HirKind::Look(_) => false,
    }
}

fn is_space(expression: &Hir) -> bool {
    match expression.kind() {
        HirKind::Class(Class::Unicode(class)) => class
            .ranges()
            .iter()
            .all(|range| range.start().is_whitespace() && range.end().is_whitespace()),
        HirKind::Literal(literal) => literal.0.trim_ascii().is_empty(),
        HirKind::Repetition(repetition) => is_space(&repetition.sub),
        HirKind::Capture(capture) => is_space(&capture.sub),
        _ => false,
    }
}

/// The characters of a small class.
fn characters(class: &Class) -> Option<Vec<char>> {
    let Class::Unicode(class) = class else {
        return None;
    };
    let ranges = class.ranges().iter();
    let all = ranges.flat_map(|range| range.start()..=range.end());
    let all = all.take(SMALL_CLASS + 1).collect_vec();
    (all.len() <= SMALL_CLASS).then_some(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn announces(pattern: &str, line: &str) -> bool {
        let group = BoundedRegex::new(pattern).unwrap();
        let named = group.group_names().position(|name| name == Some("value"));
        let announcement = Announcement::of(pattern, named.unwrap_or(1));
        announcement.is_some_and(|announcement| {
            let mut searches = announcement.searches();
            searches.iter_mut().any(|search| search.is_match(line))
        })
    }

    #[rstest]
    #[case::not_a_number(r"^speed: +([0-9.]+) MB/s", "speed: nan MB/s")]
    #[case::failed(r"^speed: +([0-9.]+) MB/s", "speed: FAILED (see above)")]
    #[case::nothing(r"^speed: +([0-9.]+) MB/s", "speed:")]
    #[case::other_number(r"^speed: +([0-9.]+) MB/s", "speed: -1 MB/s")]
    #[case::any_text(r"speed: ([0-9.]+)", "speed: see below")]
    #[case::assigned(r"speed\s*=\s*([0-9.]+)$", "speed = <none>")]
    #[case::choice(r"speed[:=] *([0-9.]+)", "speed= n/a")]
    #[case::cell(r"^gemm,bf16,([0-9.]+)", "gemm,bf16,")]
    #[case::any_case(r"(?i)speed: (\d+)", "SPEED: -inf")]
    #[case::quoted(r#""speed": ([0-9.]+)"#, r#"{"speed": null}"#)]
    #[case::no_separator(r"^speed (\d+)", "speed NaN")]
    #[case::dashes(r"^\| speed \| +([0-9.]+) \|", "| speed | -- |")]
    #[case::wildcard(r"Speed.*?([0-9.]+)", "Speed (MB/s): n/a")]
    #[case::only_behind(r"([0-9.]+) tokens/s", "all: nan tokens/s")]
    #[case::branch(r"(?:speed: (\d+)|rate: (\d+))", "speed: x")]
    #[case::named(r"(?<name>\w+) speed: (?<value>\d+)", "disk speed: x")]
    fn a_line_without_its_number_is_recognised(#[case] pattern: &str, #[case] line: &str) {
        assert!(announces(pattern, line));
    }

    #[rstest]
    #[case::prose(r"speed ([0-9.]+)", "the speed is measured for 60 s")]
    #[case::prose_behind(r"([0-9.]+) tokens/s", "writes tokens/s to a file")]
    #[case::prose_after_a_dash(r"speed ([0-9.]+)", "speed - measured twice")]
    #[case::list(r"([0-9.]+) tokens/s", "- tokens/s, as above")]
    #[case::within_a_word(r"([0-9.]+) tokens/s", "finance-nan tokens/s")]
    #[case::other_figure(r"^bf16: ([0-9.]+) GB", "bf16: loss 2.5 after 3 steps")]
    #[case::other_unit(r"^Total: (\d+) tokens$", "Total: 30 requests")]
    #[case::other_name(r"output rate: ([0-9.]+)", "input rate: nan")]
    #[case::no_words(r"([0-9.]+)", "nan")]
    #[case::no_name(r"(\w+): ([0-9.]+)", "GPU power: N/A")]
    #[case::name_of_another(r"speed ([0-9.]+)", "speed error: 3 %")]
    fn foreign_text_is_not(#[case] pattern: &str, #[case] line: &str) {
        assert!(!announces(pattern, line));
    }

    #[test]
    fn a_literal_of_the_pattern_is_in_every_announcement() {
        let announcement = Announcement::of(r"^speed: ([0-9.]+) megabytes", 1).unwrap();
        assert_eq!(announcement.literal().unwrap().needle(), b"speed:");
        let announcement = Announcement::of(r"([0-9.]+) megabytes", 1).unwrap();
        assert_eq!(announcement.literal().unwrap().needle(), b" megabytes");
    }

    proptest! {
        #[test]
        fn any_pattern(pattern in "[a-z(): |.*+?^$\\[\\]0-9-]{0,20}\\([0-9]\\)[a-z(): |.*+?]{0,9}", line in "\\PC{0,30}") {
            if let Some(announcement) = Announcement::of(&pattern, 1)
                && announcement.searches().iter_mut().any(|search| search.is_match(&line))
                && let Some(literal) = announcement.literal()
            {
                prop_assert!(literal.find(line.as_bytes()).is_some());
            }
        }
    }
}
