//! YAML documents declared as Rust types.
//!
//! ```text
//! text ──parse──▶ tree of nodes ──validate──▶ checked tree ──Field::from_node──▶ the declared type
//! ```
//!
//! [`object!`] and [`words!`] declare a type together with its keys: what each accepts, which are
//! required, their defaults and descriptions. The validation, the reading and the JSON schema derive
//! from that declaration. Every value knows its place, so that all problems of a document are shown
//! at once, each where it was written.
//!
//! ```
//! use retrial_document::{Diagnostics, Source, formats, object, read_document};
//!
//! object! {
//!     /// A host of a cluster.
//!     #[derive(Debug)]
//!     pub struct Host: "a host";
//!     keys {
//!         /// Its name.
//!         name: String [required] = retrial_document::FieldType::Text(formats::LINE),
//!         /// How many GPUs it has.
//!         gpus: u32 [default = "8"],
//!     }
//! }
//!
//! let mut problems = Diagnostics::default();
//! let host: Option<Host> = read_document(&Source::new("host.yaml", "name: n1\n"), &mut problems);
//! assert_eq!(host.map(|host| host.gpus), Some(8));
//!
//! let wrong = Source::new("host.yaml", "nam: n1\n");
//! assert!(read_document::<Host>(&wrong, &mut problems).is_none());
//! assert_eq!(problems.error_count(), 1);
//! assert!(problems.to_string().contains("did you mean `name`?"));
//! ```
//!
//! A language that has more than values implements [`Language`]: expressions that are evaluated
//! while the document is validated, overlays, hints for keys of other tools.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod declare;
mod describe;
mod diagnostic;
mod error_text;
mod field_type;
pub mod formats;
mod key_path;
mod language;
pub mod measures;
mod node;
mod parse;
mod read_source;
pub mod reference;
mod render;
pub mod schema;
mod source;
mod spanned;
mod suggest;
mod text;
mod validate;
mod words;
mod yaml;

pub use declare::{Field, Keys, MapKey, parse_and_validate, read_document};
#[doc(hidden)]
pub use declare::{read_optional, read_required, read_with};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use error_text::ErrorText;
pub use field_type::{
    ByteUnits, FieldType, Key, Object, Scope, Word, declare_key, declare_word, select_keys,
    with_types,
};
pub use formats::{FormatMismatch, StringFormat};
pub use language::{Language, PlainLanguage};
pub use node::{MapEntry, Node, Scalar, Value};
pub use parse::parse_yaml;
pub use source::{MAX_DOCUMENT_BYTES, Source, Span};
pub use spanned::Spanned;
pub use suggest::{did_you_mean, find_nearest, list_choices, suggest_name, suggest_nearest};
pub use text::{escape_harmful, is_harmful};
pub use validate::Validator;
pub use words::UnknownWord;
pub use yaml::{json_to_yaml, quote_scalar, to_yaml};

/// An ordered map, in the order of the file.
pub type OrderedMap<V> = Vec<(String, V)>;
