//! A search for two neighbours of an ordered axis between which something changed, from noisy trials.
//!
//! The first and the last position are measured alternately until they differ, or the search
//! refuses. Then every possible place of the change has a probability, given all trials so far, and
//! the next trial is taken at the position that splits it best (M. Horstein, IEEE Trans. Inf. Theory
//! 9, 1963). A trial that contradicts earlier ones moves the probability back; nothing is final until
//! one place has at least `1 - alpha / 2`, and its two neighbours differ in a direct comparison.
//!
//! The state is the list of trials alone: the same list always gives the same step, so that a search
//! is continued by repeating it. Nothing here measures, or knows the meaning of a position.

mod ends;
mod place;
mod tally;

use self::ends::EndsComparison;
use self::tally::PositionTally;
use crate::quantile::student_quantile;
use retrial_readings::claim::Better;

/// Trials of each neighbour before they are compared.
const MIN_TRIALS_PER_NEIGHBOUR: f64 = 2.0;

/// How the positions after the change differ from those before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ChangeCriterion {
    /// The figure is worse, by more than a margin (a fraction).
    Slower {
        /// Which way the figure is better.
        better: Better,
        /// The first and the last position differ by more than this.
        margin: f64,
    },
    /// The figure is better, by more than a margin (a fraction).
    Faster {
        /// Which way the figure is better.
        better: Better,
        /// The first and the last position differ by more than this.
        margin: f64,
    },
    /// A trial answers yes (1) before the change and no (0) after it, wrong with this probability.
    Answer {
        /// The assumed probability of a wrong answer, below one half.
        error: f64,
    },
}

/// One trial at a position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// The position on the axis, from 0.
    pub position: usize,
    /// A positive figure; 1 or 0 of an answer.
    pub value: f64,
}

/// The parameters of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeSearch {
    /// The number of positions; at least two.
    pub positions: usize,
    /// How the positions after the change differ from those before it.
    pub change: ChangeCriterion,
    /// The accepted probability of a wrong pair, over all decisions.
    pub alpha: f64,
    /// No more trials than this; half of them at the ends before they differ.
    pub max_trials: usize,
    /// Half of the last printed digit of the figures, as a fraction of them; 0: they are exact.
    pub rounding_error: f64,
}

/// The next action of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchStep {
    /// A trial at this position.
    Measure(usize),
    /// The change is between two neighbours.
    Found(ChangePoint),
    /// The first and the last position do not differ by the margin, and this is shown.
    NoDifference,
    /// The trials were used up before the ends differed.
    EndsUndecided,
    /// The trials were used up; the change is between these positions, at the requested confidence.
    Undecided {
        /// The last position that may be before the change.
        first: usize,
        /// The first position that may be behind it.
        last: usize,
    },
}

/// A pair of neighbours that differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The last position before the change.
    pub before: usize,
    /// The first position behind it.
    pub after: usize,
    /// The probability that the change is here, given that there is one.
    pub probability: f64,
    /// How the second differs from the first; none for answers.
    pub ratio: Option<NeighbourRatio>,
    /// The number of trials of a plain sweep over all positions with the same error rate.
    pub sweep: usize,
}

/// The log ratio of the second neighbour to the first: above zero it is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeighbourRatio {
    /// The log ratio of the geometric means.
    pub center: f64,
    /// Two-sided bounds with error `alpha` together.
    pub bounds: (f64, f64),
}

impl SearchStep {
    /// Returns the step with each position replaced by what it stands for.
    #[must_use]
    pub fn map_positions(self, map: impl Fn(usize) -> usize) -> Self {
        match self {
            Self::Measure(position) => Self::Measure(map(position)),
            Self::Found(found) => Self::Found(ChangePoint {
                before: map(found.before),
                after: map(found.after),
                ..found
            }),
            Self::Undecided { first, last } => {
                Self::Undecided { first: map(first), last: map(last) }
            }
            Self::NoDifference | Self::EndsUndecided => self,
        }
    }
}

impl ChangeSearch {
    /// Returns the next step after these trials, in the order in which they were taken.
    pub fn next_step(&self, trials: &[Observation]) -> SearchStep {
        let oriented = self.orient_trials(trials);
        match ends::compare_ends(self, &oriented) {
            EndsComparison::Alike => SearchStep::NoDifference,
            EndsComparison::Open(_) if 2 * trials.len() >= self.max_trials => {
                SearchStep::EndsUndecided
            }
            EndsComparison::Open(position) => SearchStep::Measure(position),
            EndsComparison::Differ => self.step_between_ends(trials, &oriented),
        }
    }

    /// Searches between ends that differ.
    fn step_between_ends(&self, trials: &[Observation], oriented: &[Observation]) -> SearchStep {
        let mut tallies = vec![PositionTally::default(); self.positions];
        for trial in oriented {
            if let Some(tally) = tallies.get_mut(trial.position) {
                tally.add(trial.value);
            }
        }
        let (first, last) = match self.change {
            ChangeCriterion::Answer { .. } => (0, self.positions - 1),
            _ => place::narrow_to_main_change(&tallies, self.alpha),
        };
        let places = &tallies[first..=last];
        let chances = match self.change {
            ChangeCriterion::Answer { error } => place::place_chances_by_answers(places, error),
            _ => place::place_chances_by_figures(places, self.rounding_error),
        };
        let likely =
            (0..chances.len()).max_by(|one, other| chances[*one].total_cmp(&chances[*other]));
        let likeliest = likely.unwrap_or(0);
        let (here, next) = (first + likeliest, first + likeliest + 1);
        // Half of it: ends that came to differ by chance make the probabilities a little too large.
        let sure = chances[likeliest] >= 1.0 - self.alpha / 2.0;
        if sure && self.neighbours_differ(places, likeliest) {
            return SearchStep::Found(self.change_point(
                places,
                likeliest,
                (here, chances[likeliest]),
            ));
        }
        if trials.len() >= self.max_trials {
            let (low, high) = place::credible_interval(&chances, self.alpha);
            return SearchStep::Undecided { first: first + low, last: first + high + 1 };
        }
        if !sure {
            // A position is compared with the ends: they are known no worse than it is.
            let inner = first + place::median_position(&chances);
            let rarer = if tallies[last].count < tallies[first].count { last } else { first };
            let behind = tallies[rarer].count < tallies[inner].count;
            return SearchStep::Measure(if behind { rarer } else { inner });
        }
        // Alternate, so that a drift does not contribute to their difference.
        let latest = trials.last().map(|trial| trial.position);
        let (one, other) = (tallies[here].count, tallies[next].count);
        let second = one > other || (one >= other && latest == Some(next));
        SearchStep::Measure(if second { next } else { here })
    }

    /// Returns whether the neighbours around a place differ by their own trials.
    fn neighbours_differ(&self, places: &[PositionTally], at: usize) -> bool {
        let (one, other) = (&places[at], &places[at + 1]);
        match self.change {
            ChangeCriterion::Answer { error } => {
                let needed = ends::answers_needed(error, self.alpha);
                one.yes_surplus() >= needed && -other.yes_surplus() >= needed
            }
            _ if one.count.min(other.count) < MIN_TRIALS_PER_NEIGHBOUR => false,
            _ => {
                let (error, degrees) = place::neighbour_error(places, at);
                one.mean() - other.mean() > student_quantile(self.alpha, degrees) * error
            }
        }
    }

    fn change_point(
        &self,
        places: &[PositionTally],
        at: usize,
        (before, probability): (usize, f64),
    ) -> ChangePoint {
        if let ChangeCriterion::Answer { error } = self.change {
            let sweep = self.positions * place::sweep_answers_per_position(error, self.alpha);
            let ratio = None;
            return ChangePoint { before, after: before + 1, probability, ratio, sweep };
        }
        let (error, degrees) = place::neighbour_error(places, at);
        let drop = places[at].mean() - places[at + 1].mean();
        let half =
            (student_quantile(self.alpha / 2.0, degrees) * error).max(2.0 * self.rounding_error);
        let worse = matches!(self.change, ChangeCriterion::Slower { .. });
        let center = if worse { -drop } else { drop };
        let deviation = place::trial_deviation(places, at).max(self.rounding_error);
        let per_position =
            (2.0 * student_quantile(self.alpha / 2.0, f64::INFINITY) * deviation / drop).powi(2);
        let trials_per_position = (1..1000_u32).find(|count| f64::from(*count) >= per_position);
        ChangePoint {
            before,
            after: before + 1,
            probability,
            ratio: Some(NeighbourRatio { center, bounds: (center - half, center + half) }),
            sweep: self.positions * trials_per_position.unwrap_or(1000) as usize,
        }
    }

    /// Converts figures to logarithms that fall at the change; answers stay as they are.
    fn orient_trials(&self, trials: &[Observation]) -> Vec<Observation> {
        let sign = |better| match better {
            Better::Higher => 1.0,
            Better::Lower => -1.0,
        };
        let sign = match self.change {
            ChangeCriterion::Slower { better, .. } => sign(better),
            ChangeCriterion::Faster { better, .. } => -sign(better),
            ChangeCriterion::Answer { .. } => return trials.to_vec(),
        };
        // Close to zero, where sums of squares are exact.
        let start = trials.first().map_or(0.0, |trial| trial.value.ln());
        let oriented = |trial: &Observation| Observation {
            position: trial.position,
            value: sign * (trial.value.ln() - start),
        };
        trials.iter().map(oriented).collect()
    }
}

#[cfg(test)]
mod tests;
