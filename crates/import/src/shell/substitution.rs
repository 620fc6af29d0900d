//! Substitutions of facts of the host: the working directory, user and group numbers, parts of paths. Each becomes a
//! parameter that is asked for, unless the guide states it. Others only a shell can compute.

use super::blanks::unmark;
use super::part::{Part, only_shell};
use super::values::{ParamKind, Values};

/// Commands that print a fact of the host, with the name of the parameter.
const FACTS: [(&[&str], &str); 12] = [
    (&["id", "-u"], "uid"),
    (&["id", "-g"], "gid"),
    (&["id", "-un"], "user"),
    (&["id", "-gn"], "group"),
    (&["whoami"], "user"),
    (&["logname"], "user"),
    (&["hostname"], "host_name"),
    (&["uname", "-n"], "host_name"),
    (&["nproc"], "cpus"),
    (&["date"], "date"),
    (&["git", "rev-parse", "--show-toplevel"], "repository"),
    (&["which"], "program"),
];

/// Expands a text as one word.
pub type Expand = fn(&str, &mut Values) -> Vec<Part>;

/// Returns what a command substitution gives; `expand` expands the words in it.
pub fn substitute(command: &str, values: &mut Values, expand: Expand) -> Vec<Part> {
    let command = unmark(command.trim());
    let words: Vec<&str> = command.split_whitespace().collect();
    let written = format!("$({command})");
    match &words[..] {
        ["pwd"]
        | ["pwd", "-P" | "-L"]
        | ["realpath", "."]
        | ["readlink", "-f", "."]
        | ["echo", "$PWD" | "${PWD}"] => values.directory.clone(),
        ["realpath" | "readlink", .., path] if command.matches('|').count() == 0 => {
            expand(path, values)
        }
        [tool @ ("dirname" | "basename"), path] => {
            path_part(tool, &expand(path, values), &written, values)
        }
        _ if is_group(&words) => {
            let group = words.iter().find(|word| ["render", "video"].contains(word));
            let hint = format!("{}_group", group.unwrap_or(&"render"));
            if words.first() == Some(&"getent")
                && let Some(group) = group
            {
                // The image's group of this name: the engine refuses one that the image does not have.
                let id = values.add_param(&hint, &written, Some((*group).to_owned()), None);
                return vec![Part::Param(id)];
            }
            ask(&hint, &written, ParamKind::String, values)
        }
        _ => {
            let fact = FACTS.iter().find(|(start, _)| words.starts_with(start));
            match fact {
                Some((_, hint)) => ask(hint, &written, ParamKind::String, values),
                None => vec![only_shell(&written)],
            }
        }
    }
}

/// The number of a group that owns a device: `getent group render | cut -d: -f3`, `stat -c %g /dev/dri/renderD128`.
fn is_group(words: &[&str]) -> bool {
    let names_group = words.iter().any(|word| word.contains("group") || word.contains("%g"));
    matches!(words.first(), Some(&("getent" | "stat" | "grep" | "awk" | "cut" | "cat" | "ls")))
        && names_group
}

fn ask(hint: &str, written: &str, kind: ParamKind, values: &mut Values) -> Vec<Part> {
    let id =
        values.add_param(hint, written, None, Some(format!("what `{written}` prints on the host")));
    values.param_mut(id).kind = kind;
    vec![Part::Param(id)]
}

fn path_part(tool: &str, parts: &[Part], written: &str, values: &mut Values) -> Vec<Part> {
    if let [Part::Text(text)] = parts {
        let text = text.trim_end_matches('/');
        let (directory, name) = text.rsplit_once('/').unwrap_or((".", text));
        let part = if tool == "dirname" { directory } else { name };
        return vec![Part::Text(if part.is_empty() { "/".to_owned() } else { part.to_owned() })];
    }
    let of = match parts {
        [Part::Param(id)] => values.param(*id).name.clone(),
        _ => "path".to_owned(),
    };
    let end = if tool == "dirname" { "directory" } else { "name" };
    ask(&format!("{of}_{end}"), written, ParamKind::String, values)
}
