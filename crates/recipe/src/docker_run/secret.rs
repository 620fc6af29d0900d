//! Finds secrets: a recipe and messages contain their names, never their values.

use super::words::ShellWord;

/// Returns whether a variable's name implies that its value is a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let upper_name = name.to_ascii_uppercase();
    let words = [
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "API_KEY",
        "ACCESS_KEY",
        "PRIVATE_KEY",
    ];
    upper_name.ends_with("_TOKEN")
        || upper_name == "TOKEN"
        || words.iter().any(|word| upper_name.contains(word))
}

/// Finds a token of the Hugging Face hub in a text.
pub(super) fn find_hub_token(text: &str) -> Option<&str> {
    let alone = |at: usize| !text[..at].ends_with(|letter: char| letter.is_ascii_alphanumeric());
    text.match_indices("hf_").find_map(|(at, _)| {
        let rest = &text[at + 3..];
        let end = rest
            .find(|letter: char| !letter.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        (end >= 16 && alone(at)).then(|| &text[at..at + 3 + end])
    })
}

/// Returns a command as text, without tokens and the values of `--password` and similar flags.
pub(super) fn redact_command(words: &[ShellWord]) -> String {
    let mut shown = Vec::new();
    let mut hide = false;
    for word in words {
        let text = word.to_shell_text();
        let (name, value) = text
            .split_once('=')
            .map_or((&*text, None), |(name, value)| (name, Some(value)));
        let bare = name.trim_start_matches('-').replace('-', "_");
        let names = is_secret(&bare) || (name == "-p" && shown.iter().any(|word| word == "login"));
        let whole = if hide {
            "…".to_owned()
        } else if names && value.is_some() {
            format!("{name}=…")
        } else {
            match find_hub_token(&text) {
                Some(token) => text.replace(token, "hf_…"),
                None => text.clone(),
            }
        };
        hide = names && value.is_none() && name.starts_with('-');
        shown.push(whole);
    }
    shown.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docker_run::split_commands;

    #[test]
    fn secrets_are_found_by_name_and_value() {
        assert!(is_secret("HF_TOKEN") && is_secret("aws_secret_access_key") && is_secret("TOKEN"));
        assert!(!is_secret("TOKENIZERS_PARALLELISM") && !is_secret("MAX_TOKENS"));
        let token = "hf_abcdefghijklmnopqr";
        assert_eq!(find_hub_token(&format!("--token={token}!")), Some(token));
        assert_eq!(
            find_hub_token("hf_hub_download half_precision_training_mode"),
            None
        );
        let hidden = |text: &str| redact_command(&split_commands(text).unwrap()[0]);
        assert_eq!(
            hidden("docker login -u me -p geheim x"),
            "docker login -u me -p … x"
        );
        assert_eq!(
            hidden("hf auth login --token abc"),
            "hf auth login --token …"
        );
        assert_eq!(hidden(&format!("export X={token}")), "export X=hf_…");
        assert_eq!(hidden("export API_KEY=abc"), "export API_KEY=…");
    }
}
