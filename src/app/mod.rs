//! What the commands share: opening recipes, and what the lead of a run needs before it starts.

pub mod catalog;
