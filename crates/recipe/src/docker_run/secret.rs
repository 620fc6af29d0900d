//! Finds secrets: a recipe and messages contain their names, never their values.

/// Returns whether a variable's name implies that its value is a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let upper_name = name.to_ascii_uppercase();
    let words = ["SECRET", "PASSWORD", "PASSWD", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY"];
    upper_name.ends_with("_TOKEN")
        || upper_name == "TOKEN"
        || words.iter().any(|word| upper_name.contains(word))
}

/// Finds a token of the Hugging Face hub in a text.
pub(super) fn find_hub_token(text: &str) -> Option<&str> {
    let alone = |at: usize| !text[..at].ends_with(|letter: char| letter.is_ascii_alphanumeric());
    text.match_indices("hf_").find_map(|(at, _)| {
        let rest = &text[at + 3..];
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
        (end >= 16 && alone(at)).then(|| &text[at..at + 3 + end])
    })
}

/// Returns a text with a star in place of each character of a token, and of the values of secret variables and of
/// `--password` and similar flags.
pub(super) fn mask_secrets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut hides_next = false;
    let mut is_login = false;
    for word in text.split_inclusive(char::is_whitespace) {
        is_login = (is_login || word.trim_end() == "login") && !out.ends_with('\n');
        let name_end = word.find('=').unwrap_or(word.trim_end().len());
        let name = word[..name_end].trim_start_matches(['-', '"', '\'']);
        let names_secret =
            is_secret(&name.replace('-', "_")) || is_login && &word[..name_end] == "-p";
        let value = if word.trim().is_empty() {
            word.len()
        } else if hides_next {
            0
        } else if names_secret && word.contains('=') {
            name_end + 1
        } else {
            word.len()
        };
        if !word.trim().is_empty() {
            hides_next = names_secret && word.starts_with('-') && !word.contains('=');
        }
        // `$HF_TOKEN` and `<your token>` are no values.
        let is_reference = word[value..].trim_start_matches(['"', '\'']).starts_with(['$', '<']);
        let value = if is_reference { word.len() } else { value };
        out.push_str(&word[..value]);
        let is_kept = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '\\');
        let star = |letter: char| if is_kept(letter) { letter } else { '*' };
        out.extend(word[value..].chars().map(star));
    }
    while let Some(token) = find_hub_token(&out) {
        let stars = format!("hf_{}", "*".repeat(token.len() - "hf_".len()));
        out = out.replace(token, &stars);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_by_name_and_value() {
        assert!(is_secret("HF_TOKEN") && is_secret("aws_secret_access_key") && is_secret("TOKEN"));
        assert!(!is_secret("TOKENIZERS_PARALLELISM") && !is_secret("MAX_TOKENS"));
        let token = "hf_abcdefghijklmnopqr";
        assert_eq!(find_hub_token(&format!("--token={token}!")), Some(token));
        assert_eq!(find_hub_token("hf_hub_download half_precision_training_mode"), None);
        for (text, masked) in [
            ("docker login -u me -p geheim x", "docker login -u me -p ****** x"),
            ("hf auth login --token abc\nls", "hf auth login --token ***\nls"),
            ("export API_KEY=abc", "export API_KEY=***"),
            ("-e HF_TOKEN=\"abc\" \\\n -e MODE=x", "-e HF_TOKEN=\"***\" \\\n -e MODE=x"),
            ("-e HF_TOKEN=$HF_TOKEN", "-e HF_TOKEN=$HF_TOKEN"),
            ("export X=hf_abcdefghijklmnopqr", "export X=hf_******************"),
        ] {
            assert_eq!(mask_secrets(text), masked);
        }
    }
}
