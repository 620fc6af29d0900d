//! The rules of rounds: `templates/rules/SUITE/ROUND.yaml`, and files of the user's own.

use std::path::Path;
use std::sync::LazyLock;

use super::{CatalogError, builtin, disk};
use crate::rounds::{Round, Rounds};

static BUILT_IN: LazyLock<Rounds> = LazyLock::new(|| {
    let sources = builtin::rules().into_iter();
    // Its path is a round's name, and every one of them is read: a test holds that.
    sources.fold(Rounds::default(), |rounds, source| {
        let path = source.path.clone();
        match named(&path) {
            Some((suite, round)) => rounds.with_text(suite, round, source),
            None => rounds,
        }
    })
});

/// `templates/rules/mlperf-inference/v6.0.yaml`: the suite and the round.
fn named(path: &str) -> Option<(&str, &str)> {
    let path = path.strip_prefix("templates/rules/")?;
    path.strip_suffix(".yaml")?.split_once('/')
}

/// The rules of the built-in rounds.
#[must_use]
pub fn rounds() -> &'static Rounds {
    &BUILT_IN
}

/// The built-in rounds and those of these files, which stand for built-in ones of the same name.
///
/// # Errors
/// A file is not there, cannot be read, or holds no rules.
pub fn rounds_with(files: &[impl AsRef<Path>]) -> Result<Rounds, CatalogError> {
    files.iter().try_fold(rounds().clone(), |rounds, file| {
        let source = disk::read(file.as_ref())?;
        let round = Round::parse(&source).map_err(CatalogError::Text)?;
        Ok(rounds.with(round))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_round_is_read() {
        let mut names = Vec::new();
        for source in builtin::rules() {
            match Round::parse(&source) {
                Ok(round) => {
                    let path = format!("templates/rules/{}/{}.yaml", round.suite, round.round);
                    assert_eq!(*source.path, *path);
                    assert_eq!(named(&path), Some((&*round.suite, &*round.round)));
                    names.push(round.round);
                }
                Err(problems) => panic!("{problems}"),
            }
        }
        assert_eq!(names, ["v4.1", "v5.0", "v5.1", "v6.0", "v6.1"]);
    }
}
