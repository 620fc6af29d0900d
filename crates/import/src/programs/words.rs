//! The words of a command: its program, the shell that it starts, and the script of one.

/// Shells.
const SHELLS: [&str; 6] = ["bash", "sh", "zsh", "dash", "ksh", "ash"];

/// Returns the name of a program without its directory.
pub fn program_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Returns whether words only start a shell: `bash`, `/bin/bash -l`.
pub fn is_shell(words: &[String]) -> bool {
    let Some((first, options)) = words.split_first() else { return false };
    let is_option = |word: &String| {
        word.starts_with('-') && !word.trim_start_matches('-').ends_with('c') || word == "--login"
    };
    // `bash -s ARGUMENT` reads its script from its input.
    let reads_input = options.first().is_some_and(|word| word == "-s");
    SHELLS.contains(&program_name(first)) && (reads_input || options.iter().all(is_option))
}

/// Returns the script of `bash -c SCRIPT`.
pub fn shell_script(words: &[String]) -> Option<&str> {
    let [shell, options @ ..] = words else { return None };
    let at = options.iter().position(|word| word.starts_with('-') && word.ends_with('c'))?;
    let before = options[..at].iter().all(|word| word.starts_with('-'));
    let script = options.get(at + 1)?;
    (SHELLS.contains(&program_name(shell)) && before).then_some(script)
}

/// Returns words of a text as those of a command.
pub fn split_words(text: &str) -> Vec<String> {
    text.split_whitespace().map(|word| word.trim_matches(['"', '\'']).to_owned()).collect()
}
