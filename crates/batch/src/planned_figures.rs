//! The figures that a measurement is planned to give. Claims and searches are about these, whichever of them a run gave.

use itertools::Itertools as _;

use retrial_recipe::model::Mode;
use retrial_results::verdict::comparison::PooledMeasurement;
use retrial_results::verdict::{Evidence, ResultVerdict, table_name};

/// The figures of one scenario in one mode.
#[derive(Debug, Clone)]
pub(crate) struct PlannedFigures {
    /// Those of the plan, then those of the result, in the order of their weight: a claim that names none is about the
    /// first.
    pub names: Vec<String>,
    /// The planned tables, whose entries only a result names.
    tables: Vec<String>,
    /// Only its result would have named its figures, and it has none: `LoadGen`'s.
    is_unknown: bool,
}

impl PlannedFigures {
    /// The figures of evidence, and of the measurement and the verdict that were made of it.
    pub fn new(
        evidence: &Evidence,
        measurement: &PooledMeasurement,
        result: &ResultVerdict,
    ) -> Self {
        let published = evidence.published_metric.iter().cloned();
        let expected = evidence.plan.expect.iter().map(|(name, _)| name.clone());
        let limits = evidence.limited_figures().map(str::to_owned);
        let limited = limits.filter(|_| evidence.plan.mode == Mode::Accuracy);
        let (tables, declared): (Vec<_>, Vec<_>) =
            evidence.plan.figures.iter().partition(|(_, source)| !source.by.is_empty());
        let declared_names = declared.into_iter().map(|(name, _)| name.clone());
        let measured = measurement.figures.iter().map(|figure| figure.name.clone());
        let planned = published.chain(expected).chain(limited).chain(declared_names);
        let given = result.deciding.iter().cloned().chain(measured);
        Self {
            names: planned.chain(given).unique().collect(),
            tables: tables.into_iter().map(|(name, _)| name.clone()).collect(),
            is_unknown: evidence.plan.loadgen && measurement.figures.is_empty(),
        }
    }

    /// Returns whether a figure is planned or was measured; none if only the missing result would have named it.
    pub fn is_planned(&self, figure: &str) -> Option<bool> {
        let named = |names: &[String], name: &str| names.iter().any(|known| known == name);
        let is_of_table = table_name(figure).is_some_and(|table| named(&self.tables, table));
        if is_of_table || named(&self.names, figure) {
            return Some(true);
        }
        (!self.is_unknown).then_some(false)
    }
}
