//! `retrial new`: the figures that the command line states, `--figure`, `--expect`, `--source` and `--measure`.

use retrial_recipe::docker_run::MeasuredFigures;

use super::arguments::NewArguments;
use crate::app::failure::Failure;

/// The value of `--expect` where nothing was published.
const NOTHING_PUBLISHED: &str = "none";

/// Reads the options.
///
/// # Errors
/// One is no pair, a value is no number, or a published figure is not read.
pub fn read_figures(arguments: &NewArguments) -> Result<MeasuredFigures, Failure> {
    let figures = arguments.figures.iter();
    let figures: Vec<_> = figures
        .map(|text| split_pair("figure", text, "'speed: ${number}'"))
        .collect::<Result<_, _>>()?;
    let is_only_measured = arguments.expected == [NOTHING_PUBLISHED];
    let expected = arguments.expected.iter().filter(|_| !is_only_measured);
    let expected: Vec<_> = expected
        .map(|text| read_expected(text))
        .collect::<Result<_, _>>()?;
    let is_read = |name: &str| figures.iter().any(|(figure, _)| figure == name);
    if let Some((name, ..)) = expected.iter().find(|(name, ..)| !is_read(name)) {
        let failure = Failure::usage(format!("--expect {name}: no --figure of this name"));
        return Err(failure.with_help(format!(
            "add --figure {name}=PATTERN, which finds it in the output"
        )));
    }
    Ok(MeasuredFigures {
        command: arguments.measure.clone(),
        figures,
        expected,
        source: arguments.source.clone(),
        is_only_measured,
    })
}

/// Reads a published value and its unit: `42.0 items/s`, `1,010`.
pub fn read_published_value(text: &str) -> Option<(f64, Option<String>)> {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit() && !".,-+eE".contains(letter))
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let value = number.replace(',', "").parse().ok()?;
    let unit = rest.trim();
    Some((value, (!unit.is_empty()).then(|| unit.to_owned())))
}

fn read_expected(text: &str) -> Result<(String, f64, Option<String>), Failure> {
    let (name, published) = split_pair("expect", text, "42.0")?;
    let (value, unit) = read_published_value(&published).ok_or_else(|| {
        Failure::usage(format!("invalid value for --expect: {text}"))
            .with_help("write a number, and its unit if it has one: --expect speed='42.0 items/s'")
    })?;
    Ok((name, value, unit))
}

fn split_pair(option: &str, text: &str, example: &str) -> Result<(String, String), Failure> {
    let pair = text.split_once('=');
    let pair = pair.filter(|(name, value)| !name.is_empty() && !value.is_empty());
    let (name, value) = pair.ok_or_else(|| {
        Failure::usage(format!("invalid value for --{option}: {text}")).with_help(format!(
            "write --{option} NAME=…, for example --{option} speed={example}"
        ))
    })?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_value_is_read_with_its_unit() {
        let unit = |text: &str| Some(text.to_owned());
        assert_eq!(
            read_published_value("42.0 items/s"),
            Some((42.0, unit("items/s")))
        );
        assert_eq!(read_published_value("12.4ms"), Some((12.4, unit("ms"))));
        assert_eq!(read_published_value("1,010"), Some((1010.0, None)));
        assert_eq!(read_published_value("fast"), None);
    }
}
