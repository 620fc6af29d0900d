//! Keys with comments.

use std::fmt::Write as _;

use retrial_document::{FieldType, Keys as _, Node, to_yaml};

use super::compact::render_compact;
use super::fold::{MAX_COLUMNS, fold_line, wrap_comment};
use super::nodes::map_node;
use crate::model::Recipe;

/// The keys of a map, with comments.
#[derive(Debug, Clone, Default)]
pub struct Section {
    keys: Vec<WrittenKey>,
}

#[derive(Debug, Clone)]
struct WrittenKey {
    name: String,
    /// Lines of comments above it.
    above: Vec<String>,
    /// The comment behind its value.
    beside: Option<String>,
    value: WrittenValue,
}

#[derive(Debug, Clone)]
enum WrittenValue {
    /// The key is absent: only its comments are written.
    Absent,
    Block(Node),
    /// Each map on one line.
    Compact(Node),
    Section(Section),
}

impl Section {
    pub fn set(&mut self, name: &str, value: Node) {
        self.key_mut(name).value = WrittenValue::Block(value);
    }

    /// Sets a key whose map, or each map of whose list, is on one line.
    pub fn set_compact(&mut self, name: &str, value: Node) {
        self.key_mut(name).value = WrittenValue::Compact(value);
    }

    /// Sets a key to a map of keys with comments.
    pub fn set_section(&mut self, name: &str, value: Self) {
        self.key_mut(name).value = WrittenValue::Section(value);
    }

    /// Adds a line of comment above a key, or in its place if it is never set.
    pub fn comment_above(&mut self, name: &str, line: &str) {
        self.key_mut(name).above.push(replace_control_characters(line));
    }

    /// Sets the comment behind the value of a key.
    pub fn comment_beside(&mut self, name: &str, text: &str) {
        self.key_mut(name).beside = Some(replace_control_characters(text));
    }

    fn key_mut(&mut self, name: &str) -> &mut WrittenKey {
        let position = self.keys.iter().position(|key| key.name == name);
        let position = position.unwrap_or_else(|| {
            self.keys.push(WrittenKey {
                name: name.to_owned(),
                above: Vec::new(),
                beside: None,
                value: WrittenValue::Absent,
            });
            self.keys.len() - 1
        });
        &mut self.keys[position]
    }

    /// Returns the text of a map of this type, in the order in which its keys are declared.
    pub(super) fn render(&self, own_type: &FieldType) -> String {
        let mut out = String::new();
        self.write(Some(own_type), 0, &mut out);
        out
    }

    fn write(&self, own_type: Option<&FieldType>, depth: usize, out: &mut String) {
        let mut keys: Vec<&WrittenKey> = self.keys.iter().collect();
        keys.sort_by_key(|key| own_type.and_then(|own| position_in(own, &key.name)));
        for (number, key) in keys.into_iter().enumerate() {
            let is_part = matches!(key.value, WrittenValue::Section(_));
            if number > 0 && (depth == 0 && key.name != "title" || depth == 1 && is_part) {
                out.push('\n');
            }
            let value_type = own_type.and_then(|own| type_of_key(own, &key.name));
            key.write(value_type, depth, out);
        }
    }
}

impl FromIterator<(&'static str, Node)> for Section {
    fn from_iter<Keys: IntoIterator<Item = (&'static str, Node)>>(keys: Keys) -> Self {
        let mut section = Self::default();
        for (name, value) in keys {
            section.set(name, value);
        }
        section
    }
}

impl WrittenKey {
    fn write(&self, value_type: Option<&FieldType>, depth: usize, out: &mut String) {
        let text = self.render_value(value_type, depth);
        let beside_length = self.beside.as_ref().map_or(0, |beside| beside.chars().count());
        let is_one_line = text.trim_end().lines().count() == 1
            && text.trim_end().chars().count() + "    # ".len() + beside_length <= MAX_COLUMNS;
        let beside = self.beside.iter().filter(|_| !is_one_line);
        let indent = "  ".repeat(depth);
        for line in self.above.iter().chain(beside) {
            out.push_str(&wrap_comment(line, &indent));
        }
        match &self.beside {
            Some(beside) if is_one_line => {
                let _ = writeln!(out, "{}    # {beside}", text.trim_end());
            }
            _ => out.push_str(&text),
        }
    }

    fn render_value(&self, value_type: Option<&FieldType>, depth: usize) -> String {
        let indent = "  ".repeat(depth);
        let name = retrial_document::quote_scalar(&self.name, true);
        match &self.value {
            WrittenValue::Absent => String::new(),
            WrittenValue::Block(node) => {
                let text = to_yaml(&map_node([(&*self.name, node.clone())]), Recipe::OBJECT);
                let lines = text.split_inclusive('\n').map(|line| match line {
                    "\n" => line.to_owned(),
                    line => fold_line(&format!("{indent}{line}")),
                });
                lines.collect()
            }
            WrittenValue::Compact(node) if node.items().is_empty() => {
                format!("{indent}{name}: {}\n", render_compact(node))
            }
            WrittenValue::Compact(node) => {
                let items = node.items().iter();
                let lines = items.map(|item| format!("{indent}  - {}\n", render_compact(item)));
                format!("{indent}{name}:\n{}", lines.collect::<String>())
            }
            WrittenValue::Section(section) => {
                let mut text = format!("{indent}{name}:\n");
                section.write(value_type, depth + 1, &mut text);
                text
            }
        }
    }
}

fn replace_control_characters(comment: &str) -> String {
    comment.replace(char::is_control, " ")
}

/// Returns the position of a key in the declaration of a map; none in a map with free names, which keep their order.
fn position_in(own_type: &FieldType, name: &str) -> Option<usize> {
    let mut position = None;
    own_type.visit_objects(&mut |object| {
        position = position.or_else(|| object.keys().position(|key| key.name == name));
    });
    position.filter(|_| !matches!(own_type, FieldType::Map(..)))
}

/// Returns the type of the values of a key.
fn type_of_key<'a>(own_type: &'a FieldType, name: &str) -> Option<&'a FieldType> {
    match own_type {
        FieldType::Object(object) => object.key(name).map(|key| &key.field_type),
        FieldType::Map(_, of) => Some(of),
        FieldType::Either(types) => types.iter().find_map(|one| type_of_key(one, name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::{list_node, plain_node, render_recipe, text_node};

    #[test]
    fn keys_are_written_in_their_order_with_comments() {
        let mut expect = Section::default();
        let figure = |value: &str| map_node([("value", plain_node(value))]);
        expect.set_compact("speed", figure("1"));
        expect.set_compact("score", list_node(vec![figure("2"), figure("3")]));
        let mut measured = Section::default();
        measured.set("target_qps", plain_node("4"));
        measured.comment_beside("target_qps", "as\npublished");
        measured.set_section("expect", expect);
        measured.set("run", text_node("first\n\nsecond\n"));
        measured.comment_above("run", "Drafted.");
        let case = Section::from_iter([("performance", plain_node("5"))]);
        let mut modes = Section::default();
        modes.set_section("performance", measured);
        let mut scenarios = Section::default();
        scenarios.comment_above("other", "Not measured.");
        scenarios.set_section("server", modes);
        scenarios.set_section("case", case);
        let mut keys = Section::default();
        keys.set_section("scenarios", scenarios);
        keys.comment_above("requires", "No GPUs.");
        keys.set("title", text_node("t"));
        let text = render_recipe(&["From a test.".to_owned()], keys);
        let (_, keys) = text.split_once("recipe.schema.json\n# From").unwrap();
        assert_eq!(
            keys,
            " a test.\nschema: 1\ntitle: t\n\n# No GPUs.\n\nscenarios:\n  # Not measured.\n\n  server:\n    performance:\n      \
             # Drafted.\n      run: |\n        first\n\n        second\n      expect:\n        speed: { value: 1 }\n        score:\n          \
             - { value: 2 }\n          - { value: 3 }\n      target_qps: 4    # as published\n\n  case:\n    performance: 5\n"
        );
    }
}
