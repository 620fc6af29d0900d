//! The words in which the recipe's keys are described. One table (`keys`) of them drives the
//! checker, the JSON schema and the defaults that `show --resolved` prints.

use super::format::Format;

/// What may stand as a value.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Text, in which params and variants may stand; evaluated when the recipe is resolved.
    Text(Format),
    /// Text that the plan renders for each scenario, mode and trial.
    Template(Reach, Format),
    /// A whole number in this range.
    Integer(i64, i64),
    /// A number.
    Number,
    /// A share of one: `5%` or `0.05`.
    Fraction,
    /// `true` or `false`.
    Bool,
    /// Bytes: `500 GiB`, `128G`, `1073741824`.
    Size(Units),
    /// `12h`, `90m`, `1h30m`, `45s`.
    Duration,
    /// One of these words.
    Choice(&'static [Choice]),
    /// Any scalar: the value of a param or of an environment variable.
    Scalar(Reach),
    /// A list of at least so many.
    List(&'static Shape, usize),
    /// Names of the user's choice.
    Map(Format, &'static Shape),
    /// Fixed keys.
    Object(&'static Object),
    /// Whichever fits the kind of value that stands there (scalar, list, map).
    Either(&'static [Shape]),
    /// The top level again, less what only the top level has.
    Overlay,
}

/// What expressions may name at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// `params`, `variant`.
    Recipe,
    /// And `gpus.count`, `models.NAME.commit`.
    Run,
    /// And `scenario`, `mode`, `trial`.
    Measurement,
}

/// What `G` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Units {
    /// `GB` is 10⁹, `G` and `GiB` are 2³⁰.
    Precise,
    /// Docker's: `G`, `GB` and `GiB` are all 2³⁰ (go-units' `RAMInBytes`).
    Docker,
}

/// A word and what it means.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    pub word: &'static str,
    pub doc: &'static str,
}

pub const fn choice(word: &'static str, doc: &'static str) -> Choice {
    Choice { word, doc }
}

/// A map with fixed keys.
#[derive(Debug)]
pub struct Object {
    /// What it is, with its article: `a model`.
    pub what: &'static str,
    /// Its keys, in their order; groups of several maps are shared.
    pub groups: &'static [&'static [Key]],
    /// Exactly one of these keys stands there.
    pub one_of: &'static [&'static str],
}

impl Object {
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }

    /// All keys, in their order.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + Clone {
        self.groups.iter().copied().flatten()
    }
}

/// One key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    pub name: &'static str,
    pub doc: &'static str,
    pub shape: Shape,
    pub required: bool,
    /// What holds where it is absent, as it would be written.
    pub default: Option<&'static str>,
}

pub const fn key(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key {
        name,
        doc,
        shape,
        required: false,
        default: None,
    }
}

impl Key {
    #[must_use]
    pub const fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }

    #[must_use]
    pub const fn default(self, default: &'static str) -> Self {
        Self {
            default: Some(default),
            ..self
        }
    }
}
