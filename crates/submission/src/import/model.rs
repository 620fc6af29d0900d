//! A published result as a recipe needs it.

use super::ImportableResult;
use retrial_import::Draft;

/// A benchmark on a system, as it was published.
#[derive(Debug, Clone)]
pub struct PublishedSubmission<'i> {
    /// `v6.0`, if it is known.
    pub round: Option<&'i str>,
    /// The benchmark and the system.
    pub entry: &'i ImportableResult<'i>,
    /// The path of its results below the tree's root.
    pub path: String,
    /// The URLs and paths where it was published.
    pub sources: Vec<String>,
    /// The published scenarios, in LoadGen's order.
    pub scenarios: Vec<PublishedScenario>,
    /// The container, by a README's `docker run`.
    pub container: Option<DraftedContainer>,
}

impl PublishedSubmission<'_> {
    /// Returns what its commands write.
    pub(crate) fn outputs_noun(&self) -> &'static str {
        if self.scenarios.iter().any(|one| one.is_from_endpoint) {
            "the client's reports"
        } else {
            "LoadGen's logs"
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct PublishedScenario {
    /// The scenario's name: `Offline`.
    pub name: String,
    /// The scenario from whose run its figure was inferred, if it was not measured itself: edge results
    /// may be inferred.
    pub inferred_from: Option<&'static str>,
    /// It was measured at an endpoint, by MLCommons' client in place of `LoadGen`.
    pub is_from_endpoint: bool,
    /// The published performance figure; none if its log has none.
    pub performance: Option<PublishedFigure>,
    /// Its accuracy; empty if there is no accuracy run.
    pub accuracy: Vec<PublishedFigure>,
    pub settings: PublishedSettings,
    /// The commands of its README.
    pub commands: Option<DraftedCommands>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct PublishedSettings {
    /// The target rate, queries per second.
    pub target_qps: Option<f64>,
    pub min_duration_ms: Option<u64>,
    /// The file that states them: `user.conf`, or the log.
    pub source: &'static str,
}

/// A figure that a recipe expects, with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedFigure {
    /// The name that a recipe gives the figure: `tokens_per_second`.
    pub figure: String,
    /// Its value, in `unit`.
    pub value: f64,
    /// The unit of `value`: `tokens/s`.
    pub unit: String,
    /// The id of its row, else the submitter and the system.
    pub source: String,
    /// The figures of other submitters, in the same unit.
    pub third_party_figures: Vec<OtherSubmitterFigure>,
}

/// A figure that another submitter published.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherSubmitterFigure {
    /// The figure's value, in the unit of the figure with which it is listed.
    pub value: f64,
    /// The id of its row and the submitter: `6.0-0020 Dell`.
    pub source: String,
}

/// A container, as a README's block starts it.
#[derive(Debug, Clone)]
pub struct DraftedContainer {
    /// The README, below the tree's root.
    pub readme: String,
    /// The number of other blocks that start a container.
    pub other_blocks: usize,
    /// The container that the block describes.
    pub draft: Draft,
}

/// Commands, as a README's blocks have them.
#[derive(Debug, Clone, PartialEq)]
pub struct DraftedCommands {
    /// The README, below the tree's root.
    pub readme: String,
    /// The commands of the performance run.
    pub performance: Option<String>,
    /// The commands of the accuracy run.
    pub accuracy: Option<String>,
}
