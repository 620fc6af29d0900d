//! The container's first process.
//!
//! A container that is launched for steps needs a process that stays. With our control
//! directory mounted it is `/.retrial/init`; without it (a shell plan that a person pastes)
//! the same command line just waits. One command line for both, so that both containers
//! have the same configuration.

/// The mount point of the run's control directory in the container.
pub const CONTROL_MOUNT: &str = "/.retrial";

/// The shell line that the first process runs.
pub const KEEP_ALIVE_SCRIPT: &str = "trap 'exit 143' TERM; [ ! -f /.retrial/init ] || . /.retrial/init; while :; do sleep 86400 & wait $!; done";

/// The command of the first process: with the image's entrypoint bypassed, `/bin/sh` is
/// the entrypoint and this begins with `-c`; else the image's entrypoint is given all of it.
pub fn keep_alive_command(bypass: bool) -> (Option<Vec<String>>, Vec<String>) {
    let shell = vec!["/bin/sh".to_owned()];
    let line = vec!["-c".to_owned(), KEEP_ALIVE_SCRIPT.to_owned()];
    if bypass { (Some(shell), line) } else { (None, shell.into_iter().chain(line).collect()) }
}

/// The shell of a step that names none: bash where the image has it, else sh; both stop at
/// the first error, and where the shell can, an error inside a pipe is one.
pub const DEFAULT_SHELL: [&str; 3] = [
    "/bin/sh",
    "-c",
    "if command -v bash >/dev/null 2>&1; then exec bash -eo pipefail \"$0\"; fi; if (set -o pipefail) 2>/dev/null; then exec sh -eo pipefail \"$0\"; fi; exec sh -e \"$0\"",
];
