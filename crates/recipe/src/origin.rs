//! The origin of each value of a resolved recipe, for `show --resolved`.

use itertools::Itertools as _;
use retrial_document::{FieldType, Keys as _, Node, Object, Value};
use serde::Serialize;

use super::model::Recipe;
use super::param_setting::is_option;

/// A value of a resolved recipe, and its origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ValueOrigin {
    /// The path of the key: `container.privileged`.
    pub key: String,
    /// The value as written, in one line.
    pub value: String,
    /// The origin: `templates/amd.yaml:12:3`, `--set` or `default`.
    pub from: String,
}

/// Returns all values of a settled tree, in its order, and the defaults of absent keys.
pub fn list_origins(recipe: &Node) -> Vec<ValueOrigin> {
    let mut out = Vec::new();
    collect_values(&mut out, recipe, String::new());
    collect_defaults(&mut out, recipe, Recipe::OBJECT, "");
    out
}

fn collect_values(out: &mut Vec<ValueOrigin>, node: &Node, key: String) {
    let simple = |node: &Node| matches!(node.value, Value::Scalar(_));
    match &node.value {
        Value::Null | Value::Removed => {}
        Value::Map(entries) if !entries.is_empty() => {
            for entry in entries {
                collect_values(out, &entry.value, join_key_path(&key, &entry.key));
            }
        }
        // Appended lists come from two files, so their items are listed one by one.
        Value::List(items) if !items.iter().all(simple) || are_from_several_files(items) => {
            for (index, item) in items.iter().enumerate() {
                collect_values(out, item, format!("{key}[{index}]"));
            }
        }
        Value::List(items) => {
            let texts = items.iter().filter_map(Node::text).format(", ");
            let value = format!("[{texts}]");
            out.push(node_origin(key, value, items.first().unwrap_or(node)));
        }
        Value::Map(_) => out.push(node_origin(key, "{}".into(), node)),
        Value::Scalar(scalar) => {
            out.push(node_origin(key, scalar.text.trim_end().to_owned(), node));
        }
    }
}

fn are_from_several_files(items: &[Node]) -> bool {
    items.windows(2).any(|pair| pair[0].span.source.path != pair[1].span.source.path)
}

fn node_origin(key: String, value: String, node: &Node) -> ValueOrigin {
    let from = match &*node.span.source.path {
        path if is_option(path) => path.to_owned(),
        _ => node.span.to_string(),
    };
    ValueOrigin { key, value, from }
}

fn join_key_path(key: &str, name: &str) -> String {
    let name = if name.contains('.') { format!("\"{name}\"") } else { name.to_owned() };
    if key.is_empty() { name } else { format!("{key}.{name}") }
}

/// Adds the defaults of absent keys. Only within maps that exist, except for the container and the rules of judging,
/// which hold whether they are written or not.
fn collect_defaults(
    out: &mut Vec<ValueOrigin>,
    node: &Node,
    object: &'static Object,
    prefix: &str,
) {
    for key in object.keys() {
        let path = join_key_path(prefix, key.name);
        match (node.get(key.name), key.default) {
            (None, Some(default)) => out.push(ValueOrigin {
                key: path,
                value: default.to_owned(),
                from: "default".into(),
            }),
            (Some(value), _) => collect_nested_defaults(out, value, &key.field_type, &path),
            (None, None) => {
                if let (FieldType::Object(object), "container" | "judge") =
                    (key.field_type, key.name)
                {
                    collect_defaults(out, &Node::null(node.span.clone()), object, &path);
                }
            }
        }
    }
}

fn collect_nested_defaults(
    out: &mut Vec<ValueOrigin>,
    node: &Node,
    field_type: &FieldType,
    path: &str,
) {
    match (field_type, &node.value) {
        (FieldType::Object(object), Value::Map(_)) => collect_defaults(out, node, object, path),
        (FieldType::Map(_, of), Value::Map(_)) => {
            for (name, value) in node.present_entries() {
                collect_nested_defaults(out, value, of, &join_key_path(path, name));
            }
        }
        (FieldType::Either(types), _) => {
            for alternative in *types {
                collect_nested_defaults(out, node, alternative, path);
            }
        }
        _ => {}
    }
}
