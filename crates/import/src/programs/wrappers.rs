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

const WRAPPERS: [Wrapper; 13] = [
    wrapper("sudo", &["-u", "-g", "-h", "-p", "-C", "-T", "-r", "-t", "-D", "-R"]),
    wrapper("env", &["-u", "-C", "-S"]),
    wrapper("time", &["-f", "-o"]),
    wrapper("exec", &["-a"]),
    wrapper("nohup", &[]),
    wrapper("command", &[]),
    wrapper("nice", &["-n"]),
    wrapper("ionice", &["-c", "-n"]),
    wrapper("stdbuf", &["-i", "-o", "-e"]),
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
pub struct WrapperWords {
    pub count: usize,
    /// Those that set variables.
    pub assignments: Vec<usize>,
    /// Wrappers that are dropped, by the number of the word, and why.
    pub notes: Vec<(usize, &'static str)>,
}

/// Returns the words of wrappers at the start of a command.
pub fn find_wrappers<Text: AsRef<str>>(words: &[Text]) -> WrapperWords {
    let mut found = WrapperWords::default();
    let word = |at: usize| words.get(at).map(AsRef::as_ref);
    while let Some(wrapper) =
        word(found.count).and_then(|name| WRAPPERS.iter().find(|wrapper| wrapper.name == name))
    {
        let start = found.count;
        let mut arguments = wrapper.arguments;
        found.count += 1;
        while let Some(word) = word(found.count) {
            let is_assignment = matches!(wrapper.name, "env" | "sudo") && word.contains('=');
            if wrapper.options.contains(&word) {
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
        found.notes.extend(wrapper.note.map(|note| (start, note)));
    }
    found.count = found.count.min(words.len());
    found
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
}
