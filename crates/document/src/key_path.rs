//! Paths of keys in a document: `container.mounts`, with `NAME` for a name of the user's choice.

use super::field_type::{FieldType, Object};

/// Deeper keys are of no help to somebody who looks for one; the declarations may contain themselves.
const MAX_PATH_KEYS: usize = 6;

impl Object {
    /// Returns the paths at which a document of this map has a key of this name, the shortest first.
    pub fn key_paths(&'static self, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut level: Vec<(String, &'static Object)> = vec![(String::new(), self)];
        for _ in 0..MAX_PATH_KEYS {
            let mut below = Vec::new();
            for (prefix, object) in level {
                for key in object.keys() {
                    let path = format!("{prefix}{}", key.name);
                    if key.name == name {
                        found.push(path.clone());
                    }
                    collect_objects(&key.field_type, &path, &mut below);
                }
            }
            level = below;
        }
        found
    }
}

/// Adds the maps of fixed keys that a value of this type is or holds, each with the path in front of its keys.
fn collect_objects(
    field_type: &'static FieldType,
    path: &str,
    objects: &mut Vec<(String, &'static Object)>,
) {
    match field_type {
        FieldType::Object(object) => objects.push((format!("{path}."), object)),
        FieldType::Either(types) => {
            for alternative in *types {
                collect_objects(alternative, path, objects);
            }
        }
        FieldType::List(of, _) => collect_objects(of, path, objects),
        FieldType::Map(_, of) => collect_objects(of, &format!("{path}.NAME"), objects),
        _ => {}
    }
}
