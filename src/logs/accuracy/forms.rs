//! The forms in which figures are printed, one line each.
//!
//! The names and the patterns are those of `MLCommons`' submission checker (`ACC_PATTERN`), made
//! wider where scripts print what it cannot read: exponents, `np.float64(…)`, a logger's prefix.

use std::sync::LazyLock;

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
const NUMBER: &str = r#"(?:[A-Za-z_][\w.]*\()?['"]?(?<value>(?i:[-+]?(?:nan\b|inf(?:inity)?\b|(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)))"#;

/// A member of a dictionary or of JSON, or a line of its own: `'rouge1': 44.5`.
const MEMBERS: [(&str, Gives); 16] = [
    ("rouge1", Gives::Figure("ROUGE1", "")),
    ("rouge2", Gives::Figure("ROUGE2", "")),
    ("rougel", Gives::Figure("ROUGEL", "")),
    ("rougelsum", Gives::Figure("ROUGELSUM", "")),
    ("gen_len", Gives::Figure("GEN_LEN", "")),
    ("tokens_per_sample", Gives::Figure("TOKENS_PER_SAMPLE", "")),
    ("clip_score", Gives::Figure("CLIP_SCORE", "")),
    ("fid_score", Gives::Figure("FID_SCORE", "")),
    ("gsm8k(?:_accuracy)?", Gives::Figure("gsm8k_accuracy", "%")),
    ("mbxp(?:_accuracy)?", Gives::Figure("mbxp_accuracy", "%")),
    ("exact_match", Gives::Figure("exact_match", "%")),
    ("vbench_score", Gives::Figure("vbench_score", "")),
    ("mean-accuracy", Gives::Figure("meanAcc", "")),
    ("f1", Gives::F1),
    ("gen_num", Gives::Samples),
    ("num-samples", Gives::Samples),
];

/// Everything else: what stands before the number.
const LINES: [(&str, Gives); 16] = [
    // Not the second figure of a line (`AUC=80.2%, accuracy=96.6%`), which is no benchmark's.
    (
        r#"(?:^\{"accuracy[": ]*=?\s*|(?:^|[^,=%\s]\s+|[:\]])accuracy\s*=\s*|^accuracy[": ]+)"#,
        Gives::Figure("acc", ""),
    ),
    (r"\bAUC=", Gives::Figure("AUC", "%")),
    (
        r"metric/lifetime_ne/rating:\s*",
        Gives::Figure("DLRM_NE", ""),
    ),
    (
        r"metric/lifetime_accuracy/rating:\s*",
        Gives::Figure("DLRM_ACC", ""),
    ),
    (
        r"metric/lifetime_gauc/rating:\s*",
        Gives::Figure("DLRM_AUC", ""),
    ),
    (r"\bmAP=", Gives::Figure("mAP", "")),
    (r"['\x22]Total['\x22]:\s*", Gives::Figure("mAP", "%")),
    (r"^BLEU:\s*", Gives::Figure("bleu", "")),
    (
        r"Word Error Rate:.*,\s*accuracy=",
        Gives::Figure("ACCURACY", "%"),
    ),
    (r"Word Error Rate:\s*", Gives::Figure("WER", "%")),
    (r"Accuracy:\s*mean\s*=\s*", Gives::Figure("DICE", "")),
    (r"^Accuracy:\s*", Gives::Figure("E2E_ACCURACY", "%")),
    (r"\bgood=\d+,\s*total=", Gives::Samples),
    // A recommendation's candidates are many to a query; queries are the samples.
    (r"\bgood=\d+,\s*total=\d+,\s*queries=", Gives::Samples),
    (r"Total samples evaluated:\s*", Gives::Samples),
    (
        r"metric/lifetime_gauc_num_samples/rating:\s*",
        Gives::Samples,
    ),
];

/// A word that each form has: most lines of a long file have none, and are passed over at once.
const WORDS: &str = "(?i-u)rouge|gen_|per_sample|_score|gsm8k|mbxp|exact_match|accuracy|f1|AUC=\
    |lifetime_|mAP=|total|BLEU|Word Error|samples|hash=";

/// All forms, and what tells whether a line may have any of them.
pub(super) struct Forms {
    pub any: Regex,
    pub each: Vec<(Regex, Gives)>,
}

pub(super) static FORMS: LazyLock<Option<Forms>> = LazyLock::new(|| {
    let members = MEMBERS.iter().map(|(name, gives)| {
        (
            format!(r#"(?:^|[^\w-])['"]?(?i:{name})['"]?\s*[:=]\s*{NUMBER}"#),
            *gives,
        )
    });
    let lines = LINES
        .iter()
        .map(|(before, gives)| (format!("{before}{NUMBER}"), *gives));
    let hash = (r"^hash=(?<value>\w+)\s*$".to_owned(), Gives::Hash);
    let all: Vec<(String, Gives)> = members.chain(lines).chain([hash]).collect();
    let any = Regex::new(WORDS).ok()?;
    let each = all
        .into_iter()
        .map(|(pattern, gives)| Some((Regex::new(&pattern).ok()?, gives)));
    Some(Forms {
        any,
        each: each.collect::<Option<_>>()?,
    })
});

#[cfg(test)]
mod tests {
    #[test]
    fn every_form_is_a_pattern() {
        let forms = super::FORMS.as_ref().unwrap();
        assert!(!forms.each.is_empty());
    }
}
