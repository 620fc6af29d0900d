//! Charts: what they show ([`Chart`]), made from verdicts, telemetry and comparisons. Formats draw
//! them: as SVG, or small in a terminal.
//!
//! Bars begin at zero. Where another axis does not, it says so. What is measured and what was
//! published differ in colour (Okabe and Ito's palette), in pattern and in words.

mod of_batch;
mod of_comparison;
mod of_telemetry;
mod of_verdict;
mod scale;

pub use of_batch::of_batch;
pub use of_comparison::of_comparison;
pub use of_telemetry::of_telemetry;
pub use of_verdict::of_result;
pub(super) use scale::Scale;

/// A picture of figures.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What is shown: `Offline performance: tokens_per_second`.
    pub title: String,
    /// A short name for its file: letters, digits, `-`.
    pub name: String,
    /// What it shows, for readers who do not see it.
    pub description: String,
    /// How.
    pub kind: Kind,
}

/// The kinds of charts.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Figures of one unit, from zero.
    Bars(Bars),
    /// Ratios around 1, with their intervals.
    Ratios(Ratios),
    /// Figures over something: releases, percentiles, time.
    Lines(Lines),
}

/// Figures of one unit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bars {
    /// Their unit.
    pub unit: String,
    /// The bars, from top to bottom.
    pub bars: Vec<Bar>,
    /// A value that all are held against, and what it is.
    pub mark: Option<(f64, String)>,
    /// What the whiskers are: `95 % confidence`.
    pub whiskers: String,
}

/// One bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What it is.
    pub label: String,
    /// Its value.
    pub value: f64,
    /// The interval of the value.
    pub interval: Option<(f64, f64)>,
    /// The trials that it is made of, where there are several.
    pub trials: Vec<f64>,
    /// Measured by us, or not.
    pub origin: Origin,
}

/// Whose figure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Measured here.
    Measured,
    /// Published, and compared with.
    Published,
    /// Published by others.
    Other,
}

/// Ratios around 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ratios {
    /// What 1 is: `what was published`.
    pub of: String,
    /// The rows, from top to bottom.
    pub rows: Vec<Ratio>,
    /// What the whiskers are.
    pub whiskers: String,
}

/// One ratio.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratio {
    /// What it is of.
    pub label: String,
    /// Above 1 is better.
    pub value: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// The least that is asked for.
    pub least: Option<f64>,
    /// A word beside the number: `reproduced`, `faster`.
    pub word: String,
    /// Whether that word is bad news.
    pub bad: bool,
}

/// Figures over something.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lines {
    /// What lies along the axis: `percentile`, `seconds since the run began`.
    pub over: String,
    /// Names of the places along the axis; empty: the points' own numbers count.
    pub places: Vec<String>,
    /// The unit of the values.
    pub unit: String,
    /// Whether the axis begins at zero.
    pub from_zero: bool,
    /// The lines.
    pub series: Vec<Series>,
    /// Values that lines are held against, and what they are.
    pub marks: Vec<(f64, String)>,
    /// Stretches of the axis that are marked: steps that measured.
    pub stretches: Vec<(f64, f64)>,
}

/// One line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// What it is.
    pub name: String,
    /// Its points; a gap is a point that is none.
    pub points: Vec<(f64, Option<f64>)>,
    /// Around the line: lowest and highest at each of its points.
    pub band: Vec<(f64, f64)>,
    /// Single measurements are marked, not only joined.
    pub marked: bool,
}

/// Letters, digits and `-` of a text: a file's name.
pub(super) fn file_name(text: &str) -> String {
    let mut name = String::new();
    for letter in text.chars().flat_map(char::to_lowercase) {
        if letter.is_ascii_alphanumeric() {
            name.push(letter);
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    let name: String = name.trim_matches('-').chars().take(80).collect();
    if name.is_empty() {
        "chart".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests;
