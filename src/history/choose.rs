//! Which runs are meant, and in which order they are told.

use std::cmp::Ordering;

use jiff::Timestamp;

use super::RunSummary;

/// Every word that a run's state can be.
pub const STATES: [&str; 9] = [
    "running",
    "interrupted",
    "stopped",
    "reproduced",
    "measured",
    "inconclusive",
    "not reproduced",
    "invalid",
    "failed",
];

/// Which runs are meant. Of each kind one must fit; without any, every run does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Ids, each whole.
    pub ids: Vec<String>,
    /// A part of the recipe's name or of its title.
    pub recipe: Vec<String>,
    /// The state: [`STATES`].
    pub outcome: Vec<String>,
    /// A part of the batch's id.
    pub batch: Vec<String>,
    /// The machine's name.
    pub host: Vec<String>,
    /// The benchmark, or what it begins with: `llama2-70b` is `llama2-70b-99` too.
    pub benchmark: Vec<String>,
    /// A GPU's model.
    pub gpu: Vec<String>,
    /// What an axis or a parameter was: all of them must fit.
    pub settings: Vec<(String, String)>,
    /// Begun at this time or later.
    pub since: Option<Timestamp>,
    /// Begun before.
    pub until: Option<Timestamp>,
}

impl Filter {
    /// Every run is meant.
    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// The runs of one batch.
    #[must_use]
    pub fn of_batch(id: &str) -> Self {
        Self {
            batch: vec![id.to_owned()],
            ..Self::default()
        }
    }

    /// Whether a run is meant.
    #[must_use]
    pub fn fits(&self, row: &RunSummary) -> bool {
        let batch = row.batch.as_ref().map_or("", |batch| batch.id.as_str());
        let setting = |(name, value): &(String, String)| {
            let known = row.variant.get(name).or_else(|| row.params.get(name));
            known == Some(value)
        };
        any(&self.ids, |asked| row.id == asked)
            && any(&self.recipe, |part| {
                has(&row.recipe, part) || has(&row.title, part)
            })
            && any(&self.outcome, |asked| row.state() == asked)
            && any(&self.batch, |part| has(batch, part))
            && any(&self.host, |asked| row.host.eq_ignore_ascii_case(asked))
            && any(&self.benchmark, |asked| {
                begins(&row.submission.benchmark, asked)
            })
            && any(&self.gpu, |part| has(&row.gpus, part))
            && self.settings.iter().all(setting)
            && self
                .since
                .is_none_or(|since| row.began.is_some_and(|began| began >= since))
            && self
                .until
                .is_none_or(|until| row.began.is_some_and(|began| began < until))
    }
}

fn any(asked: &[String], fits: impl Fn(&str) -> bool) -> bool {
    asked.is_empty() || asked.iter().any(|asked| fits(asked))
}

fn has(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

/// `llama2-70b` is meant by `llama2-70b-99`, and not by `llama2-70b2`.
fn begins(text: &str, part: &str) -> bool {
    let (text, part) = (text.to_lowercase(), part.to_lowercase());
    let rest = text.strip_prefix(&part);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.', '_']))
}

/// The orders of runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Order {
    /// Start time
    #[default]
    Began,
    /// Duration
    Duration,
    /// Deciding figure
    Figure,
    /// Ratio to the published figure
    Ratio,
    /// Outcome, in order of precedence
    Outcome,
    /// Recipe, then start time
    Recipe,
    /// Host, then start time
    Host,
}

/// Orders runs; those of which it is not known come first, and of equals the newer ones last.
pub fn order(rows: &mut [RunSummary], by: Order) {
    rows.sort_by(|one, other| {
        let first = match by {
            Order::Began => Ordering::Equal,
            Order::Duration => numbers(one.seconds(), other.seconds()),
            Order::Figure => numbers(figure(one), figure(other)),
            Order::Ratio => numbers(ratio(one), ratio(other)),
            Order::Outcome => one.outcome.cmp(&other.outcome),
            Order::Recipe => one.recipe.cmp(&other.recipe),
            Order::Host => one.host.cmp(&other.host),
        };
        first
            .then_with(|| one.began.cmp(&other.began))
            .then_with(|| one.id.cmp(&other.id))
    });
}

fn figure(row: &RunSummary) -> Option<f64> {
    row.deciding.as_ref()?.value
}

fn ratio(row: &RunSummary) -> Option<f64> {
    row.deciding.as_ref()?.ratio
}

fn numbers(one: Option<f64>, other: Option<f64>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        (one, other) => one.is_some().cmp(&other.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::results::verdict::Outcome;
    use retrial_recipe::model::Submission;

    fn row(id: &str, began: &str) -> RunSummary {
        RunSummary {
            id: id.to_owned(),
            recipe: "mlperf-inference/v6.0/amd/llama2-70b-mi355x".to_owned(),
            title: "AMD, Llama 2 70B".to_owned(),
            submission: Submission {
                benchmark: "llama2-70b-99".to_owned(),
                ..Submission::default()
            },
            variant: [("rocm".to_owned(), "7.1.1".to_owned())].into(),
            params: [("batch".to_owned(), "4".to_owned())].into(),
            began: began.parse().ok(),
            gpus: "8 x MI355X".to_owned(),
            host: "node-a".to_owned(),
            ..RunSummary::default()
        }
    }

    #[rstest]
    #[case::part_of_the_recipe(|filter: &mut Filter| filter.recipe.push("LLAMA2".into()), true)]
    #[case::part_of_the_title(|filter: &mut Filter| filter.recipe.push("amd, llama".into()), true)]
    #[case::one_of_two(|filter: &mut Filter| filter.host = vec!["node-b".into(), "Node-A".into()], true)]
    #[case::whole_host(|filter: &mut Filter| filter.host.push("node".into()), false)]
    #[case::benchmark(|filter: &mut Filter| filter.benchmark.push("llama2-70b".into()), true)]
    #[case::not_its_beginning(|filter: &mut Filter| filter.benchmark.push("llama2-7".into()), false)]
    #[case::axis(|filter: &mut Filter| filter.settings.push(("rocm".into(), "7.1.1".into())), true)]
    #[case::both_settings(|filter: &mut Filter| filter.settings = vec![("rocm".into(), "7.1.1".into()), ("batch".into(), "8".into())], false)]
    #[case::since(|filter: &mut Filter| filter.since = "2026-11-21T00:00:00Z".parse().ok(), true)]
    #[case::until(|filter: &mut Filter| filter.until = "2026-11-21T10:00:00Z".parse().ok(), false)]
    #[case::state(|filter: &mut Filter| filter.outcome.push("interrupted".into()), true)]
    #[case::no_batch(|filter: &mut Filter| filter.batch.push("2026".into()), false)]
    fn what_is_asked_must_fit(#[case] ask: fn(&mut Filter), #[case] fits: bool) {
        let mut filter = Filter::default();
        assert!(filter.is_all());
        ask(&mut filter);
        assert_eq!(filter.fits(&row("a", "2026-11-21T10:00:00Z")), fits);
    }

    #[test]
    fn the_states_are_all_states() {
        let words: Vec<&str> = Outcome::ALL.iter().map(|one| one.word()).collect();
        assert!(words.iter().all(|word| STATES.contains(word)));
    }

    #[test]
    fn what_is_not_known_comes_first_and_the_newest_last() {
        let mut rows = vec![
            row("c", "2026-11-21T12:00:00Z"),
            row("b", "2026-11-21T10:00:00Z"),
            row("a", "2026-11-21T11:00:00Z"),
        ];
        rows[2].ended = "2026-11-21T11:00:05Z".parse().ok();
        let ids =
            |rows: &[RunSummary]| -> String { rows.iter().map(|row| row.id.as_str()).collect() };
        order(&mut rows, Order::Began);
        assert_eq!(ids(&rows), "bac");
        order(&mut rows, Order::Duration);
        assert_eq!(ids(&rows), "bca");
    }
}
