//! The forms in which figures are printed, one line each.
//!
//! The names and the patterns are those of `MLCommons`' submission checker (`ACC_PATTERN`), made
//! wider where scripts print what it cannot read: exponents, `np.float64(…)`, a logger's prefix.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

/// What a form gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gives {
    /// A figure, with its unit where no `%` follows the number.
    Figure(&'static str, &'static str),
    /// The member `f1`, which two benchmarks have.
    F1,
    /// How many samples were judged.
    Samples,
    /// The accuracy log's hash.
    Hash,
}

/// A number as Python prints it, perhaps in quotes or in the name of its type.
const NUMBER: &str = r#"(?:[A-Za-z_][A-Za-z0-9_.]*\()?['"]?(?<value>(?i-u:[-+]?(?:nan\b|inf(?:inity)?\b|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)))"#;

/// A member of a dictionary or of JSON, or a line of its own: `'rouge1': 44.5`. First a word that
/// every such line has, in small letters.
const MEMBERS: [(&str, &str, Gives); 16] = [
    ("rouge1", "rouge1", Gives::Figure("ROUGE1", "")),
    ("rouge2", "rouge2", Gives::Figure("ROUGE2", "")),
    ("rougel", "rougel", Gives::Figure("ROUGEL", "")),
    ("rougelsum", "rougelsum", Gives::Figure("ROUGELSUM", "")),
    ("gen_len", "gen_len", Gives::Figure("GEN_LEN", "")),
    (
        "tokens_per_sample",
        "tokens_per_sample",
        Gives::Figure("TOKENS_PER_SAMPLE", ""),
    ),
    ("clip_score", "clip_score", Gives::Figure("CLIP_SCORE", "")),
    ("fid_score", "fid_score", Gives::Figure("FID_SCORE", "")),
    (
        "gsm8k",
        "gsm8k(?:_accuracy)?",
        Gives::Figure("gsm8k_accuracy", "%"),
    ),
    (
        "mbxp",
        "mbxp(?:_accuracy)?",
        Gives::Figure("mbxp_accuracy", "%"),
    ),
    (
        "exact_match",
        "exact_match",
        Gives::Figure("exact_match", "%"),
    ),
    (
        "vbench_score",
        "vbench_score",
        Gives::Figure("vbench_score", ""),
    ),
    (
        "mean-accuracy",
        "mean-accuracy",
        Gives::Figure("meanAcc", ""),
    ),
    ("f1", "f1", Gives::F1),
    ("gen_num", "gen_num", Gives::Samples),
    ("num-samples", "num-samples", Gives::Samples),
];

/// Everything else: a word that every such line has, and what stands before the number.
const LINES: [(&str, &str, Gives); 16] = [
    // Not the second figure of a line (`AUC=80.2%, accuracy=96.6%`), which is no benchmark's.
    (
        "accuracy",
        r#"(?:^\{"accuracy[": ]*=?(?-u:\s)*|(?:^|[^,=%\s](?-u:\s)+|[:\]])accuracy(?-u:\s)*=(?-u:\s)*|^accuracy[": ]+)"#,
        Gives::Figure("acc", ""),
    ),
    ("auc=", r"(?-u:\b)AUC=", Gives::Figure("AUC", "%")),
    (
        "lifetime_ne",
        r"metric/lifetime_ne/rating:(?-u:\s)*",
        Gives::Figure("DLRM_NE", ""),
    ),
    (
        "lifetime_accuracy",
        r"metric/lifetime_accuracy/rating:(?-u:\s)*",
        Gives::Figure("DLRM_ACC", ""),
    ),
    (
        "lifetime_gauc",
        r"metric/lifetime_gauc/rating:(?-u:\s)*",
        Gives::Figure("DLRM_AUC", ""),
    ),
    ("map=", r"(?-u:\b)mAP=", Gives::Figure("mAP", "")),
    (
        "total",
        r"['\x22]Total['\x22]:(?-u:\s)*",
        Gives::Figure("mAP", "%"),
    ),
    ("bleu", r"^BLEU:(?-u:\s)*", Gives::Figure("bleu", "")),
    (
        "word error",
        r"Word Error Rate:.*,(?-u:\s)*accuracy=",
        Gives::Figure("ACCURACY", "%"),
    ),
    (
        "word error",
        r"Word Error Rate:(?-u:\s)*",
        Gives::Figure("WER", "%"),
    ),
    (
        "accuracy:",
        r"Accuracy:(?-u:\s)*mean(?-u:\s)*=(?-u:\s)*",
        Gives::Figure("DICE", ""),
    ),
    (
        "accuracy:",
        r"^Accuracy:(?-u:\s)*",
        Gives::Figure("E2E_ACCURACY", "%"),
    ),
    (
        "total=",
        r"(?-u:\b)good=(?-u:\d)+,(?-u:\s)*total=",
        Gives::Samples,
    ),
    // A recommendation's candidates are many to a query; queries are the samples.
    (
        "queries=",
        r"(?-u:\b)good=(?-u:\d)+,(?-u:\s)*total=(?-u:\d)+,(?-u:\s)*queries=",
        Gives::Samples,
    ),
    (
        "total samples",
        r"Total samples evaluated:(?-u:\s)*",
        Gives::Samples,
    ),
    (
        "lifetime_gauc_num_samples",
        r"metric/lifetime_gauc_num_samples/rating:(?-u:\s)*",
        Gives::Samples,
    ),
];

/// A form of a figure: compiled when a line has its word, which few lines have.
pub(super) struct Form {
    word: &'static str,
    pattern: LazyLock<Option<Regex>, Box<dyn FnOnce() -> Option<Regex> + Send>>,
    /// What it gives.
    pub gives: Gives,
}

impl Form {
    fn new(word: &'static str, pattern: String, gives: Gives) -> Self {
        Self {
            word,
            // That each of them is a pattern is held by a test.
            pattern: LazyLock::new(Box::new(move || Regex::new(&pattern).ok())),
            gives,
        }
    }

    /// Its pattern, where a line may have this form: `small` is the line in small letters.
    pub fn for_line(&self, small: &str) -> Option<&Regex> {
        if small.contains(self.word) {
            self.pattern.as_ref()
        } else {
            None
        }
    }
}

/// All forms.
pub(super) static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let members = MEMBERS.iter().map(|(word, name, gives)| {
        let name = format!(r#"(?:^|[^A-Za-z0-9_-])['"]?(?i-u:{name})['"]?(?-u:\s)*[:=](?-u:\s)*"#);
        Form::new(word, format!("{name}{NUMBER}"), *gives)
    });
    let lines = LINES
        .iter()
        .map(|(word, before, gives)| Form::new(word, format!("{before}{NUMBER}"), *gives));
    let hash = r"^hash=(?<value>(?-u:\w)+)(?-u:\s)*$".to_owned();
    let hash = Form::new("hash=", hash, Gives::Hash);
    members.chain(lines).chain([hash]).collect()
});

/// A line in small letters where it may have a form at all: most lines of a long file have none.
pub(super) fn small(line: &str) -> Option<String> {
    static ANY: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let words = FORMS.iter().map(|form| form.word);
        let builder = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(words);
        builder.ok()
    });
    let any = ANY.as_ref().is_none_or(|any| any.is_match(line));
    any.then(|| line.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::FORMS;

    #[test]
    fn every_form_is_a_pattern_and_has_its_word() {
        assert!(!FORMS.is_empty());
        for form in FORMS.iter() {
            assert_eq!(form.word, form.word.to_ascii_lowercase());
            let pattern = form.for_line(form.word).unwrap().as_str();
            let plain = pattern.to_ascii_lowercase().replace(r"\{", "{");
            assert!(plain.contains(form.word), "{}: {pattern}", form.word);
        }
    }
}
