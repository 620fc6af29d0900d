//! The statement that is signed: an in-toto statement with the predicate test-result, about the manifest. What in
//! it is not in the predicate's specification is below a key of ours, as in-toto has extensions.
//! (<https://in-toto.io/Statement/v1>, <https://in-toto.io/attestation/test-result/v0.1>)

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::BundleError;
use super::hashing::sha256_hex;
use super::head::STATEMENT_FILE;
use super::manifest;
use retrial_plan::Plan;
use retrial_results::verdict::{Outcome, Qualifier, Reference, Verdict};
use retrial_store::journal::{Event, EventKind};

pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
pub const PREDICATE_TYPE: &str = "https://in-toto.io/attestation/test-result/v0.1";

/// A statement about a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Statement {
    /// The type of an in-toto statement: [`STATEMENT_TYPE`].
    #[serde(rename = "_type")]
    pub of_type: String,
    /// The manifest, and nothing else.
    pub subject: Vec<ResourceDescriptor>,
    /// The type of what is stated of the run: [`PREDICATE_TYPE`].
    pub predicate_type: String,
    pub predicate: TestResult,
}

/// A file, an image, a model or rules, by name and hash.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceDescriptor {
    /// The name: `recipe llama2`, `image rocm/vllm`, `model meta-llama/Llama-2-70b`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The address of a model on the hub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Its hashes by algorithm, hexadecimal.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub digest: BTreeMap<String, String>,
}

impl ResourceDescriptor {
    /// A resource with one hash, unless it is empty.
    fn new(name: impl Into<String>, algorithm: &str, sum: &str) -> Self {
        let sum = Some(sum).filter(|sum| !sum.is_empty());
        Self {
            name: Some(name.into()),
            uri: None,
            digest: sum.map(|sum| (algorithm.to_owned(), sum.to_owned())).into_iter().collect(),
        }
    }
}

/// The subject of a statement: the manifest.
fn manifest_resource(manifest: &[u8]) -> ResourceDescriptor {
    ResourceDescriptor::new(manifest::MANIFEST_FILE, "sha256", &sha256_hex(manifest))
}

/// The predicate test-result of in-toto: the outcome, and what was run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestResult {
    /// The run's outcome in the predicate's words.
    pub result: TestStatus,
    /// The recipe, rules, images and models.
    pub configuration: Vec<ResourceDescriptor>,
    /// Figures that were reproduced, or for which nothing was published.
    pub passed_tests: Vec<String>,
    /// Figures whose evidence is inconclusive.
    pub warned_tests: Vec<String>,
    /// Figures that were not reproduced, are invalid or failed.
    pub failed_tests: Vec<String>,
    /// The result in Retrial's terms, an extension of the predicate.
    #[serde(rename = "urn:retrial:run:v1")]
    pub run: RunResult,
}

/// The predicate's words for a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum TestStatus {
    /// Reproduced, or measured if nothing was published.
    Passed,
    /// The evidence is inconclusive.
    Warned,
    /// Not reproduced, invalid or failed.
    Failed,
}

/// The result of a run in Retrial's terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    pub id: String,
    /// The time of the first start in the run's journal; none if it has none.
    pub started: Option<Timestamp>,
    /// Its outcome in Retrial's words.
    pub outcome: Outcome,
    pub qualifiers: Vec<Qualifier>,
    /// Every judged figure, and the deciding figure of each result without one.
    pub figures: Vec<StatementFigure>,
    /// The program that made the bundle.
    pub tool: Tool,
    /// `MLCommons`' trademark notice, if the figures are `MLPerf`'s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A judged figure, or one for which nothing was published. The statement is signed: it has a form of its own, which
/// does not change with that of verdicts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatementFigure {
    /// Scenario, mode and figure: as in the lists of tests.
    pub name: String,
    /// The measured value, aggregated over the trials; none if the figure is missing.
    pub value: Option<f64>,
    /// The unit of both values, such as `tokens/s`; empty if the figure has none.
    pub unit: String,
    /// The published value that it was compared with.
    pub published: Option<f64>,
    /// The measured over the published value; above 1 is better.
    pub ratio: Option<f64>,
    pub outcome: Outcome,
}

/// The build of retrial that made a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// The version of the program: `0.1.0`.
    pub version: String,
    /// SHA-256 of the program's executable, hexadecimal.
    pub sha256: String,
}

impl From<Outcome> for TestStatus {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Reproduced | Outcome::Measured => Self::Passed,
            Outcome::Inconclusive | Outcome::Running => Self::Warned,
            Outcome::NotReproduced | Outcome::Invalid | Outcome::Failed => Self::Failed,
        }
    }
}

/// The sources of a statement, in addition to the manifest.
#[derive(Debug, Clone, Copy)]
pub struct StatementSources<'a> {
    /// The plan of the run (`plan.json`).
    pub plan: &'a Plan,
    /// The verdict on the run (`verdict.json`).
    pub verdict: &'a Verdict,
    /// The events of the run (`journal.jsonl`).
    pub events: &'a [Event],
}

impl Statement {
    /// Makes the statement about a run whose manifest has this text.
    pub fn new(facts: StatementSources<'_>, run: &str, manifest: &[u8], tool: Tool) -> Self {
        let figures = judged_figures(facts.verdict);
        let tests_with = |word: TestStatus| -> Vec<String> {
            let tests = figures.iter().filter(|figure| TestStatus::from(figure.outcome) == word);
            tests.map(|figure| figure.name.clone()).collect()
        };
        let started = facts.events.iter().find_map(|event| match &event.what {
            EventKind::RunStarted { .. } => Some(event.time),
            _ => None,
        });
        Self {
            of_type: STATEMENT_TYPE.to_owned(),
            subject: vec![manifest_resource(manifest)],
            predicate_type: PREDICATE_TYPE.to_owned(),
            predicate: TestResult {
                result: facts.verdict.outcome.into(),
                configuration: configuration_resources(facts),
                passed_tests: tests_with(TestStatus::Passed),
                warned_tests: tests_with(TestStatus::Warned),
                failed_tests: tests_with(TestStatus::Failed),
                run: RunResult {
                    id: run.to_owned(),
                    started,
                    outcome: facts.verdict.outcome,
                    qualifiers: facts.verdict.qualifiers.clone(),
                    figures,
                    tool,
                    notice: facts.verdict.notice.clone(),
                },
            },
        }
    }

    /// Returns the text that is signed: JSON with a fixed order of keys.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn to_canonical_json(&self) -> Result<String, BundleError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Reads a statement, which must be about this manifest, and in the form that [`Statement::to_canonical_json`] has.
    ///
    /// # Errors
    /// If its type or its manifest differs, or its text is not canonical.
    pub fn parse(text: &[u8], manifest: &[u8]) -> Result<Self, BundleError> {
        let wrong = |reason: &str| BundleError::Malformed(format!("{STATEMENT_FILE}: {reason}"));
        let statement: Self =
            serde_json::from_slice(text).map_err(|error| wrong(&error.to_string()))?;
        // Unknown and duplicate keys, at any depth, would be signed without being read.
        if statement.to_canonical_json()?.as_bytes() != text {
            return Err(wrong("it has keys or a form that `runs pack` does not write"));
        }
        if statement.of_type != STATEMENT_TYPE || statement.predicate_type != PREDICATE_TYPE {
            return Err(wrong("it has a different type"));
        }
        if statement.subject != [manifest_resource(manifest)] {
            return Err(wrong("it refers to a different manifest"));
        }
        Ok(statement)
    }
}

/// Every judged figure, and the deciding figure of each result without one.
fn judged_figures(verdict: &Verdict) -> Vec<StatementFigure> {
    let mut figures = Vec::new();
    for result in &verdict.results {
        let name = |figure: &str| format!("{} {} {figure}", result.scenario, result.mode);
        if result.judgements.is_empty() {
            let deciding = result.deciding.as_deref();
            let value = deciding.and_then(|name| result.figures.get(name));
            figures.push(StatementFigure {
                name: name(deciding.unwrap_or("validity")),
                value: value.map(|value| value.value),
                unit: value.map_or_else(String::new, |value| value.unit.clone()),
                published: None,
                ratio: None,
                outcome: result.outcome,
            });
        }
        for judgement in &result.judgements {
            let decides = Reference::find_deciding(&judgement.references);
            let measured = judgement.measured.as_ref();
            figures.push(StatementFigure {
                name: name(&judgement.figure),
                value: measured.map(|value| value.value),
                unit: measured.map_or_else(String::new, |value| value.unit.clone()),
                published: decides.map(|reference| reference.value),
                ratio: judgement.ratio,
                outcome: result.outcome_of(judgement),
            });
        }
    }
    figures
}

/// Recipe, rules, images and models, each with its hash.
fn configuration_resources(facts: StatementSources<'_>) -> Vec<ResourceDescriptor> {
    let plan = facts.plan;
    let recipe = format!("recipe {}", plan.recipe);
    let mut all = vec![ResourceDescriptor::new(recipe, "sha256", &plan.recipe_hash)];
    let mut add = |resource: ResourceDescriptor| {
        if !all.contains(&resource) {
            all.push(resource);
        }
    };
    for rules in plan.measurement_rules() {
        let text = serde_json::to_vec(rules).unwrap_or_default();
        let name = format!("rules {} {} {}", rules.round, rules.benchmark, rules.scenario);
        add(ResourceDescriptor::new(name, "sha256", &sha256_hex(&text)));
    }
    for event in facts.events {
        match &event.what {
            // Built locally or loaded: no registry has it.
            EventKind::Image { id, digests, .. } if digests.is_empty() => {
                let sum = id.strip_prefix("sha256:").unwrap_or(id);
                add(ResourceDescriptor::new("image id", "sha256", sum));
            }
            EventKind::Image { digests, .. } => {
                for image in digests {
                    let (name, sum) = image.split_once("@sha256:").unwrap_or((image, ""));
                    add(ResourceDescriptor::new(format!("image {name}"), "sha256", sum));
                }
            }
            EventKind::ModelResolved { repository, commit, .. } => add(ResourceDescriptor {
                uri: Some(format!("https://huggingface.co/{repository}")),
                ..ResourceDescriptor::new(format!("model {repository}"), "gitCommit", commit)
            }),
            _ => {}
        }
    }
    all
}
