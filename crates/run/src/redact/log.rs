//! Hides secrets in the log of this process: all values that it has read as secrets, and whatever has the form of
//! one (credentials in URLs and headers, queries of signed URLs), since libraries log, too.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex};

use regex::Regex;

use super::Redactor;
use crate::mutex::lock;

/// Replaces a line that cannot be searched for secrets.
const WITHHELD_LINE: &str = "[a line that could not be searched for secrets]";

/// Forms of secrets, and the text that replaces each.
const SECRET_FORMS: [(&str, &str); 3] = [
    (r#"([A-Za-z][A-Za-z0-9+.-]*://)[^/\s@"']+@"#, "${1}[credentials]@"),
    (r#"(https?://[^\s"'<>?]+)\?[^\s"'<>]*"#, "${1}?[query]"),
    (
        r#"(?i)\b((?:[\w-]*(?:token|password|secret|signature)|(?:proxy-)?authorization|(?:set-)?cookie|x-registry-(?:auth|config))\\?["']?\s*[:=]\s*)\\?["']?(?:(?:bearer|basic)\s+)?[^\s"',;{}\[\]\\]+"#,
        "${1}[redacted]",
    ),
];

static PATTERNS: LazyLock<Result<Vec<(Regex, &str)>, regex::Error>> = LazyLock::new(|| {
    let forms = SECRET_FORMS.into_iter();
    forms.map(|(form, with)| Ok((Regex::new(form)?, with))).collect()
});

/// The secrets that this process has read.
struct KnownSecrets {
    /// Name and value of each.
    values: BTreeSet<(String, String)>,
    redactor: Result<Option<Redactor>, aho_corasick::BuildError>,
}

static KNOWN: Mutex<KnownSecrets> =
    Mutex::new(KnownSecrets { values: BTreeSet::new(), redactor: Ok(None) });

/// Hides a secret in everything that this process logs from here on.
pub fn hide_in_log(name: &str, value: &str) {
    let mut known = lock(&KNOWN);
    if !value.is_empty() && known.values.insert((name.to_owned(), value.to_owned())) {
        let values = known.values.iter();
        known.redactor = Redactor::with_values(values.map(|(name, value)| (name, value)));
    }
}

/// Returns a text of the log without secrets.
pub fn redact_log_text(text: &str) -> String {
    let known = lock(&KNOWN);
    let (Ok(redactor), Ok(patterns)) = (&known.redactor, &*PATTERNS) else {
        return WITHHELD_LINE.to_owned();
    };
    let without_known = match redactor {
        Some(redactor) => redactor.redact_text(text),
        None => text.to_owned(),
    };
    patterns
        .iter()
        .fold(without_known, |line, (form, with)| form.replace_all(&line, *with).into_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("GET http://me:pw@proxy:3128/", "GET http://[credentials]@proxy:3128/")]
    #[case(
        "url=https://cdn.example/file?X-Amz-Signature=ab&Key=1 range=2-",
        "url=https://cdn.example/file?[query] range=2-"
    )]
    #[case(
        r#"headers: {"x-registry-auth": "eyJwIjoiYSJ9", "host": "a"}"#,
        r#"headers: {"x-registry-auth": [redacted]", "host": "a"}"#
    )]
    #[case("Authorization: Bearer abc.def next", "Authorization: [redacted] next")]
    #[case(r#"{"accessToken":"xet_1","exp":1}"#, r#"{"accessToken":[redacted]","exp":1}"#)]
    #[case(
        r#"{\"accessToken\":\"xet_1\",\"exp\":1}"#,
        r#"{\"accessToken\":[redacted]\",\"exp\":1}"#
    )]
    #[case(r#""secrets":["HF_TOKEN"]"#, r#""secrets":["HF_TOKEN"]"#)]
    fn forms_of_secrets_are_hidden(#[case] text: &str, #[case] clean: &str) {
        assert_eq!(redact_log_text(text), clean);
    }

    #[test]
    fn two_secrets_of_one_name_are_both_hidden() {
        hide_in_log("registry password", "first-pass/word");
        hide_in_log("registry password", "second-pass/word");
        assert_eq!(
            redact_log_text("a first-pass/word b second-pass%2Fword"),
            "a [registry password] b [registry password]"
        );
    }
}
