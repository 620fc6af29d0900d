//! One published result.

use retrial_mlperf::ScenarioName;

use crate::evidence::tree::accelerators::Accelerators;

/// A published result: a row of a table, or a verdict on another tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PublishedResult {
    /// The public id, `6.0-0002`.
    pub id: Option<String>,
    /// The division as the table spells it, in small letters: a name that no [`Division`] has is of no result.
    ///
    /// [`Division`]: retrial_mlperf::Division
    pub division: Option<String>,
    /// The name of its submitter.
    pub submitter: Option<String>,
    /// The system's folder.
    pub platform: Option<String>,
    /// The system's name.
    pub system: Option<String>,
    /// The benchmark, by the submitter's name.
    pub benchmark: String,
    /// The benchmark, by the suite's name.
    pub official: Option<String>,
    pub scenario: ScenarioName,
    /// The published figure, in `unit`.
    pub value: f64,
    /// Its unit, in small letters: `tokens/s`, `ms`.
    pub unit: String,
    /// Its accuracy, as printed.
    pub accuracy: Option<String>,
    /// Its path in the tree: `closed/AMD/results/…`.
    pub location: Option<String>,
    /// Its round: `v6.0`.
    pub round: Option<String>,
    /// A page on its system's results.
    pub details: Option<String>,
    /// The accelerators of its system; none where the table names none.
    pub accelerators: Option<Accelerators>,
    /// `available`, `preview` or `rdi`, as the table spells it.
    pub availability: Option<String>,
    /// The software, as the submitter names it.
    pub software: Option<String>,
    /// Whether the checker inferred the scenario's figure from another scenario's run.
    pub is_inferred: bool,
    /// Whether the checker found errors in it.
    pub has_errors: bool,
}

impl PublishedResult {
    pub fn is_of_system(&self, name: &str) -> bool {
        let is = |field: &Option<String>| field.as_deref() == Some(name);
        is(&self.platform) || is(&self.system)
    }

    pub fn describe_source(&self, table: &str) -> String {
        match (&self.id, &self.submitter, &self.platform) {
            (Some(id), ..) => id.clone(),
            (None, Some(submitter), Some(system)) => format!("{table}: {submitter} {system}"),
            _ => table.to_owned(),
        }
    }
}

/// Returns a unit as tables print it, `Latency (ms)` or `Tokens/s`, as ours.
pub(crate) fn parse_unit(printed: &str) -> String {
    let inside = printed
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'))
        .map_or(printed, |(inside, _)| inside);
    inside.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_units_are_parsed() {
        assert_eq!(parse_unit("Latency (ms)"), "ms");
        assert_eq!(parse_unit("Tokens/s"), "tokens/s");
        assert_eq!(parse_unit("Latency (s)"), "s");
    }
}
