//! Every outcome, qualifier, precedence and exit code, by table.

mod accuracy;
pub(crate) mod build;
mod claims;
mod comparison;
mod corpus;
mod properties;
mod qualifiers;
mod trials;
mod validity;
