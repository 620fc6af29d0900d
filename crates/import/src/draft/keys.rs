//! The keys of a container, by the flags that set them.

use std::collections::BTreeMap;

use retrial_document::{FieldType, Key, Keys as _, Node, Value};
use retrial_recipe::model::Container;
use retrial_recipe::writer::{list_node, map_node, plain_node, text_node};

use super::value_error::FlagValueError;

/// Keys of a recipe's object, in their order.
pub type WrittenKeys = Vec<(&'static str, Node)>;

/// Keys of a container, by their position in its declaration.
#[derive(Debug, Clone, Default)]
pub struct ContainerKeys {
    keys: BTreeMap<usize, (&'static str, Node)>,
}

impl ContainerKeys {
    /// Returns the key of a flag, if it is set.
    pub fn get(&self, flag: &str) -> Option<&Node> {
        let (position, _) = container_key(flag)?;
        self.keys.get(&position).map(|(_, node)| node)
    }

    /// Removes the key of a flag, and returns it.
    pub fn remove(&mut self, flag: &str) -> Option<Node> {
        let (position, _) = container_key(flag)?;
        self.keys.remove(&position).map(|(_, node)| node)
    }

    /// Sets the key of a flag, as its declaration has it: a boolean, one more of a list, or the value in place of an
    /// earlier one.
    pub fn set(&mut self, flag: &'static str, value: &str) -> Result<(), FlagValueError> {
        // A flag of the table that is never read would be lost.
        let (position, key) = container_key(flag).ok_or(FlagValueError::NoKey)?;
        let value = match key.field_type {
            FieldType::Bool | FieldType::Integer(..) | FieldType::Number => plain_node(value),
            _ => text_node(value),
        };
        let (_, node) = self.keys.entry(position).or_insert((key.name, list_node(Vec::new())));
        match &mut node.value {
            Value::List(items) if matches!(key.field_type, FieldType::List(..)) => {
                if items.iter().all(|item| item.text() != value.text()) {
                    items.push(value);
                }
            }
            _ => *node = value,
        }
        Ok(())
    }

    /// Sets one name of the map that is the key of a flag. A later value of a name takes the place of an earlier one, as
    /// Docker has it.
    pub fn set_entry(&mut self, flag: &'static str, name: &str, value: Node) {
        let Some((position, key)) = container_key(flag) else { return };
        let empty = Node::map(Vec::new(), value.span.clone());
        let (_, node) = self.keys.entry(position).or_insert((key.name, empty));
        if let Value::Map(entries) = &mut node.value {
            entries.retain(|entry| entry.key != name);
            entries.extend_from_slice(map_node([(name, value)]).entries());
        }
    }

    /// Removes a variable of the environment.
    pub fn remove_variable(&mut self, name: &str) {
        let env = container_key("env").and_then(|(position, _)| self.keys.get_mut(&position));
        if let Some((_, node)) = env
            && let Value::Map(entries) = &mut node.value
        {
            entries.retain(|entry| entry.key != name);
        }
    }

    /// Returns the keys that have a value.
    pub fn into_keys(self) -> WrittenKeys {
        let is_set = |(_, node): &(&'static str, Node)| {
            !node.entries().is_empty() || node.text().is_some() || !node.items().is_empty()
        };
        self.keys.into_values().filter(is_set).collect()
    }
}

/// Returns the container's key of a flag, and its position in the declaration.
fn container_key(flag: &str) -> Option<(usize, &'static Key)> {
    let name = match flag {
        "device" => "devices".to_owned(),
        "sysctl" => "sysctls".to_owned(),
        "ulimit" => "ulimits".to_owned(),
        "volume" | "mount" => "mounts".to_owned(),
        other => other.replace('-', "_"),
    };
    let mut keys = Container::OBJECT.keys().enumerate();
    keys.find(|(_, key)| key.name == name)
}
