//! Errors of opening a recipe.

use std::io;
use std::path::{Path, PathBuf};

use retrial_recipe::{Diagnostics, nearest};

/// An error of opening a recipe.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// No built-in recipe has this name.
    #[error("there is no built-in recipe `{name}`")]
    Unknown {
        /// The requested name.
        name: String,
        /// A suggestion.
        help: String,
    },
    /// The path does not exist.
    #[error("there is nothing at `{path}`")]
    Missing {
        /// Where.
        path: PathBuf,
    },
    /// A directory without a recipe.
    #[error("the directory `{path}` contains no recipe.yaml")]
    NoRecipe {
        /// Where.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("failed to read `{path}`: {source}")]
    Read {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A companion cannot be written.
    #[error("failed to write the recipe's file `{path}`: {source}")]
    Write {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is not text, or too large.
    #[error("{0}")]
    Text(Diagnostics),
}

impl CatalogError {
    /// Returns how to fix it; empty if the problems contain that.
    pub fn help(&self) -> &str {
        match self {
            Self::Unknown { help, .. } => help,
            Self::Missing { .. } => "check the path, or see `retrial list` for built-in recipes",
            Self::NoRecipe { .. } => "name the recipe's file itself",
            Self::Read { .. } => "check its permissions",
            Self::Write { .. } => "check its permissions and the free disk space",
            Self::Text(_) => "",
        }
    }

    pub(super) fn unknown(name: &str, names: &[String]) -> Self {
        let path = Path::new(name);
        let containing = containing(name, names);
        let help = if path.is_file() || path.join("recipe.yaml").is_file() {
            format!("for the one in this directory, write `./{name}`")
        } else if let Some(near) = similar(name, names) {
            format!("did you mean `{near}`?")
        } else if !containing.is_empty() {
            format!("did you mean one of: {}?", containing.join(", "))
        } else {
            "see `retrial list`; a path begins with `./` or `/`".to_owned()
        };
        Self::Unknown {
            name: name.to_owned(),
            help,
        }
    }
}

/// The names that hold what was typed: `llama2`.
fn containing<'a>(name: &str, names: &'a [String]) -> Vec<&'a str> {
    let lower = name.to_lowercase();
    let matches = |one: &&String| !lower.is_empty() && one.to_lowercase().contains(&lower);
    names.iter().filter(matches).map(String::as_str).collect()
}

/// A name with a slip in it, or the end of one: `llama2-70b-mi355x`.
fn similar<'a>(name: &str, names: &'a [String]) -> Option<&'a str> {
    let last = |full: &'a String| full.rsplit('/').next().unwrap_or(full);
    let ends = names
        .iter()
        .find(|full| full.ends_with(&format!("/{name}")));
    ends.map(String::as_str)
        .or_else(|| nearest(name, names.iter().map(String::as_str)))
        .or_else(|| {
            let near = nearest(name, names.iter().map(last))?;
            names
                .iter()
                .find(|full| last(full) == near)
                .map(String::as_str)
        })
}
