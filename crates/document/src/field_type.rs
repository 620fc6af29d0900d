//! The field types of documents' keys: the declarations behind validation, schema and defaults.

use super::formats::StringFormat;

/// The values that a key accepts.
#[derive(Debug, Clone, Copy)]
pub enum FieldType {
    /// Text. Expressions in it are evaluated when the document is validated.
    Text(StringFormat),
    /// Text whose expressions are evaluated later.
    Template(Scope, StringFormat),
    /// A whole number in this range.
    Integer(i64, i64),
    /// A number with an optional fraction, finite: `103480`, `0.5`.
    Number,
    /// A share of one: `5%` or `0.05`.
    Fraction,
    /// A boolean: `true` or `false`.
    Bool,
    /// Bytes: `500 GiB`, `128G`, `1073741824`.
    Size(ByteUnits),
    /// `12h`, `90m`, `1h30m`, `45s`.
    Duration,
    Words(&'static [Word]),
    /// Text, a number or a boolean.
    Scalar(Scope),
    /// A list with a minimum number of items.
    List(&'static FieldType, usize),
    /// A map with names of the user's choice.
    Map(StringFormat, &'static FieldType),
    /// A map with fixed keys.
    Object(&'static Object),
    /// The first that fits the kind of the value (scalar, list, map).
    Either(&'static [FieldType]),
    /// A part of the document that is merged over it; the language checks it.
    Overlay,
}

impl FieldType {
    /// Visits the maps of fixed keys that a value of this type is or holds, but not those below them.
    pub fn visit_objects(&self, visit: &mut dyn FnMut(&'static Object)) {
        match self {
            Self::Object(object) => visit(object),
            Self::Either(types) => {
                for alternative in *types {
                    alternative.visit_objects(visit);
                }
            }
            Self::List(of, _) | Self::Map(_, of) => of.visit_objects(visit),
            _ => {}
        }
    }

    /// Returns the words that the value may be, or those that the items of the list may be.
    pub fn accepted_words(&self) -> &'static [Word] {
        match self {
            Self::Words(words) => words,
            Self::List(of, _) => of.accepted_words(),
            _ => &[],
        }
    }
}

/// When the expressions of a text are evaluated, and with that the names that they may use: a later scope
/// has all names of the earlier ones. The language defines the scopes after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scope(pub u8);

impl Scope {
    /// When the document is validated.
    pub const DOCUMENT: Self = Self(0);
}

/// Selects whether `GB` counts in powers of 1000 or of 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteUnits {
    /// `GB` is 10⁹, `G` and `GiB` are 2³⁰.
    Precise,
    /// Docker's: `G`, `GB` and `GiB` are all 2³⁰ (go-units' `RAMInBytes`).
    Docker,
}

/// A word of an enum, with its meaning.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// The word in the document: `last`.
    pub name: &'static str,
    /// The meaning of the word, in Markdown, for documentation and editors.
    pub doc: &'static str,
}

/// Declares a word of an enum and its meaning.
pub const fn declare_word(name: &'static str, doc: &'static str) -> Word {
    Word { name, doc }
}

/// A map with fixed keys.
#[derive(Debug)]
pub struct Object {
    /// Its noun, with the article: `a model`.
    pub label: &'static str,
    /// Its keys, in their order; groups of several maps are shared.
    pub groups: &'static [&'static [Key]],
    /// Exactly one of these keys must be present; no such rule if empty.
    pub one_of: &'static [&'static str],
}

impl Object {
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }

    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + Clone {
        self.groups.iter().copied().flatten()
    }

    /// Returns the noun without the article: `setup step`.
    pub fn noun(&self) -> &'static str {
        let articles = ["a ", "an ", "the "];
        let bare = articles.iter().find_map(|article| self.label.strip_prefix(article));
        bare.unwrap_or(self.label)
    }

    /// Returns the name of its definition in a schema: `setup-step`.
    pub fn definition_name(&self) -> String {
        self.noun().replace([' ', '\''], "-")
    }
}

/// The declaration of one key: its name, type, default and description.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The name in the document: `shm_size`.
    pub name: &'static str,
    /// The purpose of the key, in Markdown; shown when the key is missing.
    pub doc: &'static str,
    /// The values that it accepts.
    pub field_type: FieldType,
    /// The key must be present in each document.
    pub required: bool,
    /// The value of an absent key, as it would be written.
    pub default: Option<&'static str>,
}

/// Declares an optional key without a default.
pub const fn declare_key(name: &'static str, field_type: FieldType, doc: &'static str) -> Key {
    Key { name, doc, field_type, required: false, default: None }
}

impl Key {
    #[must_use]
    pub const fn required(self) -> Self {
        Self { required: true, ..self }
    }
}

/// Returns those of some keys that have these names, for a group of keys that is a part of another. A name that
/// none has does not compile.
pub const fn select_keys<const N: usize>(keys: &[Key], names: [&str; N]) -> [Key; N] {
    let mut selected = [keys[0]; N];
    let mut at = 0;
    while at < N {
        selected[at] = keys[find_key(keys, names[at])];
        at += 1;
    }
    selected
}

/// Returns keys of which some, by their names, accept other values. A name that none has does not compile.
pub const fn with_types<const N: usize>(keys: &[Key], types: &[(&str, FieldType)]) -> [Key; N] {
    let mut changed = [keys[0]; N];
    changed.copy_from_slice(keys);
    let mut at = 0;
    while at < types.len() {
        changed[find_key(keys, types[at].0)].field_type = types[at].1;
        at += 1;
    }
    changed
}

const fn find_key(keys: &[Key], name: &str) -> usize {
    let mut at = 0;
    while !is_same(keys[at].name.as_bytes(), name.as_bytes()) {
        at += 1;
    }
    at
}

/// `==` of strings is not const.
const fn is_same(one: &[u8], other: &[u8]) -> bool {
    match (one, other) {
        ([], []) => true,
        ([first, rest @ ..], [other_first, other_rest @ ..]) => {
            *first == *other_first && is_same(rest, other_rest)
        }
        _ => false,
    }
}
