//! The rules that are built in: `rules/SUITE/ROUND.yaml` of this crate.

use std::sync::LazyLock;

use include_dir::{Dir, include_dir};
use retrial_document::Source;

use super::Rounds;
use crate::built_in;

static RULES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/rules");

const SUITE: &str = "mlperf-inference";

static BUILT_IN: LazyLock<Rounds> = LazyLock::new(|| {
    built_in_texts(SUITE).fold(Rounds::default(), |rounds, (round, text)| {
        rounds.with_built_in(SUITE, round, round_source(round, text))
    })
});

/// Returns the rules of the built-in rounds.
pub fn built_in_rounds() -> &'static Rounds {
    &BUILT_IN
}

/// Returns the texts of the built-in rounds of `MLPerf Inference`, sorted by round.
pub fn built_in_sources() -> impl Iterator<Item = Source> {
    built_in_texts(SUITE).map(|(round, text)| round_source(round, text))
}

fn round_source(round: &str, text: &str) -> Source {
    Source::new(format!("rules/{SUITE}/{round}.yaml"), text)
}

/// Returns the names and texts of a suite's built-in rounds, sorted.
pub(crate) fn built_in_texts(suite: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let directory =
        built_in::unwrap_built_in(suite, RULES.get_dir(suite).ok_or("there is no such folder"));
    let mut files: Vec<_> = directory.files().collect();
    files.sort_by_key(|file| file.path());
    files.into_iter().map(|file| {
        let path = file.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        let named = name.zip(file.contents_utf8());
        built_in::unwrap_built_in(&path.display().to_string(), named.ok_or("it is no text"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::Round;
    use super::*;

    #[test]
    fn every_built_in_round_is_read() {
        let mut names = Vec::new();
        for source in built_in_sources() {
            match Round::parse(&source) {
                Ok(round) => {
                    let path = format!("rules/{}/{}.yaml", round.suite, round.round);
                    assert_eq!(*source.path, *path);
                    assert!(built_in_rounds().get(&round.suite, &round.round).is_some());
                    names.push(round.round);
                }
                Err(problems) => panic!("{problems}"),
            }
        }
        assert_eq!(names, ["v4.1", "v5.0", "v5.1", "v6.0", "v6.1"]);
    }
}
