//! The variables that the shells of commands use in the container. A command gets the value of one that the block sets
//! on the host only, since it would be empty in the container; one that nothing sets is asked for.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex_lite::Regex;
use retrial_document::Node;

use super::parts::{MissingPlace, RecipeParts, WrittenKeys, set_variable};
use super::secret::is_secret;
use super::values::Word;
use crate::writer::text_node;

/// Suffixes of variables that an image or a program in it sets.
const IMAGE_ENDINGS: [&str; 9] =
    ["PATH", "HOME", "PREFIX", "ROOT", "USER", "SHELL", "PWD", "HOSTNAME", "VERSION"];
/// Prefixes of variables that an image, a launcher or the shell itself sets.
const IMAGE_PREFIXES: [&str; 12] = [
    "BASH", "CONDA_", "CUDA_", "HIP_", "LANG", "LOCAL_", "MASTER_", "NVIDIA_", "OMPI_", "OPT",
    "ROCM_", "SLURM_",
];
/// Variables that the shell or a launcher sets.
const SHELL_VARIABLES: [&str; 11] = [
    "EUID",
    "IFS",
    "LINENO",
    "PPID",
    "RANDOM",
    "RANK",
    "REPLY",
    "SECONDS",
    "TERM",
    "UID",
    "WORLD_SIZE",
];

/// Returns whether an image, a launcher or the shell may set a variable.
pub(super) fn is_of_image(name: &str) -> bool {
    IMAGE_ENDINGS.iter().any(|end| name.ends_with(end))
        || IMAGE_PREFIXES.iter().any(|start| name.starts_with(start))
        || SHELL_VARIABLES.contains(&name)
}

/// Gives each command the variables that it uses and that only the host's shell has.
/// `published` are the ports of the host that a client of the host asks, each with that of the container.
pub(super) fn settle_script_variables(parts: &mut RecipeParts<'_>, published: &[(u16, u16)]) {
    let mut commands = std::mem::take(&mut parts.commands);
    let mut of_client = Vec::new();
    for (number, command) in commands.iter_mut().enumerate() {
        let text = command.inner_script().unwrap_or_else(|| command.text());
        let variables = find_missing(parts, &text, &command.keys, published);
        if !parts.services.is_empty() && number >= parts.commands_before_server {
            of_client.extend(variables);
        } else {
            set_variables(&mut command.keys, &variables);
        }
    }
    // They become one command, with one environment.
    for command in commands.iter_mut().skip(parts.commands_before_server) {
        set_variables(&mut command.keys, &of_client);
    }
    parts.commands = commands;
    let mut services = std::mem::take(&mut parts.services);
    for server in &mut services {
        let run = server.keys.iter().find(|(key, _)| *key == "run");
        let text = run.and_then(|(_, node)| node.text()).unwrap_or_default();
        let variables = find_missing(parts, text, &server.keys, published);
        set_variables(&mut server.keys, &variables);
    }
    parts.services = services;
}

fn set_variables(keys: &mut WrittenKeys, variables: &[(String, Node)]) {
    for (name, value) in variables {
        set_variable(keys, name, value.clone());
    }
}

/// Returns the variables that a command needs from the host's shell; asks for those that nothing sets.
fn find_missing(
    parts: &mut RecipeParts<'_>,
    text: &str,
    keys: &WrittenKeys,
    published: &[(u16, u16)],
) -> Vec<(String, Node)> {
    let script = ScriptVariables::find(text);
    let own = keys.iter().find(|(key, _)| *key == "env");
    let of_step = own.map(|(_, env)| env.clone());
    let of_container = parts.flag_node("env").cloned();
    let has = |name: &str| {
        let maps = [&of_step, &of_container].into_iter().flatten();
        maps.into_iter().any(|env| env.get(name).is_some())
    };
    let mut missing = Vec::new();
    for name in script.expanded.union(&script.passed) {
        let is_expanded = script.expanded.contains(name);
        if has(name) || script.assigned.contains(name) {
            continue;
        }
        if is_secret(name) {
            if is_expanded {
                parts.pass_secret(name);
            }
        } else if parts.shell.variables.contains_key(name) {
            let declared = parts.shell.variable(name, &format!("${name}"), None);
            let literal = parts.shell.values.literal(&declared);
            let mut moved = published.iter().filter(|(outside, inside)| outside != inside);
            let inside = moved.find(|(outside, _)| outside.to_string() == literal);
            let value = inside.map_or(declared, |(_, port)| port.to_string());
            let place = parts.place.clone();
            if let Some(taken) = parts.take("the command", &Word::new(value, &place)) {
                parts.note(format!(
                    "${name}: the block sets it on the host, where the container does not see it; the command gets it (`env`)"
                ));
                missing.push((name.clone(), text_node(taken)));
            }
        } else if is_expanded && !script.may_set_others && !is_of_image(name) {
            parts.ask(MissingPlace::Container, format!(
                "env: the value of {name}, which a command uses and the block does not set; if the image sets it, remove this line"
            ));
        }
    }
    missing
}

/// The variables of a shell's text.
#[derive(Debug, Default)]
struct ScriptVariables {
    /// Those that this shell expands.
    expanded: BTreeSet<String>,
    /// Those in quoted text, which another shell may expand, and those with a default.
    passed: BTreeSet<String>,
    assigned: BTreeSet<String>,
    /// It executes the commands of a file itself (`source`).
    may_set_others: bool,
}

/// `NAME=`, `for NAME in`, `read NAME`.
static ASSIGNMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = "([A-Za-z_][A-Za-z0-9_]*)";
    Regex::new(&format!(
        r"(?:^|[\s;&|({{'])(?:{name}\+?=|for\s+{name}\s|read\s+(?:-\w+\s+)*{name})"
    ))
    .ok()
});

impl ScriptVariables {
    fn find(text: &str) -> Self {
        let mut found = Self {
            may_set_others: ["source ", ". ", "eval "].iter().any(|word| {
                let mut commands = text.split(['\n', ';', '&']);
                commands.any(|command| command.trim_start().starts_with(word))
            }),
            ..Self::default()
        };
        let assignments = ASSIGNMENT.iter().flat_map(|regex| regex.captures_iter(text));
        for captures in assignments {
            let names = captures.iter().skip(1).flatten();
            found.assigned.extend(names.map(|name| name.as_str().to_owned()));
        }
        let (mut is_single, mut is_double) = (false, false);
        // The text behind `<<'END'` is taken literally.
        let literal = ["<<'", "<<\"", "<<-'"].iter().filter_map(|mark| text.find(mark)).min();
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            match letter {
                '\\' if !is_single => {
                    rest = rest.get(rest.chars().next().map_or(0, char::len_utf8)..).unwrap_or("");
                }
                '\'' if !is_double => is_single = !is_single,
                '"' if !is_single => is_double = !is_double,
                '$' => {
                    let is_behind = literal.is_some_and(|at| text.len() - rest.len() > at);
                    found.add_reference(rest, is_single || is_behind);
                }
                _ => {}
            }
        }
        found
    }

    /// Adds the variable whose name follows a dollar sign.
    fn add_reference(&mut self, rest: &str, is_literal: bool) {
        let inner = rest.strip_prefix('{').unwrap_or(rest);
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let end = inner.find(|letter| !is_name(letter)).unwrap_or(inner.len());
        let (name, after) = inner.split_at(end);
        if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
            return;
        }
        let is_braced = inner.len() < rest.len();
        let has_default = is_braced
            && [":-", "-", ":=", "=", ":+", "+"].iter().any(|mark| after.starts_with(mark));
        let names = if is_literal || has_default { &mut self.passed } else { &mut self.expanded };
        names.insert(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_a_script_are_found() {
        let script =
            "A=1\nfor B in 1 2; do bench --a $A --b \"${B}x\" --c ${C:-1} --d $D '$E' \\$F; done";
        let found = ScriptVariables::find(script);
        let names = |names: &BTreeSet<String>| names.iter().cloned().collect::<String>();
        assert_eq!(names(&found.expanded), "ABD");
        assert_eq!(names(&found.passed), "CE");
        assert_eq!(names(&found.assigned), "AB");
        assert!(!found.may_set_others);
        let quoted = ScriptVariables::find("cat > x <<'END'\n$A don't $B\nEND");
        assert_eq!(names(&quoted.passed), "AB");
        assert!(ScriptVariables::find("cd x && source env.sh").may_set_others);
        assert!(ScriptVariables::find("echo ${{ params.a }} $(ls) $1").expanded.is_empty());
    }
}
