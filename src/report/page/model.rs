//! What a page is made of: everything was read and judged before.

use crate::batch::verdict::BatchVerdict;
use crate::report::Entry;
use crate::telemetry::Row;
use crate::verdict::comparison::{Comparison, EnvironmentGroup, Fact};

/// A page.
#[derive(Debug, Clone, Default)]
pub struct Page<'a> {
    /// With what and when it was made: `retrial 0.1.0, 2026-11-21 18:40`.
    pub made: String,
    /// What was judged.
    pub subjects: Vec<Subject<'a>>,
    /// They side by side, where they have figures in common.
    pub comparison: Option<&'a Comparison>,
    /// The batch whose cells they are.
    pub batch: Option<&'a BatchVerdict>,
    /// What differs between the places where a batch's cells were measured.
    pub places: Option<Places>,
}

/// Environments side by side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Places {
    /// The columns.
    pub names: Vec<String>,
    /// What differs, by kind.
    pub groups: Vec<EnvironmentGroup>,
}

/// A run, a folder of results or a benchmark of a submission tree.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// What it is called by: a run's id, a path.
    pub name: String,
    /// Its verdict, and where its evidence lies.
    pub entry: Entry<'a>,
    /// What was seen of GPUs and container.
    pub telemetry: Vec<Row>,
    /// Where it was measured.
    pub environment: Vec<Fact>,
    /// The plan as a script.
    pub commands: Option<String>,
    /// Its steps.
    pub steps: Vec<Step>,
    /// The runs that a cell of a batch is made of.
    pub runs: Vec<RunOfCell>,
}

impl<'a> Subject<'a> {
    /// A verdict of which nothing else is known.
    #[must_use]
    pub fn new(name: impl Into<String>, entry: Entry<'a>) -> Self {
        Self {
            name: name.into(),
            entry,
            telemetry: Vec::new(),
            environment: Vec::new(),
            commands: None,
            steps: Vec::new(),
            runs: Vec::new(),
        }
    }
}

/// A run of a cell of a batch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunOfCell {
    /// Its id.
    pub name: String,
    /// Which trial.
    pub trial: u32,
    /// Why it gave no evidence, if it gave none.
    pub lost: Option<String>,
    /// Its directory, from where the page lies.
    pub path: Option<String>,
}

/// A step of a run, and its log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// From 1.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// How it ended: `done`, `exit code 1`.
    pub ended: String,
    /// Whether that is bad news.
    pub failed: bool,
    /// How long it took, seconds.
    pub seconds: Option<f64>,
    /// Its log, from where the page lies.
    pub log: Option<String>,
    /// Its last lines, where they tell something.
    pub tail: Vec<String>,
}
