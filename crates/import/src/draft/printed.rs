//! Figures in the output that a guide prints: offered as options, never taken.

use itertools::Itertools as _;
use regex_lite::Regex;

use super::builder::Builder;
use crate::page::Page;

/// The most lines of output that are searched.
const MAX_LINES: usize = 400;
/// The most figures that are offered.
const MAX_OFFERED: usize = 4;

/// Returns the lines that a guide prints as output.
pub fn collect_output(page: &Page, read: &[String]) -> Vec<String> {
    let of_blocks = page.blocks.iter().flat_map(|block| block.output.iter());
    of_blocks.chain(read).chain(&page.output).take(MAX_LINES).cloned().collect()
}

/// Notes the options that read each printed figure, the last ones of a long output: which of them is published, and
/// which is of a warm-up, is not for a program to decide.
pub fn offer_figures(builder: &mut Builder<'_>, output: &[String]) {
    let figures = output.iter().rev().filter_map(|line| find_figure(line));
    let mut figures: Vec<_> =
        figures.unique_by(|(_, prefix, _)| prefix.clone()).take(MAX_OFFERED).collect();
    figures.reverse();
    for (name, prefix, value) in figures {
        let pattern = regex_lite::escape(&prefix);
        builder.note(format!(
            "the guide prints `{prefix}{value}`: `--figure {name}='{pattern}${{number}}' --expect {name}='{value}'` compares with it"
        ));
    }
}

/// Returns the name of a figure, the text before its number, and the number with its unit.
fn find_figure(line: &str) -> Option<(String, String, String)> {
    let expression = Regex::new(
        r"(?i)^\s*(?:\||\[.*?\])?\s*([a-z][a-z0-9 _./()%-]{2,50}?)\s*[:=|]\s*([0-9][0-9,.]*)\s*([a-z%/]+[a-z%/0-9]*)?",
    )
    .ok()?;
    let found = expression.captures(line)?;
    let number = found.get(2)?;
    let words = [
        "throughput",
        "latency",
        "speed",
        "fps",
        "tokens",
        "images",
        "tflops",
        "gb/s",
        "samples",
        "rate",
        "score",
        "bandwidth",
        "time",
        "tps",
        "perf",
    ];
    let text = found.get(1)?.as_str();
    let whole = found.get(0)?.as_str().to_lowercase();
    if !words.iter().any(|word| whole.contains(word)) {
        return None;
    }
    let letters: String = text
        .to_lowercase()
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { ' ' })
        .collect();
    let name = letters.split_whitespace().take(3).collect::<Vec<_>>().join("_");
    let unit = found.get(3).map_or("", |unit| unit.as_str());
    let value =
        format!("{} {unit}", number.as_str().trim_end_matches(['.', ','])).trim_end().to_owned();
    Some((name, line[..number.start()].trim_start().to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_figure_is_found() {
        let found = find_figure("throughput: 812 images/s").unwrap();
        assert_eq!(
            found,
            ("throughput".to_owned(), "throughput: ".to_owned(), "812 images/s".to_owned())
        );
        assert!(find_figure("Client 2.7").is_none());
        assert!(find_figure(" Frame rate (FPS): 89.01 | net: 89.24").is_some());
    }
}
