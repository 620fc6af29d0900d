//! Errors of opening a recipe.

use std::io;
use std::path::{Path, PathBuf};

use super::short_name;
use retrial_document::{find_nearest, list_choices, suggest_name};
use retrial_recipe::Diagnostics;

/// An error of opening a recipe.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum CatalogError {
    /// No built-in recipe has this name.
    #[error("there is no built-in recipe{} `{name}`", if *is_file_name { ", and no file" } else { "" })]
    Unknown {
        /// The name on the command line.
        name: String,
        /// Whether the name looks like a file name, and no such file exists.
        is_file_name: bool,
        /// Similar names, or where to find the names.
        #[help]
        help: Option<String>,
    },
    /// Several built-in recipes have this name.
    #[error("`{name}` is the name of {} recipes", choices.len())]
    #[diagnostic(help("{}", list_choices(choices)))]
    Ambiguous {
        /// The name on the command line.
        name: String,
        /// The shortest name of each recipe.
        choices: Vec<String>,
    },
    /// The path does not exist.
    #[error("no such file or directory: `{path}`")]
    #[diagnostic(help("{}", suggest_path(near.as_deref())))]
    Missing {
        /// The path on the command line.
        path: PathBuf,
        /// A file or directory with a similar name in its place.
        near: Option<PathBuf>,
    },
    /// A directory without a recipe.
    #[error("the directory `{path}` contains no recipe.yaml")]
    #[diagnostic(help("name the recipe's file itself"))]
    NoRecipe {
        /// The directory on the command line.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("failed to read `{path}`: {source}")]
    #[diagnostic(help("check its permissions"))]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// A companion cannot be written.
    #[error("failed to write the recipe's file `{path}`: {source}")]
    #[diagnostic(help("check its permissions and the free disk space"))]
    Write {
        /// The file that was to be written.
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The file is not text, or too large.
    #[error("{0}")]
    Text(Diagnostics),
}

impl CatalogError {
    pub(super) fn unknown_recipe(name: &str, names: &[String]) -> Self {
        let matching = short_name::find_matching(name, names);
        if !matching.is_empty() {
            let shortened = matching.iter().map(|full| short_name::shorten(full, names));
            return Self::Ambiguous { name: name.to_owned(), choices: shortened.collect() };
        }
        let path = Path::new(name);
        let with_extension = path.with_added_extension("yaml");
        let help = if path.is_file() || path.join("recipe.yaml").is_file() {
            format!("for the one in this directory, write `./{name}`")
        } else if with_extension.is_file() {
            format!("for the one in this directory, write `{}`", with_extension.display())
        } else {
            match similar_names(name, names)[..] {
                [] => "see `retrial list`; recipes and batches are files that end with `.yaml`, or whose path begins with `./` or `/`"
                    .to_owned(),
                [one] => suggest_name(one),
                ref several => list_choices(several),
            }
        };
        let extension = path.extension().and_then(|extension| extension.to_str());
        let has_extension = extension.is_some_and(|extension| {
            extension.len() <= 4 && extension.chars().all(|letter| letter.is_ascii_alphabetic())
        });
        Self::Unknown {
            name: name.to_owned(),
            is_file_name: has_extension && !path.exists(),
            help: Some(help),
        }
    }
}

/// Returns names that may have been meant: those with a typing error, else those that contain it (`llama2`).
fn similar_names<'a>(name: &str, names: &'a [String]) -> Vec<&'a str> {
    let matching = |is_match: &dyn Fn(&str) -> bool| -> Vec<&'a str> {
        names.iter().map(String::as_str).filter(|full| is_match(full)).collect()
    };
    let last = |full: &'a str| full.rsplit('/').next().unwrap_or(full);
    let near = find_nearest(name, names.iter().map(String::as_str))
        .or_else(|| find_nearest(name, names.iter().map(|full| last(full))));
    if let Some(near) = near {
        return matching(&|full| full == near || full.ends_with(&format!("/{near}")));
    }
    let lower = name.to_lowercase();
    matching(&|full| !lower.is_empty() && full.to_lowercase().contains(&lower))
}

/// Suggests the path that is probably meant.
fn suggest_path(near: Option<&Path>) -> String {
    match near {
        Some(near) => suggest_name(near.display()),
        None => "check the path, or see `retrial list` for built-in recipes".to_owned(),
    }
}
