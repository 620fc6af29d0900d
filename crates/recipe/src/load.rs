//! Merges a recipe's text over the templates that it extends.

use super::TemplateSource;
use super::keys::SCHEMA_VERSION;
use super::merge::merge_trees;
use retrial_document::{Diagnostics, Node, Source, Span, Value, did_you_mean, parse_yaml};

/// Returns the merged tree, still symbolic; none if the text is not a recipe.
pub fn load_merged(
    source: &Source,
    templates: &dyn TemplateSource,
    problems: &mut Diagnostics,
) -> Option<Node> {
    let mut loader = Loader { templates, problems, open_templates: Vec::new() };
    loader.load_file(source, None)
}

/// Returns the recipe that a file extends, by its whole name; none if it extends templates only.
pub fn find_base(source: &Source, templates: &dyn TemplateSource) -> Option<(String, Source)> {
    let node = parse_yaml(source, &mut Diagnostics::default())?;
    let names = extended_templates(&node).into_iter();
    // A template shadows a recipe.
    let mut recipes = names.filter(|(name, _)| matches!(templates.read_template(name), Ok(None)));
    recipes.find_map(|(name, _)| templates.find_base(&name))
}

struct Loader<'a> {
    templates: &'a dyn TemplateSource,
    problems: &'a mut Diagnostics,
    /// The templates that are being loaded, outermost first.
    open_templates: Vec<String>,
}

/// Templates that extend templates that extend templates: deeper is a mistake.
const MAX_TEMPLATE_DEPTH: usize = 16;

impl Loader<'_> {
    fn load_file(&mut self, source: &Source, name: Option<&str>) -> Option<Node> {
        let mut problems = Diagnostics::default();
        let node = parse_yaml(source, &mut problems);
        for problem in problems {
            self.problems.push(match problem.code {
                "empty" => problem.with_help("`retrial new NAME` writes a recipe to start from"),
                _ => problem,
            });
        }
        let node = node?;
        if !matches!(node.value, Value::Map(_)) {
            let message = format!("a recipe must be a map, not {}", node.kind());
            self.problems.error(
                "wrong-type",
                message,
                &node.span,
                "begin with `schema: 1`; `retrial new NAME` writes a recipe to start from",
            );
            return None;
        }
        if !self.supports_schema(&node) {
            return None;
        }
        let mut base = Node::map(Vec::new(), node.span.clone());
        if let Some(name) = name {
            self.open_templates.push(name.to_owned());
        }
        let mut base_recipe = None;
        for (template, span) in extended_templates(&node) {
            let found = self.load_base(&template, &span, name);
            if let Some((full_name, _)) = &found {
                let before = base_recipe.replace((full_name.clone(), template.clone()));
                if before.is_some() {
                    let message = "a recipe extends one recipe";
                    let help = "extend one of them, and write here what differs";
                    self.problems.error("wrong-base", message, &span, help);
                }
            }
            let below = match found {
                Some((_, base)) => base,
                None => self.load_template(&template, &span),
            };
            if let Some(below) = below {
                base = merge_trees(base, below, self.problems);
            }
        }
        if name.is_some() {
            self.open_templates.pop();
        }
        let base_entry =
            base_recipe.map(|(recipe, written)| describe_base(&recipe, &written, &node));
        let mut merged = merge_trees(base, node, self.problems);
        if let Value::Map(entries) = &mut merged.value {
            // `extends` is resolved; a template's description of itself does not apply to the recipe.
            entries.retain(|entry| match entry.key.as_str() {
                "extends" => is_wrong_extends(&entry.value),
                "title" | "description" => name.is_none(),
                _ => true,
            });
        }
        if let Some(base) = base_entry {
            merged.set_key("base", base);
        }
        Some(merged)
    }

    /// Returns whether this version of retrial supports the file's schema.
    fn supports_schema(&mut self, node: &Node) -> bool {
        // What is missing or no number is reported where the keys are checked.
        let Some(Node { value: Value::Scalar(scalar), span }) = node.get("schema") else {
            return true;
        };
        let Some(number) = scalar.as_integer().filter(|number| *number > SCHEMA_VERSION) else {
            return true;
        };
        let message = format!(
            "this recipe requires schema {number}; this version of retrial supports {SCHEMA_VERSION}"
        );
        self.problems.error("future-schema", message, span, "update retrial");
        false
    }

    /// Loads a recipe that `extender`, or the recipe itself, extends; none if no recipe has this name.
    fn load_base(
        &mut self,
        name: &str,
        span: &Span,
        extender: Option<&str>,
    ) -> Option<(String, Option<Node>)> {
        // A template shadows a recipe.
        if !matches!(self.templates.read_template(name), Ok(None)) {
            return None;
        }
        let (full_name, source) = self.templates.find_base(name)?;
        if extender.is_some() {
            let message = format!("a template cannot extend the recipe `{full_name}`");
            let help = "extend it in the recipe";
            self.problems.error("wrong-base", message, span, help);
            return Some((full_name, None));
        }
        let node = self.load_file(&source, Some(&full_name));
        Some((full_name, node))
    }

    fn load_template(&mut self, name: &str, span: &Span) -> Option<Node> {
        if let Some(at) = self.open_templates.iter().position(|outer| outer == name) {
            let mut circle = self.open_templates[at..].to_vec();
            circle.push(name.to_owned());
            let message = format!("templates extend each other in a cycle: {}", circle.join(" → "));
            self.problems.error("circle", message, span, "remove one `extends`");
            return None;
        }
        if self.open_templates.len() >= MAX_TEMPLATE_DEPTH {
            let message =
                format!("templates extend each other more than {MAX_TEMPLATE_DEPTH} levels deep");
            self.problems.error("circle", message, span, "combine them");
            return None;
        }
        let source = match self.templates.read_template(name) {
            Ok(source) => source,
            Err(error) => {
                let message = format!("cannot read template `{name}`: {error}");
                let help =
                    "fix the file, or remove it to use the built-in template, if there is one";
                self.problems.error("unreadable-template", message, span, help);
                return None;
            }
        };
        let Some(source) = source else {
            let names = self.templates.template_names();
            // Templates have names; people write paths.
            let bare = name.rsplit('/').next().unwrap_or(name).trim_end_matches(".yaml");
            let help = did_you_mean(bare, names.iter().map(String::as_str), "templates");
            let message = format!("no such template: `{name}`");
            self.problems.error("missing-template", message, span, help);
            return None;
        };
        self.load_file(&source, Some(name))
    }
}

fn extended_templates(node: &Node) -> Vec<(String, Span)> {
    let names = node.get("extends").map_or(&[][..], Node::one_or_items);
    let name = |name: &Node| Some((name.text()?.to_owned(), name.span.clone()));
    names.iter().filter_map(name).collect()
}

/// Returns the key `base` of a file that extends a recipe, which it names as `written`: the keys of that recipe that it
/// changes.
fn describe_base(recipe: &str, written: &str, file: &Node) -> Node {
    let span = file.get("extends").map_or(&file.span, |extends| &extends.span);
    let own = file.entries().iter().map(|entry| entry.key.as_str());
    let is_description = |key: &&str| ["schema", "extends", "title", "description"].contains(key);
    let changes = own.filter(|key| !is_description(key)).map(str::to_owned);
    let others = extended_templates(file).into_iter().map(|(name, _)| name);
    let others = others.filter(|name| name != written);
    let scalar = |text: &str| Node::scalar(text, false, span.clone());
    let changes = others.chain(changes).map(|name| scalar(&name)).collect();
    let mut base = Node::map(Vec::new(), span.clone());
    base.set_key("recipe", scalar(recipe));
    base.set_key("changes", Node::list(changes, span.clone()));
    base
}

/// Returns whether `extends` is malformed: then it is kept in the tree, so that the checks report it.
fn is_wrong_extends(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => scalar.text.trim().is_empty(),
        Value::List(items) => items.iter().any(|item| !matches!(item.value, Value::Scalar(_))),
        Value::Map(_) => true,
        Value::Null | Value::Removed => false,
    }
}
