//! Chooses the rows of one configuration: what is not the same in all of them is asked for.

use std::str::FromStr;

use itertools::Itertools as _;

use super::PublishedRow;
use super::row::member_names;

/// A member of rows and the value that it must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowFilter {
    member: String,
    value: String,
}

impl FromStr for RowFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names = || member_names().join(", ");
        let (member, value) = text
            .split_once('=')
            .ok_or_else(|| format!("expected NAME=VALUE, with one of {}", names()))?;
        if !member_names().any(|name| name == member) {
            return Err(format!("rows have no `{member}`; they have {}", names()));
        }
        Ok(Self { member: member.to_owned(), value: value.to_owned() })
    }
}

/// The points of one configuration, by concurrency.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    points: Vec<PublishedRow>,
}

/// Why rows are not one curve.
#[derive(Debug, thiserror::Error)]
pub enum CurveError {
    #[error("no row matches")]
    NoMatch,
    #[error("{rows} rows are of several configurations")]
    Several {
        rows: usize,
        /// Each member that differs, with its values.
        differing: Vec<(&'static str, Vec<String>)>,
    },
    #[error("several rows are of concurrency {0}, and of the same configuration")]
    Repeated(f64),
    #[error(
        "the rows are of several machines: prompts and answers, or parts of a model, on machines of their own"
    )]
    Distributed,
    #[error("{gpu}: neither a GPU of AMD nor of NVIDIA")]
    UnknownGpu { gpu: String },
    #[error(
        "the row of concurrency {concurrency} is impossible: {rule}: {measured}; required {required}"
    )]
    Impossible { concurrency: f64, rule: String, measured: String, required: String },
}

impl Curve {
    /// Returns the rows that match, if they are the points of one configuration.
    ///
    /// # Errors
    /// [`CurveError`]
    pub fn select(rows: &[PublishedRow], filters: &[RowFilter]) -> Result<Self, CurveError> {
        let matches = |row: &&PublishedRow| {
            filters.iter().all(|filter| row.member(&filter.member) == Some(&*filter.value))
        };
        let points = rows.iter().filter(matches).cloned();
        let points: Vec<PublishedRow> = points
            .sorted_by(|left, right| left.concurrency.total_cmp(&right.concurrency))
            .collect();
        if points.is_empty() {
            return Err(CurveError::NoMatch);
        }
        let differing = member_names().filter_map(|name| {
            let values = points.iter().map(|row| row.member(name).unwrap_or("(none)"));
            let values: Vec<String> = values.unique().map(str::to_owned).collect();
            (values.len() > 1).then_some((name, values))
        });
        let differing: Vec<_> = differing.collect();
        if !differing.is_empty() {
            return Err(CurveError::Several { rows: points.len(), differing });
        }
        if points.iter().any(|row| row.is_distributed) {
            return Err(CurveError::Distributed);
        }
        let pairs = || points.iter().tuple_windows();
        if let Some((row, _)) =
            pairs().find(|(left, right)| left.concurrency.total_cmp(&right.concurrency).is_eq())
        {
            return Err(CurveError::Repeated(row.concurrency));
        }
        for row in &points {
            if let Some(check) = row.check().into_iter().find(|check| !check.passed) {
                return Err(CurveError::Impossible {
                    concurrency: row.concurrency,
                    rule: check.rule,
                    measured: check.measured,
                    required: check.required,
                });
            }
        }
        Ok(Self { points })
    }

    pub fn points(&self) -> &[PublishedRow] {
        &self.points
    }

    pub(super) fn member(&self, name: &str) -> &str {
        self.points.first().and_then(|row| row.member(name)).unwrap_or_default()
    }
}
