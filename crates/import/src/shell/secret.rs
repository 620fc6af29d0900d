//! Finds secrets: a recipe and messages contain their names, never their values.

/// The last words of a variable's name that is a secret.
const LAST_WORDS: [&str; 9] =
    ["TOKEN", "KEY", "APIKEY", "PAT", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "CREDENTIALS"];
/// First words of names of numbers of tokens: `MAX_TOKEN`, `INPUT_TOKEN`.
const COUNTS: [&str; 9] = ["MAX", "MIN", "NUM", "N", "INPUT", "OUTPUT", "PROMPT", "CONTEXT", "EOS"];
/// Options whose value is a secret.
const OPTIONS: [&str; 8] = [
    "--token",
    "--hf-token",
    "--hf_token",
    "--api-key",
    "--api_key",
    "--password",
    "--password-stdin",
    "--access-token",
];

/// Returns whether a variable's name implies that its value is a secret.
pub fn is_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let words: Vec<&str> = upper.split('_').filter(|word| !word.is_empty()).collect();
    let is_count = words.first().is_some_and(|first| COUNTS.contains(first));
    let parts = ["SECRET", "PASSWORD", "PASSWD", "API_KEY", "ACCESS_KEY", "PRIVATE_KEY"];
    words.last().is_some_and(|last| LAST_WORDS.contains(last)) && !is_count
        || parts.iter().any(|part| upper.contains(part))
}

/// Returns whether the value of an option is a secret.
pub fn takes_secret(option: &str) -> bool {
    OPTIONS.contains(&option)
}

/// Finds a token of the Hugging Face hub in a text.
pub fn find_hub_token(text: &str) -> Option<&str> {
    let alone = |at: usize| !text[..at].ends_with(|letter: char| letter.is_ascii_alphanumeric());
    text.match_indices("hf_").find_map(|(at, _)| {
        let rest = &text[at + 3..];
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
        (end >= 16 && alone(at)).then(|| &text[at..at + 3 + end])
    })
}

/// Returns a text with stars in place of the values of secret variables and options, and of tokens.
pub fn mask_secrets(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut hides_next = false;
    let mut is_login = false;
    for word in text.split_inclusive(char::is_whitespace) {
        is_login = (is_login || word.trim_end() == "login") && !out.ends_with('\n');
        let name_end = word.find('=').unwrap_or(word.trim_end().len());
        let name = word[..name_end].trim_start_matches(['-', '"', '\'']);
        let names_secret =
            is_secret(&name.replace('-', "_")) || is_login && &word[..name_end] == "-p";
        let hidden_from = if word.trim().is_empty() {
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
        let is_reference =
            word[hidden_from..].trim_start_matches(['"', '\'']).starts_with(['$', '<']);
        let hidden_from = if is_reference { word.len() } else { hidden_from };
        out.push_str(&word[..hidden_from]);
        let is_kept = |letter: char| letter.is_whitespace() || matches!(letter, '"' | '\'' | '\\');
        out.extend(
            word[hidden_from..].chars().map(|letter| if is_kept(letter) { letter } else { '*' }),
        );
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
        for name in
            ["HF_TOKEN", "aws_secret_access_key", "TOKEN", "MY_KEY", "GITHUB_PAT", "NGC_CLI_KEY"]
        {
            assert!(is_secret(name), "{name}");
        }
        for name in ["TOKENIZERS_PARALLELISM", "MAX_TOKENS", "MAX_TOKEN", "KEYS", "PATH", "MONKEY"]
        {
            assert!(!is_secret(name), "{name}");
        }
        for (text, masked) in [
            ("docker login -u me -p geheim x", "docker login -u me -p ****** x"),
            ("hf auth login --token abc\nls", "hf auth login --token ***\nls"),
            ("-e HF_TOKEN=\"abc\" \\\n -e MODE=x", "-e HF_TOKEN=\"***\" \\\n -e MODE=x"),
            ("-e HF_TOKEN=$HF_TOKEN", "-e HF_TOKEN=$HF_TOKEN"),
            ("export X=hf_abcdefghijklmnopqr", "export X=hf_******************"),
        ] {
            assert_eq!(mask_secrets(text), masked);
        }
    }
}
