//! Published figures to compare with: a round's table of results, or what was judged elsewhere
//! (another tree, a run of ours).

mod result;
mod table;

use std::path::Path;

use super::ScenarioFolder;
use retrial_mlperf::{Division, ScenarioName};
use retrial_readings::units;
use retrial_recipe::model::{Claim, Expectation, ExpectationKind};
use retrial_store::files::parent_directory;

pub use result::PublishedResult;
pub use table::TableError;

/// A round's table of results, as `MLCommons` publishes it in the root of the round's tree.
pub const ROUND_TABLE: &str = "summary_results.json";

/// The largest table that is read: v5.1's has 2 MB.
const MAX_TABLE_BYTES: u64 = 256 << 20;

/// Published figures to compare with, and which of them are meant.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PublishedFigures {
    /// The table's or the tree's name, as it was given.
    pub name: String,
    pub rows: Vec<PublishedResult>,
    /// The system whose rows are meant for every result, whatever its own is.
    pub system: Option<String>,
    /// The one row that is meant, by its id.
    pub id: Option<String>,
}

/// The properties by which the published rows of a result are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultKey<'a> {
    /// `closed`, where it is known.
    pub division: Option<Division>,
    /// The submitter, likewise.
    pub submitter: Option<&'a str>,
    /// The system's folder, likewise.
    pub system: Option<&'a str>,
    /// The benchmark, by the submitter's name.
    pub benchmark: &'a str,
    /// The benchmark, by the suite's name.
    pub official: &'a str,
    pub scenario: &'a ScenarioName,
}

impl PublishedFigures {
    /// Reads a table: JSON as `MLCommons` publishes it, a CSV as its checker writes it, or what
    /// `judge --output json` says.
    ///
    /// # Errors
    /// If the file cannot be read, or has no rows of results.
    pub fn from_file(path: &Path) -> Result<Self, TableError> {
        let name = path.file_name().map_or(path, Path::new);
        let bytes =
            retrial_store::open::read_beneath(parent_directory(path), name, MAX_TABLE_BYTES)?;
        Ok(Self {
            name: name.display().to_string(),
            rows: table::parse_rows(&bytes, path)?,
            ..Self::default()
        })
    }

    /// Returns the published figure of a place, in this unit.
    pub fn expectation_of_place(&self, place: &ScenarioFolder, unit: &str) -> Option<Expectation> {
        self.expectation(&key_of_place(place, &place.scenario_name()), unit)
    }

    /// Returns the row of a place: of a system that is listed for datacenter and edge, the first of two.
    pub fn row_of_place(&self, place: &ScenarioFolder) -> Option<&PublishedResult> {
        let rows = self.matching_rows(&key_of_place(place, &place.scenario_name()));
        rows.first().copied()
    }

    /// Returns whether what was published for a place is of another system.
    pub fn is_of_other_system(&self, place: &ScenarioFolder) -> bool {
        let scenario = place.scenario_name();
        let rows = self.matching_rows(&key_of_place(place, &scenario));
        rows.iter().any(|row| !row.is_of_system(&place.system))
    }

    /// Returns the one published figure that is meant, in this unit; `None` where there is none, or where
    /// there are several and none can be chosen.
    pub fn expectation(&self, key: &ResultKey<'_>, unit: &str) -> Option<Expectation> {
        let rows = self.matching_rows(key);
        let [row] = rows[..] else {
            return None;
        };
        // Queries, samples and tokens are not one another, but v4.1's table calls all of Server's
        // rates queries per second.
        let factor = units::conversion_factor(&row.unit, unit).or_else(|| {
            let rates = row.unit.ends_with("/s") && unit.ends_with("/s");
            rates.then_some(1.0)
        })?;
        Some(Expectation {
            value: row.value * factor,
            kind: ExpectationKind::Official,
            source: Some(row.describe_source(&self.name)),
            sigma: None,
            noise: None,
            margin: None,
            claim: Claim::default(),
        })
    }

    pub fn matching_rows(&self, key: &ResultKey<'_>) -> Vec<&PublishedResult> {
        let same = |row: &&PublishedResult| {
            row.scenario == *key.scenario
                && (row.benchmark == key.benchmark
                    || row.benchmark == key.official
                    || row.official.as_deref() == Some(key.official))
        };
        let rows = self.rows.iter().filter(same);
        if let Some(id) = &self.id {
            return rows.filter(|row| row.id.as_ref() == Some(id)).collect();
        }
        if let Some(system) = &self.system {
            return rows.filter(|row| row.is_of_system(system)).collect();
        }
        let alike = |key: Option<&str>, row: &Option<String>| match (key, row) {
            (Some(key), Some(row)) => key.eq_ignore_ascii_case(row),
            _ => true,
        };
        rows.filter(|row| {
            alike(key.division.map(Division::word), &row.division)
                && alike(key.submitter, &row.submitter)
                && key.system.is_none_or(|system| row.is_of_system(system))
                && (row.benchmark == key.benchmark || key.system.is_none())
        })
        .collect()
    }
}

fn key_of_place<'a>(place: &'a ScenarioFolder, scenario: &'a ScenarioName) -> ResultKey<'a> {
    let submitter = &place.submitter;
    let official = submitter.names.get(&place.benchmark);
    ResultKey {
        division: Some(submitter.division),
        submitter: Some(&submitter.name),
        system: Some(&place.system),
        benchmark: &place.benchmark,
        official: official.unwrap_or(&place.benchmark),
        scenario,
    }
}
