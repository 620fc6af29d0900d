//! Commands of a shell with their places, and the words that the shell makes of them.
//!
//! Only what leaves the shell for the recipe is expanded: the words of the line that starts a container, and the
//! assignments that they use. This module starts nothing, and reads nothing of the machine.

mod blanks;
mod braces;
mod expand;
mod parse;
mod part;
mod script;
mod secret;
mod substitution;
mod values;
mod variables;
mod word;

pub use blanks::{is_ellipsis, mark_placeholders, open_quotes, unmark};
pub use expand::{expand_whole, expand_word};
pub use parse::{
    Assignment, HereDocument, Item, Joined, RawValue, RawWord, Simple, Stage, parse_commands,
};
pub use part::{ParamId, Part, push_part};
pub use script::Renderer;
pub use secret::{is_secret, mask_secrets};
pub use values::{Param, ParamKind, Value, Values};
pub use variables::unset_variables;
pub use word::Word;
