//! What commands of the host change for those behind them: variables, the directory, aliases, functions.

use super::reader::Reader;
use crate::shell::{Assignment, Item, Part, RawValue, Value, Word, expand_whole, expand_word};

impl Reader<'_> {
    pub(super) fn assign(&mut self, assignment: &Assignment) {
        let value = match &assignment.value {
            RawValue::Scalar(raw) => {
                let parts = expand_whole(&raw.text, &mut self.values);
                match &parts[..] {
                    [] => Value::Asked(self.comment_behind(raw.range.end)),
                    [Part::Text(text)] if text.is_empty() => {
                        Value::Asked(self.comment_behind(raw.range.end))
                    }
                    // The reader's own value, by the name of its variable.
                    [Part::Param(id)] => {
                        let param = self.values.param(*id).clone();
                        match (param.default, param.question) {
                            (None, Some(question)) => Value::Asked(Some(question)),
                            (Some(default), Some(question)) => {
                                let id = self.values.param_of_variable(
                                    &assignment.name,
                                    Some(default),
                                    Some(question),
                                );
                                Value::Scalar(vec![Part::Param(id)])
                            }
                            _ => Value::Scalar(parts),
                        }
                    }
                    _ => Value::Scalar(parts),
                }
            }
            RawValue::Array(words) => {
                let fields = words.iter().flat_map(|word| expand_word(word, &mut self.values));
                Value::Array(fields.map(|field| field.parts).collect())
            }
        };
        let value = match (assignment.appends, self.values.value(&assignment.name).cloned(), value)
        {
            (true, Some(Value::Array(mut before)), Value::Array(more)) => {
                before.extend(more);
                Value::Array(before)
            }
            (true, Some(Value::Scalar(mut before)), Value::Scalar(more)) => {
                for part in more {
                    crate::shell::push_part(&mut before, part);
                }
                Value::Scalar(before)
            }
            (_, _, value) => value,
        };
        self.values.assign(&assignment.name, value);
    }

    /// Returns the comment behind a position of the block, on its line.
    fn comment_behind(&self, position: usize) -> Option<String> {
        let letters = &self.text().letters;
        let line: String = letters[position.min(letters.len())..]
            .iter()
            .take_while(|letter| **letter != '\n')
            .collect();
        let (_, comment) = line.split_once('#')?;
        let comment = crate::shell::unmark(comment).trim().trim_matches(['<', '>']).to_owned();
        (!comment.is_empty()).then_some(comment)
    }

    /// Changes the directory of the host's commands.
    pub(super) fn change_directory(&mut self, path: Option<&Word>) {
        let Some(path) = path else { return };
        let is_absolute = path.start().starts_with('/')
            || matches!(path.parts.first(), Some(Part::Here | Part::Home | Part::Param(_)));
        if is_absolute {
            self.values.directory.clone_from(&path.parts);
        } else if path.start().starts_with("..") || path.plain() == Some("-") {
            let question = format!("the directory after `cd {}`", path.written);
            let id = self.values.add_param("directory", &path.written, None, Some(question));
            self.values.directory = vec![Part::Param(id)];
        } else {
            let relative = path.start().trim_start_matches("./").trim_end_matches('/').to_owned();
            let mut parts = self.values.directory.clone();
            if !relative.is_empty() && relative != "." {
                crate::shell::push_part(&mut parts, Part::Text(format!("/{relative}")));
            }
            parts.extend(path.parts.iter().skip(1).cloned());
            self.values.directory = parts;
        }
    }

    /// Reads commands that a shell may execute, or execute several times: a container among them is refused.
    pub(super) fn read_branches(&mut self, keyword: &'static str, inner: &[Item], whole: &Item) {
        let values = self.values.clone();
        let before = self.commands.len();
        for item in inner {
            self.read_item(item);
        }
        let branch = self.commands.split_off(before);
        let in_container = branch.iter().find(|command| {
            matches!(command.action, super::Action::Start(_) | super::Action::Exec(_))
        });
        let span = self.span(whole.range.clone());
        let shown = self.shown(whole.range.clone());
        if in_container.is_some() {
            let help = "give the command of one pass: a batch (`retrial batch`) repeats a recipe over values";
            self.problems.error(
                "guide",
                format!("`{keyword}` around a container's command"),
                &span,
                help,
            );
            return;
        }
        let changed = self.values.forget_since(&values);
        if !changed.is_empty() {
            let listed = changed.join(", ");
            self.note(format!(
                "`{shown}`: only a shell can follow it; {listed} is asked for where it is used"
            ));
        } else if matches!(keyword, "while" | "until") {
            self.note(format!("`{shown}`: dropped, a service is awaited by its `ready`"));
        } else if !branch.is_empty() {
            self.push_host(whole);
        }
    }
}
