//! Lines that announce a pattern's figure and have no number that it reads: `rate: nan`, `rate: ERROR`,
//! `rate:`, `rate: 940 MB/s` where the pattern has `GB/s`.
//!
//! Such a line has what the pattern has before the number, or, where that is no word, behind it. What
//! counts as an announcement depends on how surely the place of the number is known:
//!
//! - Behind a name that ends with `:`, `=` or `|`, anything counts, or nothing. If the pattern has words
//!   behind the number too (`rate: ([0-9.]+) GB`), several figures may begin alike: then only one
//!   word before these counts, a word that stands for a missing number or a failure, a number of another
//!   multiple of the unit, or the end of the line.
//! - Elsewhere only a word counts that stands for a missing number or a failure, or a number that the group
//!   does not match.
//! - In a table, an entry may be the name. Any line may have one, so only that of a known entry counts.

mod shapes;

use memchr::memmem::Finder;
use regex_syntax::hir::{Hir, HirKind};

use super::bounded::{BoundedRegex, BoundedSearch};
use super::literal;
use super::units;
use super::words::{BROKEN, END, END_WITHOUT_NUMBER, FAILED, MARKS, MISSING, OPENING};
use shapes::{
    allow_missing_numbers, first_word, has_word, is_space, small_class_characters,
    split_around_group, text_before_success,
};

/// A number, as any program prints one.
const NUMBER: &str = r"[-+−]?(?:[0-9][0-9.,'_]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+)(?:[kKMGT]\b)?";
/// The group of a unit.
const UNIT: &str = "announced_unit";

/// Recognises the lines that announce a figure.
#[derive(Debug, Clone)]
pub struct Announcement {
    lines: Vec<BoundedRegex>,
    /// The unit that the pattern has behind the number; a line with a group [`UNIT`] has another multiple.
    unit: Option<String>,
    /// Whether only the entry of a table names the figure.
    is_by_entry: bool,
    /// An expression that every such line contains.
    required: Hir,
}

impl Announcement {
    /// Returns what recognises the announcements of the number in a group of a pattern, of a table or of
    /// one figure; none where the pattern has no words next to it.
    pub fn from_pattern(expression: &str, group: usize, is_table: bool) -> Option<Self> {
        let parsed = regex_syntax::parse(expression).ok()?;
        let (before, after) = split_around_group(&parsed, u32::try_from(group).ok()?)?;
        let name = FigureNamePattern::from_parts_before(&before);
        let is_named = has_word(&name.hir);
        let has_words_after = after.iter().any(has_word);
        let begin = text_before_success(&before);
        let (expressions, required) = if is_named {
            let mut lines = name.line_expressions(&before, &after);
            lines.extend(begin.iter().map(expression_for_failure));
            (lines, begin.unwrap_or_else(|| name.hir.clone()))
        } else if has_words_after {
            let begin = if before.is_empty() {
                r"(?:^|[\s:=(\[])".to_owned()
            } else {
                allow_missing_numbers(&before)
            };
            let behind = Hir::concat(after.clone());
            let line = format!("{begin}(?:{MISSING}|{FAILED}){behind}");
            (vec![line], behind)
        } else if is_table && !before.is_empty() {
            let mut lines = vec![expression_for_missing_number(&allow_missing_numbers(&before))];
            lines.extend(name.unmatched_number_expressions(&before, &after));
            (lines, Hir::empty())
        } else {
            return None;
        };
        let lines: Result<_, _> = expressions.iter().map(|line| BoundedRegex::new(line)).collect();
        Some(Self {
            lines: lines.ok()?,
            unit: first_word(&after).map(|word| units::leading_unit(&word).to_owned()),
            is_by_entry: !is_named && !has_words_after,
            required,
        })
    }

    /// Returns a finder of a literal that every announcement contains.
    pub fn required_literal(&self) -> Option<Finder<'static>> {
        literal::find_literal_in(&self.required)
    }

    /// Returns the searches of one text that recognise its announcements.
    pub fn start_searches(&self) -> Vec<BoundedSearch<'_>> {
        self.lines.iter().map(BoundedRegex::start_search).collect()
    }

    /// Returns whether a line announces the figure, of which one of these searches has found the groups: a line
    /// with a number does only if the unit behind it is another multiple of the figure's.
    pub fn matches_line(&self, line: &str, search: &BoundedSearch<'_>) -> bool {
        let unit = search.named_group_range(UNIT).map(|unit| &line[unit]);
        let own = self.unit.as_deref().unwrap_or_default();
        unit.is_none_or(|unit| units::is_other_multiple(unit, own))
    }

    /// Returns whether only the entry of a table names the figure.
    pub fn is_by_entry(&self) -> bool {
        self.is_by_entry
    }
}

/// Returns an expression for a line with a word for a missing number, or for a failure, right behind `whole`.
fn expression_for_missing_number(whole: &str) -> String {
    format!("{whole}{OPENING}(?:{MISSING}{END}|{FAILED}{END_WITHOUT_NUMBER}|{MARKS})")
}

/// Returns an expression for a line that states the contrary of the pattern: `result is INVALID` where that has
/// `VALID`.
fn expression_for_failure(begin: &Hir) -> String {
    format!(r"{begin}(?:{FAILED}\b|(?i:not |un)\w)")
}

/// The name of a figure: the pattern before the number, without the white space next to it.
struct FigureNamePattern {
    hir: Hir,
    ends_with_separator: bool,
    /// Whether only white space is between it and the number.
    is_next: bool,
}

impl FigureNamePattern {
    fn from_parts_before(before: &[Hir]) -> Self {
        let mut parts = before.to_vec();
        let (mut has_space, mut is_next) = (false, true);
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
            } else {
                is_next &= matches!(last.kind(), HirKind::Look(_));
            }
        }
        let separators = if has_space {
            &[':', '=', '|', '│', '┃', '║'][..]
        } else {
            &[':', '=', '|', '│', '┃', '║', ',', ';'][..]
        };
        let ends_with_separator = parts.last().is_some_and(|last| match last.kind() {
            HirKind::Literal(literal) => String::from_utf8_lossy(&literal.0).ends_with(separators),
            HirKind::Class(class) => small_class_characters(class)
                .is_some_and(|all| all.iter().all(|one| separators.contains(one))),
            _ => false,
        });
        Self { hir: Hir::concat(parts), ends_with_separator, is_next }
    }

    /// Expressions for the lines that announce its figure.
    fn line_expressions(&self, before: &[Hir], after: &[Hir]) -> Vec<String> {
        let (name, whole) = (&self.hir, allow_missing_numbers(before));
        let mut lines = self.unmatched_number_expressions(before, after);
        if !self.ends_with_separator {
            lines.push(expression_for_missing_number(&whole));
            return lines;
        }
        let is_bare = after.iter().all(|part| matches!(part.kind(), HirKind::Look(_)));
        let behind = Hir::concat(after.to_vec());
        if after.is_empty() {
            lines.push(name.to_string());
        } else if is_bare || !after.iter().any(has_word) {
            // A number with something else behind it is another figure.
            lines.push(format!(r"{name}\s*(?:[^\s\d+.-].*|{MISSING}{END}|{MARKS}|$)"));
            lines.push(format!(r"{whole}\S*{behind}"));
        } else {
            lines.push(format!(r"{name}\s*(?:{OPENING}(?:{MISSING}|{FAILED}){END}|{MARKS}|$)"));
            lines.push(format!(r"{name}\s*[^\s\d+.-].*?{BROKEN}"));
            lines.push(format!(r"{whole}\S*{behind}"));
        }
        lines
    }

    /// Expressions for lines with a number that the pattern does not match: of another form, with another
    /// multiple of the unit, or cut.
    fn unmatched_number_expressions(&self, before: &[Hir], after: &[Hir]) -> Vec<String> {
        if !self.is_next {
            return Vec::new();
        }
        let whole = allow_missing_numbers(before);
        let mut lines = Vec::new();
        if after.is_empty() {
            lines.push(format!(r"{whole}{NUMBER}(?:[\s,;:)%\]|│].*)?$"));
            return lines;
        }
        let behind = Hir::concat(after.to_vec());
        lines.push(format!("{whole}{NUMBER}{behind}"));
        let word = first_word(after).unwrap_or_default();
        // Each beginning of the word, none among them.
        let mut letters = word.chars().rev();
        letters.next();
        let beginning = letters.fold(String::new(), |rest, letter| {
            format!("(?:{}{rest})?", regex_syntax::escape(&letter.to_string()))
        });
        lines.push(format!(r"{whole}{NUMBER}\s*{beginning}$"));
        if !units::leading_unit(&word).is_empty() {
            lines.push(format!(r"{whole}{NUMBER}\s*(?<{UNIT}>[\p{{L}}%/][\p{{L}}\d%/·^_]*)"));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn announces_in(announcement: &Announcement, line: &str) -> bool {
        let mut searches = announcement.start_searches().into_iter();
        searches
            .any(|mut search| search.find_groups(line) && announcement.matches_line(line, &search))
    }

    fn announces(pattern: &str, line: &str) -> bool {
        let group = BoundedRegex::new(pattern).unwrap();
        let named = group.group_names().position(|name| name == Some("value"));
        let is_table = group.group_names().flatten().any(|name| name == "entry");
        let announcement = Announcement::from_pattern(pattern, named.unwrap_or(1), is_table);
        announcement.is_some_and(|announcement| announces_in(&announcement, line))
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
    #[case::killed(r"rate: ([0-9.]+) MB/s", "rate: killed")]
    #[case::within(r"rate: ([0-9.]+) MB/s", "rate: CUDA out of memory")]
    #[case::exception(r"rate: ([0-9.]+) MB/s", "rate: ValueError: bad")]
    #[case::in_brackets(r"rate: ([0-9.]+) MB/s", "rate: (null)")]
    #[case::no_data(r"rate: ([0-9.]+) MB/s", "rate: no data")]
    #[case::between_words(r"rate ([0-9.]+) MB/s", "rate ERROR MB/s")]
    #[case::failed_without_separator(r"rate +([0-9.]+)", "rate  FAILED")]
    #[case::box_of_a_table(r"rate\s+│\s+([0-9.]+)", "│ rate │       │")]
    #[case::arrow(r"rate -> ([0-9.]+)", "rate -> failed")]
    #[case::element(r"<rate>([0-9.]+)</rate>", "<rate>NaN</rate>")]
    #[case::other_column(r"^run\d+\s+[0-9.]+\s+([0-9.]+)", "run7 nan nan")]
    #[case::contrary(r"result is VALID with a rate of=([0-9.]+)", "result is INVALID.")]
    #[case::unit(r"rate: ([0-9.]+) GB/s", "rate: 940 MB/s")]
    #[case::whole(r"rate +([0-9]+\.[0-9]+) MB/s", "rate   99 MB/s")]
    #[case::negative(r"rate +([0-9.]+) MB/s", "rate  -1 MB/s")]
    #[case::cut(r"rate: ([0-9.]+) MB/s", "rate: 9")]
    #[case::cut_unit(r"rate: ([0-9.]+) tokens/s", "rate: 9 tok")]
    #[case::entry(r"^(?<entry>\w+) \d+ - (?<value>[0-9.]+)", "bf16 8192 - nan TFLOP/s")]
    #[case::failed_entry(r"^(?<entry>\w+): (?<value>[0-9.]+)", "bf16: ERROR")]
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
    #[case::same_unit(r"bf16: ([0-9.]+) MB/s a GPU", "bf16: 90 MB/s in all")]
    #[case::other_kind_of_unit(r"bf16: ([0-9.]+) MB/s", "bf16: 90 tokens/s")]
    #[case::outcome(r"run is valid: ([0-9.]+)", "run is slow")]
    #[case::entry_with_a_number(r"^(?<entry>\w+): (?<value>[0-9.]+) GB", "bf16: error 0.1")]
    fn foreign_text_is_not(#[case] pattern: &str, #[case] line: &str) {
        assert!(!announces(pattern, line));
    }

    #[test]
    fn a_literal_of_the_pattern_is_in_every_announcement() {
        let announcement =
            Announcement::from_pattern(r"^speed: ([0-9.]+) megabytes", 1, false).unwrap();
        assert_eq!(announcement.required_literal().unwrap().needle(), b"speed:");
        let announcement = Announcement::from_pattern(r"([0-9.]+) megabytes", 1, false).unwrap();
        assert_eq!(announcement.required_literal().unwrap().needle(), b" megabytes");
    }

    proptest! {
        #[test]
        fn every_announcement_contains_its_literal(pattern in "[a-z(): |.*+?^$\\[\\]0-9-]{0,20}\\([0-9]\\)[a-z(): |.*+?]{0,9}", line in "\\PC{0,30}") {
            if let Some(announcement) = Announcement::from_pattern(&pattern, 1, false)
                && announces_in(&announcement, &line)
                && let Some(literal) = announcement.required_literal()
            {
                prop_assert!(literal.find(line.as_bytes()).is_some());
            }
        }
    }
}
