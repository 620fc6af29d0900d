//! The trials of a search so far, and its next action.

use std::collections::BTreeMap;

use super::{Criterion, ObservedFigure, RunObservation, SearchPlan};
use crate::BatchPlan;
use retrial_recipe::model::Better;
use retrial_stats::search::{ChangeCriterion, ChangeSearch, Observation, SearchStep};

/// The assumed share of wrong answers, where a trial gives yes or no.
const WRONG_ANSWER_SHARE: f64 = 0.05;

/// One trial that ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ObservedTrial {
    /// The cell, from 0.
    pub cell: usize,
    /// The run's id.
    pub run: String,
    /// The observation of the run: a figure, an answer, or nothing usable.
    pub observed: RunObservation,
}

/// The reason why a trial has no value for the search.
#[derive(Debug, thiserror::Error)]
enum NoSearchValue {
    #[error("{0}")]
    NotMeasured(String),
    /// The trial's figure, and the one of the first trial.
    #[error(
        "it has {} in {}, and the search began with {} in {}",
        .0[0].figure_and_unit(), .0[0].scenario, .0[1].figure_and_unit(), .0[1].scenario
    )]
    OtherFigure(Box<[ObservedFigure; 2]>),
}

/// A search, with its trials so far.
#[derive(Debug, Clone)]
pub struct SearchState<'a> {
    /// The axis, the figure and the criterion of the search.
    pub search: &'a SearchPlan,
    pub cells: usize,
    /// The accepted probability of a wrong pair.
    pub alpha: f64,
    /// The trials in the order in which they were taken.
    pub trials: &'a [ObservedTrial],
}

impl<'a> SearchState<'a> {
    /// The search of a batch, after these trials.
    pub fn new(plan: &BatchPlan, search: &'a SearchPlan, trials: &'a [ObservedTrial]) -> Self {
        Self { search, cells: plan.cells.len(), alpha: 1.0 - plan.execution.confidence, trials }
    }

    /// Returns the next step; its positions are cells.
    ///
    /// # Errors
    /// The first or the last cell, if it cannot be measured.
    pub fn next_step(&self) -> Result<SearchStep, usize> {
        let skipped = self.skipped_cells();
        let ends = [0, self.cells - 1];
        if let Some(end) = ends.into_iter().find(|end| skipped.contains_key(end)) {
            return Err(end);
        }
        let cells: Vec<usize> =
            (0..self.cells).filter(|cell| !skipped.contains_key(cell)).collect();
        let observations: Vec<Observation> = self
            .trials
            .iter()
            .filter_map(|trial| {
                let position = cells.iter().position(|cell| *cell == trial.cell)?;
                let value = self.search_value(&trial.observed).ok()?;
                Some(Observation { position, value })
            })
            .collect();
        let step = self.to_search(cells.len()).next_step(&observations);
        Ok(step.map_positions(|position| cells[position]))
    }

    /// The cells that cannot be measured, each with the reason.
    pub fn skipped_cells(&self) -> BTreeMap<usize, String> {
        let trials = self.trials.iter();
        let without = trials.filter_map(|trial| {
            let reason = self.search_value(&trial.observed).err()?;
            Some((trial.cell, reason.to_string()))
        });
        without.collect()
    }

    /// Returns the trial's value for the search; else why it has none: it has no figure, or another one than the first
    /// trial.
    fn search_value(&self, observed: &RunObservation) -> Result<f64, NoSearchValue> {
        match observed {
            RunObservation::Answer(yes) => Ok(f64::from(u8::from(*yes))),
            RunObservation::NotMeasured(reason) => Err(NoSearchValue::NotMeasured(reason.clone())),
            RunObservation::Figure(figure) => match self.searched_figure() {
                Some(first) if !first.is_same_figure(figure) => {
                    Err(NoSearchValue::OtherFigure(Box::new([figure.clone(), first.clone()])))
                }
                _ => Ok(figure.value),
            },
        }
    }

    /// Returns the figure that is searched, once a trial has it.
    pub fn searched_figure(&self) -> Option<&ObservedFigure> {
        let mut trials = self.trials.iter();
        trials.find_map(|trial| trial.observed.figure())
    }

    fn to_search(&self, positions: usize) -> ChangeSearch {
        let better = self.searched_figure().map_or(Better::Higher, |figure| figure.better);
        let figures = self.trials.iter().filter_map(|trial| trial.observed.figure());
        ChangeSearch {
            positions,
            change: match self.search.criterion {
                Criterion::Slower { margin } => ChangeCriterion::Slower { better, margin },
                Criterion::Faster { margin } => ChangeCriterion::Faster { better, margin },
                Criterion::Accuracy | Criterion::Validity => {
                    ChangeCriterion::Answer { error: WRONG_ANSWER_SHARE }
                }
            },
            alpha: self.alpha,
            max_trials: self.search.most as usize,
            rounding_error: figures.map(|figure| figure.rounding_error).fold(0.0, f64::max),
        }
    }
}
