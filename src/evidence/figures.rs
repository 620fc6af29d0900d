//! A recipe's own figures: patterns over a step's output or a file of its results.

use std::path::{Path, PathBuf};

use super::scan;
use crate::logs::Figure;
use crate::logs::pattern::Pattern;
use crate::recipe::model::{FigureSource, Find};
use crate::store::open;
use crate::verdict::FigureValue;

/// A text that figures are looked for in: beneath a directory.
#[derive(Debug, Clone)]
pub struct Text {
    /// The directory.
    pub directory: PathBuf,
    /// The file beneath it.
    pub file: PathBuf,
}

/// Finds a figure in the first of the texts that has it.
///
/// # Errors
/// A sentence: why there is none.
pub fn find(source: &FigureSource, texts: &[Text]) -> Result<FigureValue, String> {
    let expression = match &source.find {
        Find::Pattern(expression) => expression,
        Find::Json { .. } | Find::Csv { .. } | Find::Mllog { .. } => {
            return Err(
                "figures from JSON, CSV and MLLOG come with a later release: use `pattern`"
                    .to_owned(),
            );
        }
    };
    let unit = source.unit.clone().unwrap_or_default();
    let pattern = Pattern::new(expression, source.take, unit).map_err(|error| error.to_string())?;
    let mut because = "there is no output to look in".to_owned();
    for text in texts {
        match look_in(&pattern, text) {
            Ok(value) => return Ok(value),
            Err(error) => because = error,
        }
    }
    Err(because)
}

fn look_in(pattern: &Pattern, text: &Text) -> Result<FigureValue, String> {
    let file =
        open::open_beneath(&text.directory, &text.file).map_err(|error| error.to_string())?;
    let taken = scan::file(pattern, &file)
        .map_err(|error| format!("{}: {error}", text.file.display()))?
        .finish()
        .map_err(|error| error.to_string())?;
    let first = taken.figures.first().ok_or("no line matches")?;
    let differs = |other: &Figure| {
        let apart = (other.value - first.value).abs();
        // 1 and 2 cannot be one value, printed twice.
        apart > 0.0 && apart >= other.half_digit + first.half_digit
    };
    if taken.figures.iter().any(differs) {
        return Err(format!(
            "{} lines match with different values: say which with `take:`",
            taken.matches
        ));
    }
    Ok(FigureValue::new(first.value, first.unit.clone()))
}

/// The output of a step, below a run's directory.
#[must_use]
pub fn output_of(run: &Path, step_directory: &str) -> Text {
    Text {
        directory: run.to_owned(),
        file: Path::new("steps").join(step_directory).join("output.log"),
    }
}
