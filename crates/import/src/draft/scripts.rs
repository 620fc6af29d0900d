//! Texts of steps: typed lines as the guide has them, and secrets under the names that programs read.

use std::ops::Range;

use retrial_recipe::writer::text_node;

use super::builder::Builder;
use super::keys::WrittenKeys;
use super::session::{Entry, Origin};
use crate::page::Page;
use crate::programs::Role;
use crate::shell::{Stage, parse_commands};

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
    // An expression of the recipe is a value.
    let letters: Vec<char> = run.replace("${{", "{{").chars().collect();
    let items = parse_commands(&letters).unwrap_or_default();
    let is_simple = matches!(&items[..], [one] if matches!(one.stages[..], [Stage::Simple(_)]));
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
