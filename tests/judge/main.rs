//! Verdicts on results that are there: published, copied, damaged, hostile.

mod copies;
mod corpus;
mod corpus_accuracy;
mod corpus_tree;
mod excerpts;
mod hostile;
mod near_published;
mod numbers;
mod own_figures;
mod planted;
mod recipe;
mod serving;
mod training;
mod training_benchmarks;
mod tree;
mod verdict_schema;

#[path = "../support/mod.rs"]
mod support;
