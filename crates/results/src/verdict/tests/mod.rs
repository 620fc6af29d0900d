//! Every outcome, qualifier, precedence and exit code, by table.

pub mod build;

#[cfg(test)]
mod accuracy;
#[cfg(test)]
mod claims;
#[cfg(test)]
mod comparison;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod execution;
#[cfg(test)]
mod figure_claims;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod qualifiers;
#[cfg(test)]
mod several_figures;
#[cfg(test)]
mod trials;
#[cfg(test)]
mod validity;
