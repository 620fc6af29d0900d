//! `retrial new`: the figures that the command line states, `--figure`, `--expect`, `--source` and `--measure`.

use retrial_import::{FigureFinder, MeasuredFigures};
use retrial_readings::lexer::{self, NotPlain};
use retrial_readings::units;
use retrial_serving::Client;

use super::arguments::NewArguments;
use crate::app::failure::Failure;

/// The value of `--expect` where nothing was published.
const NOTHING_PUBLISHED: &str = "none";

/// Reads the options.
///
/// # Errors
/// An option is not a pair, a value is not a number, or an expected figure has no `--figure` and is none of the client's.
pub fn read_figures(
    arguments: &NewArguments,
    client: Option<Client>,
) -> Result<MeasuredFigures, Failure> {
    let figures = arguments.figures.iter();
    let figures: Vec<_> = figures.map(|text| read_finder(text)).collect::<Result<_, _>>()?;
    let stated = arguments.expected.iter();
    let stated: Vec<(String, Option<f64>, Option<String>)> = stated
        .filter(|text| *text != NOTHING_PUBLISHED)
        .map(|text| read_expected(text))
        .collect::<Result<_, _>>()?;
    // Figures that are declared replace those of a client.
    let client = client.filter(|_| figures.is_empty());
    let of_client = client.map(|client| client.figures(None)).unwrap_or_default();
    let find = |name: &str| of_client.iter().find(|figure| figure.name == name);
    let is_read =
        |name: &str| find(name).is_some() || figures.iter().any(|(figure, _)| figure == name);
    if let Some((name, ..)) = stated.iter().find(|(name, ..)| !is_read(name)) {
        let failure = Failure::usage(format!("--expect {name}: no --figure of this name"));
        return Err(
            failure.with_help(format!("add --figure {name}=PATTERN, which finds it in the output"))
        );
    }
    let mut expected = Vec::new();
    let mut units = Vec::new();
    for (name, value, unit) in stated {
        match value {
            Some(value) => {
                let value = match find(&name) {
                    Some(figure) => convert_to(figure.unit, &name, value, unit.as_deref())?,
                    None => value,
                };
                expected.push((name, value, unit));
            }
            None => units.extend(unit.filter(|unit| !unit.is_empty()).map(|unit| (name, unit))),
        }
    }
    Ok(MeasuredFigures {
        command: arguments.measure.clone(),
        figures,
        is_only_measured: expected.is_empty() && !arguments.expected.is_empty(),
        expected,
        units,
        source: arguments.source.clone(),
    })
}

/// Converts a published value to the unit of a client's figure.
fn convert_to(of_client: &str, name: &str, value: f64, unit: Option<&str>) -> Result<f64, Failure> {
    let Some(unit) = unit else { return Ok(value) };
    let factor = units::conversion_factor(unit, of_client).ok_or_else(|| {
        Failure::usage(format!("--expect {name}: its unit is {of_client}, not {unit}"))
    })?;
    Ok(value * factor)
}

/// Reads a figure's name, and how it is found.
fn read_finder(text: &str) -> Result<(String, FigureFinder), Failure> {
    let (name, finder) = split_pair("figure", text, "'speed: ${number}'")?;
    let finder = FigureFinder::parse(&finder)
        .map_err(|error| Failure::usage(format!("invalid value for --figure: {text}: {error}")))?;
    Ok((name, finder))
}

/// Reads a published value and its unit, as outputs are read: `42.0 items/s`, `1,010`, `12.3k tok/s`.
///
/// # Errors
/// [`NotPlain`]
pub fn read_published_value(text: &str) -> Result<(f64, Option<String>), NotPlain> {
    let (value, unit) = lexer::read_published(text)?;
    Ok((value.value, (!unit.is_empty()).then_some(unit)))
}

/// Reads a figure's name, its value and its unit; `none` stands for a figure without a published value.
fn read_expected(text: &str) -> Result<(String, Option<f64>, Option<String>), Failure> {
    let (name, published) = split_pair("expect", text, "42.0")?;
    if let Some(unit) = read_unpublished_unit(&published) {
        return Ok((name, None, Some(unit.to_owned())));
    }
    let (value, unit) = read_published_value(&published).map_err(|reason| {
        Failure::usage(format!("invalid value for --expect: {text}: {reason}")).with_help(
            "write a number, and its unit if it has one: --expect speed='42.0 items/s'; of a figure that was not published: --expect speed='none items/s'",
        )
    })?;
    Ok((name, Some(value), unit))
}

/// Reads `none` and the unit behind it, which may be empty.
pub fn read_unpublished_unit(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(NOTHING_PUBLISHED)?;
    let is_word = rest.is_empty() || rest.starts_with(char::is_whitespace);
    is_word.then(|| rest.trim())
}

fn split_pair(option: &str, text: &str, example: &str) -> Result<(String, String), Failure> {
    let pair = text.split_once('=');
    let pair = pair.filter(|(name, value)| !name.is_empty() && !value.is_empty());
    let (name, value) = pair.ok_or_else(|| {
        Failure::usage(format!("invalid value for --{option}: {text}"))
            .with_help(format!("write --{option} NAME=…, for example --{option} speed={example}"))
    })?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_value_is_read_with_its_unit() {
        let unit = |text: &str| Some(text.to_owned());
        assert_eq!(read_published_value("42.0 items/s"), Ok((42.0, unit("items/s"))));
        assert_eq!(read_published_value("12.4ms"), Ok((12.4, unit("ms"))));
        assert_eq!(read_published_value("1,010"), Ok((1010.0, None)));
        assert_eq!(read_published_value("fast"), Err(NotPlain::NoNumber));
    }

    #[test]
    fn a_figure_that_was_not_published_may_have_a_unit() {
        assert_eq!(read_unpublished_unit("none items/s"), Some("items/s"));
        assert_eq!(read_unpublished_unit("none"), Some(""));
        assert_eq!(read_unpublished_unit("nonexistent"), None);
        assert_eq!(read_unpublished_unit("42 items/s"), None);
    }
}
