//! Published figures to look up: those of a round's table and those of recipes, as one list. Pure.

mod entry;

pub use entry::{PublishedEntry, of_recipe, of_table, sort_entries};
