//! Values of the command substitutions that guides use: `$(pwd)`, `$(id -u)`.

use super::commands::is_tool;
use super::shell::Shell;
use super::values::WORKING_DIRECTORY;
use crate::Span;

impl Shell<'_> {
    /// Returns the value of a command substitution.
    pub(super) fn substitute(&mut self, command: &str, span: &Span) -> String {
        let words: Vec<&str> = command.split_whitespace().collect();
        let text = words.join(" ");
        if text.starts_with('#') {
            // The comment of a line that `\` continues.
            return String::new();
        }
        let mut pairs = words.windows(2);
        if pairs.any(|pair| is_tool(pair[0]) && matches!(pair[1], "run" | "create")) {
            // Its output is the container's id, by which the block names it.
            self.follow_inner(command, span);
            return "container".to_owned();
        }
        let environment = self.values.environment;
        let (variable, value) = match &*text {
            "pwd" | "PWD" | "pwd -P" | "pwd -L" | "realpath ." | "readlink -f ." => {
                return self.directory.clone();
            }
            "whoami" | "id -un" => return self.variable("USER", &format!("$({text})"), None),
            "id -u" => ("uid", environment.user_id().map(|id| id.to_string())),
            "id -g" => ("gid", environment.group_id().map(|id| id.to_string())),
            "hostname" | "hostname -s" | "uname -n" => ("hostname", environment.host_name()),
            "nproc" | "nproc --all" => {
                ("nproc", environment.processors().map(|count| count.to_string()))
            }
            "uname -m" | "arch" => ("arch", Some(std::env::consts::ARCH.to_owned())),
            _ if names_script_directory(&text) => return self.script_directory(&text),
            _ => match words[..] {
                ["realpath", path] | ["readlink", "-f", path] if is_plain_path(path) => {
                    return format!("{}/{}", self.directory, path.trim_start_matches("./"));
                }
                ["getent", "group", group, "|", "cut", "-d:", "-f3"]
                | ["getent", "group", group, "|", "cut", "-d", ":", "-f", "3"]
                | ["getent", "group", group, "|", "cut", "-d:", "-f", "3"]
                | ["getent", "group", group, "|", "awk", "-F:", "'{print", "$3}'"] => {
                    let Some(id) = environment.group_id_of(group) else {
                        self.note(format!("`$({text})`: this host has no group {group}; its name is in the recipe, which the image must have"));
                        return group.to_owned();
                    };
                    return self.values.declare(
                        &format!("gid_{group}"),
                        &format!("$({text})"),
                        Some(id.to_string()),
                        None,
                    );
                }
                _ => return self.refuse(&format!("$({text})"), span),
            },
        };
        self.values.declare(variable, &format!("$({text})"), value, None)
    }

    /// Returns the directory of the block's script, which is taken to be that of the recipe.
    fn script_directory(&mut self, text: &str) -> String {
        self.note(format!("`$({text})`: the script's directory is taken for the recipe's"));
        WORKING_DIRECTORY.to_owned()
    }
}

/// Whether a command prints the directory of its script: `cd "$(dirname "$0")" && pwd`.
fn names_script_directory(text: &str) -> bool {
    let mut plain = text.replace('"', "");
    for (written, same) in [
        ("$( ", "$("),
        (" )", ")"),
        ("${BASH_SOURCE[0]}", "$0"),
        ("$BASH_SOURCE", "$0"),
        ("${0}", "$0"),
        ("dirname -- ", "dirname "),
        ("cd -- ", "cd "),
        ("cd -P ", "cd "),
        ("pwd -P", "pwd"),
        ("; pwd", " && pwd"),
        (" &> /dev/null", ""),
        (" >/dev/null 2>&1", ""),
        ("$(realpath $0)", "$0"),
        ("$(readlink -f $0)", "$0"),
    ] {
        plain = plain.replace(written, same);
    }
    matches!(&*plain, "dirname $0" | "cd $(dirname $0) && pwd" | "realpath $(dirname $0)")
}

/// Whether a word is a path below the working directory.
fn is_plain_path(path: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    path.chars().all(is_plain) && !path.starts_with('/') && !path.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_of_a_script_is_known() {
        for (text, expected) in [
            ("dirname \"$0\"", true),
            ("cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd", true),
            ("cd -- \"$( dirname -- \"${BASH_SOURCE[0]}\" )\" &> /dev/null && pwd", true),
            ("dirname \"$(readlink -f \"$0\")\"", true),
            ("cd \"$(dirname \"$0\")/..\" && pwd", false),
        ] {
            assert_eq!(names_script_directory(text), expected, "{text}");
        }
    }
}
