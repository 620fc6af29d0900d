//! The rounds that are known.

use super::Rules;
use super::model::{Round, Seeds};
use crate::logs::loadgen::{Parameters, Scenario};
use crate::recipe::model::Submission;

/// The rounds that are known: the built-in ones, and those of the user's own files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rounds {
    list: Vec<Round>,
}

impl Rounds {
    /// These rounds.
    #[must_use]
    pub fn new(list: Vec<Round>) -> Self {
        Self { list }
    }

    /// Adds a round; it stands for one of the same suite and name.
    #[must_use]
    pub fn with(mut self, round: Round) -> Self {
        self.list
            .retain(|known| known.suite != round.suite || known.round != round.round);
        self.list.push(round);
        self
    }

    /// All, in the order of their names.
    pub fn iter(&self) -> std::slice::Iter<'_, Round> {
        self.list.iter()
    }

    /// One by its name: `v6.0`, or `6.0`.
    #[must_use]
    pub fn get(&self, suite: &str, round: &str) -> Option<&Round> {
        let bare = |name: &str| name.trim_start_matches(['v', 'V']).to_owned();
        self.list
            .iter()
            .find(|known| known.suite == suite && bare(&known.round) == bare(round))
    }

    /// The rules of a submission in a scenario, by whichever name the recipe has for it.
    #[must_use]
    pub fn rules(&self, submission: &Submission, scenario: &str) -> Option<Rules> {
        let round = self.get(&submission.suite, submission.round.as_deref()?)?;
        let rules = round.rules(&submission.benchmark, Scenario::from_word(scenario)?)?;
        Some(rules.in_division(submission.division.as_deref().unwrap_or("closed")))
    }

    /// The round whose seeds a run used; `None` where they are nobody's, or not all are told.
    #[must_use]
    pub fn by_seeds(&self, settings: &Parameters) -> Option<&Round> {
        let seeds = Seeds {
            qsl: settings.qsl_rng_seed?,
            sample_index: settings.sample_index_rng_seed?,
            schedule: settings.schedule_rng_seed?,
        };
        self.list.iter().find(|round| {
            let tests = round.tests.iter().filter_map(|(_, test)| test.seeds);
            round.seeds == seeds || tests.into_iter().any(|own| own == seeds)
        })
    }
}

impl<'a> IntoIterator for &'a Rounds {
    type Item = &'a Round;
    type IntoIter = std::slice::Iter<'a, Round>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
