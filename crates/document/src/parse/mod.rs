//! YAML text to a tree of [`Node`]s. The only place that knows the YAML library.
//!
//! Built on the event parser beneath serde-saphyr: serde's own way stops at the first problem,
//! and a tree with places is what merging and `show --resolved` need. Aliases are expanded here
//! under a budget, so that an alias bomb ends in one sentence.

mod key;
mod merge;
mod syntax;
mod weight;

use std::collections::HashMap;

use serde_saphyr::granit_parser::{self, Event, Parser, ScalarStyle};

use super::diagnostic::{Diagnostic, Diagnostics};
use super::node::{MapEntry, Node, Value};
use super::source::{MAX_DOCUMENT_BYTES, Source, Span};
use super::text::is_harmful;
use weight::{Weight, node_weight};

/// A document nests about eight levels deep.
const DEPTH_LIMIT: usize = 48;
/// Values after aliases are expanded.
const VALUE_LIMIT: usize = 20_000;
/// Bytes of text after aliases are expanded.
const TEXT_LIMIT: usize = 8 * MAX_DOCUMENT_BYTES;

/// Returns the tree of a YAML text. Problems are added to `problems`; none if the text is not YAML.
pub fn parse_yaml(source: &Source, problems: &mut Diagnostics) -> Option<Node> {
    if source.text.len() > MAX_DOCUMENT_BYTES {
        problems.extend(source.size_limit_problem());
        return None;
    }
    if let Some(at) = source.text.find('\0') {
        problems.error(
            "nul",
            "a NUL byte in the text",
            &source.span(at..at + 1),
            "documents are plain text; this looks like a binary file",
        );
        return None;
    }
    let mut builder = NodeBuilder::new(source);
    let outcome = builder.parse_events();
    problems.extend(builder.problems);
    match outcome {
        Ok(node) => node,
        Err(problem) => {
            problems.push(*problem);
            None
        }
    }
}

/// Returns an error that ends the parsing.
fn fatal_problem<T>(
    code: &'static str,
    message: impl Into<String>,
    span: Span,
    help: &str,
) -> Result<T, Box<Diagnostic>> {
    Err(Box::new(Diagnostic::error(code, message, span).with_help(help)))
}

/// A list or map whose end has not been parsed yet.
struct Frame {
    span: Span,
    anchor: usize,
    kind: FrameKind,
}

enum FrameKind {
    List(Vec<Node>),
    Map {
        entries: Vec<MapEntry>,
        /// A key that waits for its value.
        key: Option<(String, Span, bool)>,
        /// Values of `<<`, with their positions among the entries.
        merges: Vec<(usize, Node)>,
        /// The position of each key among the entries.
        positions: HashMap<String, usize>,
    },
}

struct NodeBuilder<'a> {
    source: &'a Source,
    problems: Diagnostics,
    stack: Vec<Frame>,
    anchors: HashMap<usize, (Node, Weight)>,
    weight: Weight,
    root: Option<Node>,
    documents: usize,
}

impl<'a> NodeBuilder<'a> {
    fn new(source: &'a Source) -> Self {
        Self {
            source,
            problems: Diagnostics::default(),
            stack: Vec::new(),
            anchors: HashMap::new(),
            weight: Weight::default(),
            root: None,
            documents: 0,
        }
    }

    fn parse_events(&mut self) -> Result<Option<Node>, Box<Diagnostic>> {
        let options = granit_parser::options! {
            emit_comments: false,
            emit_unresolved_aliases: true,
            flow_nesting_limit: DEPTH_LIMIT,
            block_nesting_limit: DEPTH_LIMIT,
        };
        let source = self.source;
        for next in Parser::new_from_str_with_options(&source.text, options) {
            let (event, span) =
                next.map_err(|error| Box::new(syntax::describe_syntax_error(source, &error)))?;
            let span = self.to_span(span);
            self.add_event(event, span)?;
        }
        if self.root.is_none() {
            let start = source.span(0..0);
            let help = "write `key: value`, one key per line";
            return fatal_problem("empty", "this file is empty", start, help);
        }
        Ok(self.root.take())
    }

    fn to_span(&self, span: granit_parser::Span) -> Span {
        let range = span.byte_range().unwrap_or(0..0);
        self.source.span(range)
    }

    fn add_event(&mut self, event: Event<'_>, span: Span) -> Result<(), Box<Diagnostic>> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let help = "write one document per file, without `---` between";
                    return fatal_problem(
                        "second-document",
                        "a second document in one file",
                        span,
                        help,
                    );
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let tagged_text = Self::is_text_tag(tag.as_deref(), &span)?;
                let plain = style == ScalarStyle::Plain && !tagged_text;
                self.spend_budget(1, text.len(), &span)?;
                if text.contains('\0') {
                    let problem = Diagnostic::error("nul", "a NUL byte in the text", span);
                    return Err(Box::new(problem));
                }
                // Users approve the output of `show` and `plan`: nothing may hide a line of it.
                if let Some(character) = text.chars().find(|&c| c != '\n' && is_harmful(c)) {
                    let message =
                        format!("a control character, U+{:04X}, in the text", u32::from(character));
                    self.problems.error("control", message, &span, r"documents are plain text; a pattern matches it as `\x1b`, a command prints it by `printf '\033'`");
                }
                let null = plain && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                // An absent value has no length; the text before it is shown in its place.
                let node = if null && !self.expects_key() {
                    Node::null(span)
                } else {
                    Node::scalar(text.into_owned(), plain, span)
                };
                self.add_node(node, anchor)
            }
            Event::Alias(id) => self.expand_alias(id, span),
            Event::UnresolvedAlias(name) => {
                let message = format!("unknown anchor `&{name}`");
                let help =
                    "an alias repeats the value of an anchor above it; for a plain `*`, use quotes";
                self.problems.error("alias", message, &span, help);
                let node = if self.expects_key() {
                    Node::scalar(name, false, span)
                } else {
                    Node {
                        // Reported above; a plain null would be reported again.
                        value: Value::Removed,
                        span,
                    }
                };
                self.add_node(node, 0)
            }
            Event::SequenceStart(_, anchor, tag) => {
                Self::is_text_tag(tag.as_deref(), &span)?;
                self.open_collection(FrameKind::List(Vec::new()), anchor, span)
            }
            Event::MappingStart(_, anchor, tag) => {
                Self::is_text_tag(tag.as_deref(), &span)?;
                let kind = FrameKind::Map {
                    entries: Vec::new(),
                    key: None,
                    merges: Vec::new(),
                    positions: HashMap::new(),
                };
                self.open_collection(kind, anchor, span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close_collection(&span),
            _ => Ok(()),
        }
    }

    /// Returns whether a tag means "this is text". All other tags are types that documents do not have.
    fn is_text_tag(tag: Option<&granit_parser::Tag>, span: &Span) -> Result<bool, Box<Diagnostic>> {
        let Some(tag) = tag else { return Ok(false) };
        match tag.core_suffix() {
            Some("str") => Ok(true),
            Some(_) => Ok(false),
            None => {
                let message = format!("unknown tag `{}`", tag.original());
                let help = "documents have no tags; write the value itself";
                fatal_problem("tag", message, span.clone(), help)
            }
        }
    }

    fn expects_key(&self) -> bool {
        let frame = self.stack.last();
        frame.is_some_and(|frame| matches!(frame.kind, FrameKind::Map { key: None, .. }))
    }

    fn open_collection(
        &mut self,
        kind: FrameKind,
        anchor: usize,
        span: Span,
    ) -> Result<(), Box<Diagnostic>> {
        self.spend_budget(1, 0, &span)?;
        if self.expects_key() {
            let help = "an expression that begins a value needs quotes: \"${{ … }}\"";
            return fatal_problem(
                "key",
                "a key must be plain text, not a list or a map",
                span,
                help,
            );
        }
        if self.stack.len() >= DEPTH_LIMIT {
            return Err(Box::new(too_deep_problem(span)));
        }
        self.stack.push(Frame { span, anchor, kind });
        Ok(())
    }

    fn close_collection(&mut self, end: &Span) -> Result<(), Box<Diagnostic>> {
        let Some(frame) = self.stack.pop() else {
            return Ok(());
        };
        let span = self.source.span(frame.span.start..end.end.max(frame.span.end));
        let value = match frame.kind {
            FrameKind::List(items) => Value::List(items),
            FrameKind::Map { entries, merges, .. } => {
                Value::Map(merge::apply_merge_keys(entries, merges, &mut self.problems))
            }
        };
        self.add_node(Node { value, span }, frame.anchor)
    }

    fn expand_alias(&mut self, id: usize, span: Span) -> Result<(), Box<Diagnostic>> {
        let Some((node, weight)) = self.anchors.get(&id).cloned() else {
            return Err(Box::new(Diagnostic::error(
                "alias",
                format!("`{}` is inside its own anchor", span.slice()),
                span,
            )));
        };
        if self.expects_key() {
            return self.add_node(Node { span, ..node }, 0);
        }
        if self.stack.len() + weight.depth > DEPTH_LIMIT {
            return Err(Box::new(too_deep_problem(span)));
        }
        self.spend_budget(weight.values, weight.bytes, &span)?;
        self.add_node(node, 0)
    }

    fn spend_budget(
        &mut self,
        values: usize,
        bytes: usize,
        span: &Span,
    ) -> Result<(), Box<Diagnostic>> {
        self.weight.values = self.weight.values.saturating_add(values);
        self.weight.bytes = self.weight.bytes.saturating_add(bytes);
        if self.weight.values > VALUE_LIMIT || self.weight.bytes > TEXT_LIMIT {
            let text = TEXT_LIMIT >> 20;
            let message =
                format!("more than {VALUE_LIMIT} values or {text} MiB of text, aliases expanded");
            let help = "aliases that name aliases multiply; write out what is meant";
            return fatal_problem("too-many-values", message, span.clone(), help);
        }
        Ok(())
    }

    /// Adds a complete value: as a key, a value, an item or the root.
    fn add_node(&mut self, mut node: Node, anchor: usize) -> Result<(), Box<Diagnostic>> {
        if anchor != 0 {
            let weight = node_weight(&node);
            self.anchors.insert(anchor, (node.clone(), weight));
        }
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut frame.kind {
            FrameKind::List(items) => items.push(node),
            FrameKind::Map { entries, key, merges, positions: places } => match key.take() {
                None => *key = Some(key::read_key(node)?),
                Some((name, _, true)) if name == "<<" => merges.push((entries.len(), node)),
                Some((name, span, _)) => {
                    if key::lacks_colon(&span, &node) {
                        node.value = Value::Removed;
                        self.problems.error(
                            "no-colon",
                            format!("`{name}` has no `:`"),
                            &span,
                            "a comma in `{ … }` separates keys: write numbers with a point, and text with a comma in quotes",
                        );
                    }
                    let (name, append) = match name.strip_suffix('+') {
                        Some(stem) if !stem.is_empty() => (stem.to_owned(), true),
                        _ => (name, false),
                    };
                    if let Some(&first) = places.get(&name) {
                        let (line, _) = entries[first].key_span.line_and_column();
                        self.problems.error(
                            "duplicate-key",
                            format!("duplicate key `{name}`"),
                            &span,
                            format!("the first is on line {line}; keep one"),
                        );
                    } else {
                        places.insert(name.clone(), entries.len());
                        entries.push(MapEntry { key: name, key_span: span, append, value: node });
                    }
                }
            },
        }
        Ok(())
    }
}

fn too_deep_problem(span: Span) -> Diagnostic {
    Diagnostic::error("too-deep", format!("nested more than {DEPTH_LIMIT} levels deep"), span)
        .with_help("no document needs that; is a bracket or an indentation missing?")
}
