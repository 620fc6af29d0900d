//! Fills in the missing parts of a draft by answers.

use miette::Diagnostic;
use retrial_document::{MapEntry, Node, Value};
use retrial_recipe::writer::{map_node, plain_node, text_node};
use thiserror::Error;

use super::{Draft, MissingPlace};

/// The reason why an answer is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
pub enum AnswerError {
    /// The recipe does not have the param that is set.
    #[error("no param `{name}`")]
    #[diagnostic(help("{}", describe_params(.params)))]
    NoParam { name: String, params: Vec<String> },
    /// A param of type `int` is set to another text.
    #[error("`{value}` is not a whole number")]
    #[diagnostic(help("write only the number, for example 8"))]
    NoWholeNumber { value: String },
    /// A server's port is not a number from 0 to 65535.
    #[error("`{value}` is not a port")]
    #[diagnostic(help("write the number of the server's port, for example 8000"))]
    NoPort { value: String },
    /// The missing part is not one that an answer fills in.
    #[error("this item cannot be filled in here")]
    #[diagnostic(help("write it into the recipe"))]
    NoPlace,
}

fn describe_params(params: &[String]) -> String {
    if params.is_empty() {
        "the command line has no variable that becomes a param".to_owned()
    } else {
        format!("the recipe has {}", params.join(", "))
    }
}

impl Draft {
    /// Fills in a missing part: a param's default, or the port or the command of the guide's server.
    ///
    /// # Errors
    /// The draft has no such part, or the answer is not valid for it.
    pub fn fill_in(&mut self, place: &MissingPlace, answer: &str) -> Result<(), AnswerError> {
        match place {
            MissingPlace::Param(name) => self.set_param(name, answer)?,
            MissingPlace::Service("ready") => {
                let port: u16 =
                    answer.parse().map_err(|_| AnswerError::NoPort { value: answer.to_owned() })?;
                let condition = map_node([("port", plain_node(port.to_string()))]);
                self.set_service_key("ready", condition)?;
            }
            MissingPlace::Service(key) => self.set_service_key(key, text_node(answer))?,
            MissingPlace::Container | MissingPlace::Measurement(_) | MissingPlace::Submission => {
                return Err(AnswerError::NoPlace);
            }
        }
        self.incomplete.retain(|missing| missing.place != *place);
        Ok(())
    }

    fn set_param(&mut self, name: &str, answer: &str) -> Result<(), AnswerError> {
        let params = self.section("params");
        let names = params.iter().flat_map(|node| node.entries());
        let names = names.map(|entry| entry.key.clone()).collect();
        let param = params.and_then(|params| entry_of(params, name));
        let param =
            param.ok_or_else(|| AnswerError::NoParam { name: name.to_owned(), params: names })?;
        let is_number = param.text_at("type") == Some("int");
        if is_number && answer.parse::<u64>().is_err() {
            let value = answer.to_owned();
            return Err(AnswerError::NoWholeNumber { value });
        }
        let default = if is_number { plain_node(answer) } else { text_node(answer) };
        set_entry(param, "default", default);
        Ok(())
    }

    fn set_service_key(&mut self, key: &str, value: Node) -> Result<(), AnswerError> {
        let services = self.section("services").ok_or(AnswerError::NoPlace)?;
        let service = entries_of(services).and_then(|entries| entries.first_mut());
        let service = service.ok_or(AnswerError::NoPlace)?;
        set_entry(&mut service.value, key, value);
        Ok(())
    }

    fn section(&mut self, key: &str) -> Option<&mut Node> {
        let mut keys = self.keys.iter_mut();
        keys.find(|(name, _)| *name == key).map(|(_, node)| node)
    }
}

fn entries_of(node: &mut Node) -> Option<&mut Vec<MapEntry>> {
    match &mut node.value {
        Value::Map(entries) => Some(entries),
        _ => None,
    }
}

fn entry_of<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    let mut entries = entries_of(node)?.iter_mut();
    let entry = entries.find(|entry| entry.key == key)?;
    Some(&mut entry.value)
}

/// Sets a key; a new one is inserted behind the first.
fn set_entry(node: &mut Node, key: &str, value: Node) {
    if let Some(present) = entry_of(node, key) {
        *present = value;
    } else if let Some(entries) = entries_of(node) {
        let position = entries.len().min(1);
        let added = map_node([(key, value)]);
        entries.splice(position..position, added.entries().iter().cloned());
    }
}
