//! Texts of steps: typed lines as the guide has them, secrets under the names that programs read, and the variables that
//! nothing sets.

use std::collections::BTreeSet;
use std::ops::Range;

use retrial_recipe::writer::text_node;

use super::builder::Builder;
use super::keys::WrittenKeys;
use super::session::{Entry, Origin};
use crate::page::Page;
use crate::programs::Role;

/// Commands in a row that are one step.
pub struct Script {
    text: String,
    keys: WrittenKeys,
    /// Each command as it is shown, with its role.
    commands: Vec<(Role, String)>,
}

impl Script {
    /// Groups commands: lines that are typed one after another are one script.
    pub fn group(page: &Page, entries: &[&Entry]) -> Vec<Self> {
        let mut scripts: Vec<Self> = Vec::new();
        let mut last: Option<(usize, Range<usize>)> = None;
        for entry in entries {
            let (block, range) = entry.place.clone();
            let joins = entry.origin == Origin::Typed && last.is_some();
            match scripts.last_mut().filter(|_| joins) {
                Some(script) => {
                    let gap = last.as_ref().filter(|(before, _)| *before == block);
                    let source = gap
                        .map(|(_, before)| page.blocks[block].text.slice(before.end..range.start));
                    let is_next = source.as_deref().is_some_and(only_separates);
                    script.text.push_str(match &source {
                        Some(source) if is_next => source,
                        _ => "\n",
                    });
                    script.text.push_str(&entry.run);
                    script.commands.push((entry.role, entry.shown.clone()));
                }
                None => scripts.push(Self {
                    text: entry.run.clone(),
                    keys: entry.keys.clone(),
                    commands: vec![(entry.role, entry.shown.clone())],
                }),
            }
            last = (entry.origin == Origin::Typed).then_some((block, range));
        }
        scripts
    }

    /// Returns the step; none if it only changes its own shell, or shows something.
    pub fn into_step(self, builder: &mut Builder<'_>) -> Option<WrittenKeys> {
        let Self { text, keys, commands } = self;
        let are_all = |roles: &[Role]| commands.iter().all(|(role, _)| roles.contains(role));
        if are_all(&[Role::State]) {
            return None;
        }
        if are_all(&[Role::State, Role::Show, Role::Print]) {
            let shown = &commands[0].1;
            builder.note(format!("`{shown}`: dropped, it only shows something"));
            return None;
        }
        for (_, shown) in commands.iter().filter(|(role, _)| *role == Role::Measure) {
            builder.note(format!("`{shown}`: a step of the setup, since the guide runs it before the measured command"));
        }
        let run = with_secrets(builder, &text);
        Some([("run", text_node(run))].into_iter().chain(keys).collect())
    }
}

/// Whether text between two commands only separates them: `&&`, `;`, comments.
fn only_separates(text: &str) -> bool {
    text.lines().all(|line| {
        let line = line.trim().trim_start_matches(['&', ';']).trim();
        line.is_empty() || line.starts_with('#') || line == "\\"
    })
}

/// Returns a command that is given the secrets under the names that its program reads.
pub fn with_secrets(builder: &mut Builder<'_>, run: &str) -> String {
    if builder.secret_variables.is_empty() {
        return run.to_owned();
    }
    let is_simple = !run.contains(['\n', ';', '&', '|'])
        && !["if", "for", "while", "(", "{"].iter().any(|start| run.starts_with(start));
    let mut out = String::new();
    for variable in &builder.secret_variables {
        let (name, secret) = (&variable.name, &variable.secret);
        let (start, end) = if is_simple {
            ("", "\" ")
        } else {
            (
                "export ", "\"
",
            )
        };
        out.extend([start, name, "=\"$", secret, end]);
    }
    out + run
}

/// Returns a script without the here-documents in which the shell expands nothing: `<<'EOF'`.
fn without_literal_documents(script: &str) -> String {
    let mut end: Option<String> = None;
    let lines = script.lines().filter(|line| {
        if let Some(delimiter) = &end {
            if line.trim_start_matches('\t') == delimiter {
                end = None;
            }
            return false;
        }
        let (_, behind) = line.split_once("<<").unwrap_or_default();
        let behind = behind.trim_start_matches('-').trim_start();
        let quote = behind.chars().next().filter(|letter| matches!(letter, '\'' | '"' | '\\'));
        end = quote.and_then(|quote| {
            let word = &behind[1..];
            let length = word.find([quote, ' ', '>', '|', ';']).unwrap_or(word.len());
            (length > 0).then(|| word[..length].to_owned())
        });
        true
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Variables that a shell or an image sets.
const KNOWN: [&str; 34] = [
    "HOME",
    "PATH",
    "PWD",
    "OLDPWD",
    "USER",
    "HOSTNAME",
    "SHELL",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "ROCM_PATH",
    "CUDA_HOME",
    "CUDA_PATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "RANDOM",
    "SECONDS",
    "LINENO",
    "IFS",
    "TMPDIR",
    "LANG",
    "TERM",
    "UID",
    "EUID",
    "LD_PRELOAD",
    "MPI_HOME",
    "REPLY",
    "OPTARG",
    "LIBRARY_PATH",
    "CPATH",
    "PKG_CONFIG_PATH",
    "NVIDIA_VISIBLE_DEVICES",
    "BASH_SOURCE",
    "HF_HOME",
    "FUNCNAME",
];

/// Returns the variables that a script uses and nothing in it sets.
pub fn unset_variables(script: &str) -> Vec<String> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut used = Vec::new();
    let mut assigned: BTreeSet<String> = KNOWN.iter().map(|name| (*name).to_owned()).collect();
    let mut quote = None;
    let script = &without_literal_documents(script);
    let letters: Vec<char> = script.chars().collect();
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (Some('\''), _) => {}
            (_, '\\') => at += 1,
            (_, '$') => {
                let braced = usize::from(letters.get(at + 1) == Some(&'{'));
                let name: String = letters[at + 1 + braced..]
                    .iter()
                    .copied()
                    .take_while(|letter| is_name(*letter))
                    .collect();
                let behind = letters.get(at + 1 + braced + name.len()).copied();
                // `${{ params.x }}`, `${X:-default}`, `$1`
                let has_default =
                    braced == 1 && matches!(behind, Some(':' | '-' | '=' | '+' | '?'));
                if name.starts_with(|letter: char| !letter.is_ascii_digit())
                    && !has_default
                    && !used.contains(&name)
                {
                    used.push(name);
                }
            }
            _ => {}
        }
        at += 1;
    }
    let words: Vec<&str> = script.split([' ', '\n', '\t', ';', '(', '&', '|']).collect();
    for (at, word) in words.iter().enumerate() {
        if let Some((name, _)) = word.split_once('=') {
            assigned.insert(name.trim_end_matches('+').trim_start_matches("--").to_owned());
        }
        if matches!(*word, "for" | "read" | "select" | "mapfile" | "readarray") {
            assigned.extend(
                words[at + 1..]
                    .iter()
                    .take_while(|word| **word != "in" && !word.is_empty())
                    .map(|word| (*word).to_owned()),
            );
        }
    }
    // A file that is sourced may set any.
    let is_sourced = words.windows(2).any(|pair| matches!(pair[0], "source" | "."));
    if is_sourced {
        Vec::new()
    } else {
        used.into_iter().filter(|name| !assigned.contains(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_nothing_sets_are_found() {
        for (script, unset) in [
            ("vllm serve $MODEL --port ${PORT}", &["MODEL", "PORT"][..]),
            ("M=x\n./bench --m \"$M\" $PATH ${N:-1}", &[]),
            ("for s in 1 2; do echo $s '$X'; done", &[]),
            ("source env.sh\n./bench $X", &[]),
            ("x ${{ params.a }} \\$Y $1", &[]),
            ("cat <<'E' > x\n$X\nE\ncat <<E\n$Z\nE", &["Z"]),
        ] {
            assert_eq!(unset_variables(script), unset, "{script}");
        }
    }
}
