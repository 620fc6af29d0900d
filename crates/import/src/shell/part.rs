//! The parts of words, of which some are not known before the recipe is run.

/// The number of a parameter of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ParamId(pub usize);

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    Text(String),
    /// A parameter of the recipe: a variable, or what the reader fills in.
    Param(ParamId),
    /// The variable of a secret.
    Secret(String),
    /// The directory of the guide, which is that of the recipe.
    Here,
    /// The home directory.
    Home,
    /// Text that only a shell can compute.
    Problem(Problem),
}

/// Why a part cannot be in a recipe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub message: String,
    pub help: &'static str,
}

/// Appends a part; texts in a row are one.
pub fn push_part(parts: &mut Vec<Part>, part: Part) {
    match (parts.last_mut(), part) {
        (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
        (_, Part::Text(text)) if text.is_empty() => {}
        (_, part) => parts.push(part),
    }
}

/// Returns a part that only a shell can compute.
pub fn only_shell(written: &str) -> Part {
    Part::Problem(Problem {
        message: format!("`{written}`: only a shell can compute it"),
        help: "write the value that it has",
    })
}
