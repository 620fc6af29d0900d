//! The rounds that are known.

use std::sync::{Arc, LazyLock};

use super::InferenceRules;
use super::model::{Round, Seeds};
use crate::ScenarioName;
use crate::built_in;
use crate::loadgen::Parameters;
use retrial_document::Source;

/// A round with its name, parsed on first use.
#[derive(Debug)]
struct NamedRound {
    suite: String,
    round: String,
    rules: LazyLock<Round, Box<dyn FnOnce() -> Round + Send>>,
}

impl NamedRound {
    fn is_named(&self, suite: &str, round: &str) -> bool {
        let bare = |name: &str| name.trim_start_matches(['v', 'V']).to_owned();
        self.suite == suite && bare(&self.round) == bare(round)
    }
}

/// The rounds that are known: the built-in ones, and those of the user's own files.
#[derive(Debug, Clone, Default)]
pub struct Rounds {
    list: Vec<Arc<NamedRound>>,
}

impl Rounds {
    /// Adds a built-in round by its name and text, which is parsed on first use.
    #[must_use]
    pub(super) fn with_built_in(mut self, suite: &str, round: &str, source: Source) -> Self {
        let parse = move || built_in::unwrap_built_in(&source.path, Round::parse(&source));
        self.replace_or_add(NamedRound {
            suite: suite.to_owned(),
            round: round.to_owned(),
            rules: LazyLock::new(Box::new(parse)),
        });
        self
    }

    /// Adds a round; it replaces one of the same suite and name.
    #[must_use]
    pub fn with_round(mut self, round: Round) -> Self {
        self.replace_or_add(NamedRound {
            suite: round.suite.clone(),
            round: round.round.clone(),
            rules: LazyLock::new(Box::new(move || round)),
        });
        self
    }

    fn replace_or_add(&mut self, round: NamedRound) {
        self.list.retain(|other| other.suite != round.suite || other.round != round.round);
        self.list.push(Arc::new(round));
    }

    /// Names of all, in the order in which they were added.
    pub fn round_names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|entry| entry.round.as_str())
    }

    /// Returns all rounds, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Round> {
        self.list.iter().map(|entry| &*entry.rules)
    }

    /// Returns a round by its name: `v6.0`, or `6.0`.
    pub fn get(&self, suite: &str, round: &str) -> Option<&Round> {
        let entry = self.list.iter().find(|entry| entry.is_named(suite, round))?;
        Some(&entry.rules)
    }

    /// Returns the rules of a benchmark in a scenario, by whichever name a submitter has for it.
    pub fn benchmark_rules(
        &self,
        suite: &str,
        round: &str,
        benchmark: &str,
        scenario: &ScenarioName,
    ) -> Option<InferenceRules> {
        let round = self.get(suite, round)?;
        round.benchmark_rules(benchmark, scenario.test_scenario()?)
    }

    /// Returns the round whose seeds a run used; `None` where no round has them, or not all are logged.
    pub fn find_by_seeds(&self, settings: &Parameters) -> Option<&Round> {
        let seeds = Seeds {
            qsl: settings.qsl_rng_seed?,
            sample_index: settings.sample_index_rng_seed?,
            schedule: settings.schedule_rng_seed?,
        };
        self.iter().find(|round| {
            let tests = round.tests.iter().filter_map(|(_, test)| test.seeds);
            round.seeds == seeds || tests.into_iter().any(|own| own == seeds)
        })
    }
}
