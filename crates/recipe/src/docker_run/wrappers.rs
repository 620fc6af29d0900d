//! Programs that start another program: `sudo`, `time`, `numactl`.

/// A program that starts another one.
struct Wrapper {
    name: &'static str,
    /// Its options with a value as the next word.
    options: &'static [&'static str],
    /// The number of its own arguments before the other program.
    arguments: usize,
    /// The reason why it is dropped, if it may have an effect.
    note: Option<&'static str>,
}

const fn wrapper(name: &'static str, options: &'static [&'static str]) -> Wrapper {
    Wrapper { name, options, arguments: 0, note: None }
}

/// `docker` only asks the engine, which starts the container.
const BINDING_NOTE: &str =
    "it binds the client, not the container (`container.cpuset_cpus`, `container.cpuset_mems`)";

const WRAPPERS: [Wrapper; 14] = [
    wrapper("sudo", &["-u", "-g", "-h", "-p", "-C", "-T", "-r", "-t", "-D", "-R"]),
    wrapper("env", &["-u", "-C", "-S"]),
    wrapper("time", &["-f", "-o"]),
    wrapper("exec", &["-a"]),
    wrapper("nohup", &[]),
    wrapper("command", &[]),
    wrapper("nice", &["-n"]),
    wrapper("ionice", &["-c", "-n"]),
    wrapper("stdbuf", &["-i", "-o", "-e"]),
    wrapper("then", &[]),
    Wrapper {
        arguments: 1,
        note: Some("a measurement has `timeout:`"),
        ..wrapper("timeout", &["-s", "-k"])
    },
    Wrapper {
        note: Some(BINDING_NOTE),
        ..wrapper(
            "numactl",
            &["-C", "-m", "-N", "-i", "-p", "--physcpubind", "--membind", "--cpunodebind"],
        )
    },
    Wrapper { arguments: 1, note: Some(BINDING_NOTE), ..wrapper("taskset", &[]) },
    Wrapper {
        arguments: 1,
        note: Some("run the recipe on that machine"),
        ..wrapper("ssh", &["-i", "-p", "-l", "-o", "-F", "-J"])
    },
];

/// The words of wrappers at the start of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WrapperWords {
    pub count: usize,
    /// Those that set variables.
    pub assignments: Vec<usize>,
    /// Wrappers that are dropped, by the range of their words, and why.
    pub notes: Vec<(std::ops::Range<usize>, &'static str)>,
}

/// Returns the words of wrappers at the start of a command.
pub(super) fn find_wrappers(words: &[&str]) -> WrapperWords {
    let mut found = WrapperWords::default();
    while let Some(wrapper) = words
        .get(found.count)
        .and_then(|word| WRAPPERS.iter().find(|wrapper| wrapper.name == *word))
    {
        let start = found.count;
        let mut arguments = wrapper.arguments;
        found.count += 1;
        while let Some(word) = words.get(found.count) {
            let is_assignment = matches!(wrapper.name, "env" | "sudo") && word.contains('=');
            if wrapper.options.contains(word) {
                found.count += 1;
            } else if is_assignment && !word.starts_with('-') {
                found.assignments.push(found.count);
            } else if !word.starts_with('-') {
                if arguments == 0 {
                    break;
                }
                arguments -= 1;
            }
            found.count += 1;
        }
        let note = wrapper.note.map(|note| (start..found.count, note));
        found.notes.extend(note);
    }
    found.count = found.count.min(words.len());
    found
}

/// Returns the command that a session of a terminal executes in the background: `tmux new -d -s NAME 'COMMAND'`,
/// `screen -dmS NAME COMMAND`.
pub(super) fn session_command(text: &str) -> Option<&str> {
    let mut starts = ["tmux new-session ", "tmux new ", "screen "].into_iter();
    let mut rest = starts.find_map(|start| text.strip_prefix(start))?;
    let mut is_detached = false;
    while rest.trim_start().starts_with('-') {
        let (option, behind) = rest.trim_start().split_once(char::is_whitespace)?;
        is_detached |= option.contains('d');
        rest = behind.trim_start();
        if option.ends_with(['s', 'S', 'n', 'c', 't']) {
            (_, rest) = rest.split_once(char::is_whitespace)?;
        }
    }
    let command = rest.trim();
    let inner = ['\'', '"'].into_iter().find_map(|quote| {
        let inner = command.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains([quote, '\\'])).then_some(inner)
    });
    let command = inner.unwrap_or(command);
    (is_detached && !command.is_empty()).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_that_counts_is_found() {
        for (line, count) in [
            ("docker run", 0),
            ("sudo -E docker run", 2),
            ("sudo -u ann HTTP=1 docker run", 4),
            ("env A=1 B=2 docker", 3),
            ("timeout -k 9 30m docker", 4),
            ("time numactl --cpunodebind=0 -m 0 docker", 5),
            ("taskset -c 0-3 docker", 3),
            ("sudo", 1),
            ("sudo -u", 2),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(find_wrappers(&words).count, count, "{line}");
        }
        assert_eq!(find_wrappers(&["env", "A=1", "b"]).assignments, [1]);
    }

    #[test]
    fn the_command_of_a_session_is_found() {
        for (text, command) in [
            ("tmux new -d -s srv 'vllm serve m'", Some("vllm serve m")),
            ("tmux new-session -s a -d \"b c\"", Some("b c")),
            ("screen -dmS srv vllm serve m", Some("vllm serve m")),
            ("screen -S srv", None),
            ("tmux new -s a", None),
            ("tmux attach", None),
        ] {
            assert_eq!(session_command(text), command, "{text}");
        }
    }
}
