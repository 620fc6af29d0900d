//! Recognizes shells among the programs of a container.

use super::values::Word;

pub(super) fn is_shell_name(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    ["bash", "sh", "zsh", "dash"].contains(&name)
}

/// Returns whether a command is an interactive shell, without a script.
pub(super) fn is_shell(command: &[Word]) -> bool {
    let (shell, options) = match command {
        [] => return false,
        [shell, options @ ..] => (shell, options),
    };
    let waits = |option: &Word| {
        matches!(&*option.text, "-l" | "-i" | "--login" | "-il" | "-li" | "-s" | "-")
    };
    is_shell_name(&shell.text) && options.iter().all(waits)
}
