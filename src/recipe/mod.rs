//! From a recipe's text to a checked recipe. Pure: texts come from the catalog.

pub mod model;
