//! The patterns of lines in which figures are printed.
//!
//! The names and the patterns are those of `MLCommons`' submission checker (`ACC_PATTERN`), made
//! wider where scripts print text that it cannot read: exponents, `np.float64(…)`, a logger's prefix.
//! Their lines are few and short, so that building a pattern takes longer than looking for it does:
//! `regex_lite` builds one in a twentieth of `regex`'s time, and its classes are of ASCII.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex_lite::Regex;

use self::PatternValue::{F1, Figure, Samples};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternValue {
    /// A figure, with its unit where no `%` follows the number.
    Figure(&'static str, &'static str),
    /// The member `f1`, which two benchmarks have.
    F1,
    /// Number of samples that were judged.
    Samples,
    /// The accuracy log's hash.
    Hash,
}

/// A number as Python prints it, perhaps in quotes or in the name of its type.
const NUMBER: &str = r#"(?:[A-Za-z_][A-Za-z0-9_.]*\()?['"]?(?<value>(?i:[-+]?(?:nan\b|inf(?:inity)?\b|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)))"#;

/// Members of a dictionary or of JSON, or lines of their own: `'rouge1': 44.5`, by their names in
/// small letters.
const MEMBERS: [(&str, PatternValue); 18] = [
    ("rouge1", Figure("ROUGE1", "")),
    ("rouge2", Figure("ROUGE2", "")),
    ("rougel", Figure("ROUGEL", "")),
    ("rougelsum", Figure("ROUGELSUM", "")),
    // The length of all decoded answers, of which Python counts the characters.
    ("gen_len", Figure("GEN_LEN", "characters")),
    ("tokens_per_sample", Figure("TOKENS_PER_SAMPLE", "")),
    ("clip_score", Figure("CLIP_SCORE", "")),
    ("fid_score", Figure("FID_SCORE", "")),
    ("gsm8k", Figure("gsm8k_accuracy", "%")),
    ("gsm8k_accuracy", Figure("gsm8k_accuracy", "%")),
    ("mbxp", Figure("mbxp_accuracy", "%")),
    ("mbxp_accuracy", Figure("mbxp_accuracy", "%")),
    ("exact_match", Figure("exact_match", "%")),
    ("vbench_score", Figure("vbench_score", "")),
    ("mean-accuracy", Figure("meanAcc", "")),
    ("f1", F1),
    ("gen_num", Samples),
    ("num-samples", Samples),
];

/// Everything else: a word that every such line has, and the text before the number.
const LINES: [(&str, &str, PatternValue); 16] = [
    // Not the second figure of a line (`AUC=80.2%, accuracy=96.6%`), which is no benchmark's.
    (
        "accuracy",
        r#"(?:^\{"accuracy[": ]*=?\s*|(?:^|[^,=%\s]\s+|[:\]])accuracy\s*=\s*|^accuracy[": ]+)"#,
        Figure("acc", ""),
    ),
    ("auc=", r"\bAUC=", Figure("AUC", "%")),
    ("lifetime_ne", r"metric/lifetime_ne/rating:\s*", Figure("DLRM_NE", "")),
    ("lifetime_accuracy", r"metric/lifetime_accuracy/rating:\s*", Figure("DLRM_ACC", "")),
    ("lifetime_gauc", r"metric/lifetime_gauc/rating:\s*", Figure("DLRM_AUC", "")),
    ("map=", r"\bmAP=", Figure("mAP", "")),
    ("total", r"['\x22]Total['\x22]:\s*", Figure("mAP", "%")),
    ("bleu", r"^BLEU:\s*", Figure("bleu", "")),
    ("word error", r"Word Error Rate:.*,\s*accuracy=", Figure("ACCURACY", "%")),
    ("word error", r"Word Error Rate:\s*", Figure("WER", "%")),
    ("accuracy:", r"Accuracy:\s*mean\s*=\s*", Figure("DICE", "")),
    ("accuracy:", r"^Accuracy:\s*", Figure("E2E_ACCURACY", "%")),
    ("total=", r"\bgood=\d+,\s*total=", Samples),
    // A recommendation's candidates are many to a query; queries are the samples.
    ("queries=", r"\bgood=\d+,\s*total=\d+,\s*queries=", Samples),
    ("total samples", r"Total samples evaluated:\s*", Samples),
    ("lifetime_gauc_num_samples", r"metric/lifetime_gauc_num_samples/rating:\s*", Samples),
];

/// Finds a figure in a line.
pub(super) struct FigurePattern {
    /// A word that every line of this pattern has, in small letters.
    word: &'static str,
    how: MatchMethod,
    /// The kind of value that it reads.
    pub gives: PatternValue,
}

enum MatchMethod {
    /// The word is a member's name.
    Member,
    /// Compiled when a line has the word, which few lines have.
    Line(LazyLock<Option<Regex>, Box<dyn FnOnce() -> Option<Regex> + Send>>),
}

impl FigurePattern {
    fn from_line_pattern(word: &'static str, pattern: String, gives: PatternValue) -> Self {
        // That each of them is a pattern is held by a test.
        let pattern = LazyLock::new(Box::new(move || Regex::new(&pattern).ok()) as Box<_>);
        Self { word, how: MatchMethod::Line(pattern), gives }
    }

    /// Returns the position of this pattern's last value in a line; `small` is the line in lower case.
    pub fn find_last_value(&self, line: &str, small: &str) -> Option<Range<usize>> {
        let mut places = small.match_indices(self.word).map(|(at, _)| at).peekable();
        places.peek()?;
        match &self.how {
            MatchMethod::Member => places.filter_map(|at| self.member_value_at(line, at)).last(),
            MatchMethod::Line(pattern) => {
                let last = pattern.as_ref()?.captures_iter(line).last()?;
                last.name("value").map(|value| value.range())
            }
        }
    }

    /// Returns the value of a member whose name may begin here: no other name ends in it, and a number
    /// comes after the sign.
    fn member_value_at(&self, line: &str, at: usize) -> Option<Range<usize>> {
        static VALUE: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(&format!("^{NUMBER}")).ok());
        let is_of_name = |last: char| last.is_ascii_alphanumeric() || "_-".contains(last);
        if line[..at].ends_with(is_of_name) {
            return None;
        }
        let after_name = &line[at + self.word.len()..];
        let unquoted = after_name.strip_prefix(['\'', '"']).unwrap_or(after_name);
        let after_separator = unquoted.trim_ascii_start().strip_prefix([':', '='])?;
        let rest = after_separator.trim_ascii_start();
        let value = VALUE.as_ref()?.captures(rest)?.name("value")?.range();
        let begin = line.len() - rest.len();
        Some(begin + value.start..begin + value.end)
    }
}

/// All patterns: members of dictionaries, lines, and the log's hash.
pub(super) static PATTERNS: LazyLock<Vec<FigurePattern>> = LazyLock::new(|| {
    let members = MEMBERS.iter().map(|(name, gives)| FigurePattern {
        word: name,
        how: MatchMethod::Member,
        gives: *gives,
    });
    let lines = LINES.iter().map(|(word, before, gives)| {
        FigurePattern::from_line_pattern(word, format!("{before}{NUMBER}"), *gives)
    });
    let hash = FigurePattern::from_line_pattern(
        "hash=",
        r"^hash=(?<value>\w+)\s*$".to_owned(),
        PatternValue::Hash,
    );
    members.chain(lines).chain([hash]).collect()
});

/// Returns a line in small letters where a pattern may match at all: most lines of a long file have none.
pub(super) fn lowercase_if_relevant(line: &str) -> Option<String> {
    static ANY: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let words = PATTERNS.iter().map(|pattern| pattern.word);
        let builder = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(words);
        builder.ok()
    });
    let any = ANY.as_ref().is_none_or(|any| any.is_match(line));
    any.then(|| line.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn every_pattern_compiles_and_contains_its_keyword() {
        assert!(!PATTERNS.is_empty());
        for pattern in PATTERNS.iter() {
            assert_eq!(pattern.word, pattern.word.to_ascii_lowercase());
            if let MatchMethod::Line(regex) = &pattern.how {
                let regex = regex.as_ref().unwrap().as_str();
                let plain = regex.to_ascii_lowercase().replace(r"\{", "{");
                assert!(plain.contains(pattern.word), "{}: {regex}", pattern.word);
            }
        }
    }

    #[rstest]
    #[case::dictionary("{'rouge1': 44.5, 'x': 1}", Some("44.5"))]
    #[case::json(r#"{"rouge1": "44.5"}"#, Some("44.5"))]
    #[case::of_a_type("rouge1: np.float64(44.5)", Some("44.5"))]
    #[case::sign("INFO:rouge1 = -4e-1", Some("-4e-1"))]
    #[case::capitals("ROUGE1=44.", Some("44."))]
    #[case::last("rouge1: 1, rouge1: 2, rouge1: none", Some("2"))]
    #[case::not_a_number("{'rouge1': nan}", Some("nan"))]
    #[case::longer_name("{'my_rouge1': 1}", None)]
    #[case::longer_still("{'rouge1x': 1}", None)]
    #[case::a_word("rouge1: nano", None)]
    #[case::no_sign("rouge1 44.5", None)]
    #[case::letters("Čas rouge1: 3 ů", Some("3"))]
    fn members(#[case] line: &str, #[case] value: Option<&str>) {
        let pattern = PATTERNS.iter().find(|pattern| pattern.word == "rouge1").unwrap();
        let found = pattern.find_last_value(line, &line.to_ascii_lowercase());
        assert_eq!(found.map(|at| &line[at]), value);
    }
}
