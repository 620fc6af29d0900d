//! The verification of a bundle: its signature, its files, and the verdict on its logs.

use schemars::JsonSchema;
use serde::Serialize;

use super::differences::BundleDifferences;
use retrial_plan::difference::PlanDifference;
use retrial_results::verdict::{ExitCode, Outcome, Verdict};

/// The verification of a bundle.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Verification {
    /// Version of this document.
    pub schema: u32,
    /// The path of the archive on the command line.
    pub file: String,
    /// SHA-256 of the archive: its name wherever it is quoted.
    pub sha256: String,
    /// The id of the run; none if the head of the archive cannot be read.
    pub run: Option<String>,
    /// Whether checksums, signature and verdict are correct.
    pub verified: bool,
    /// The reasons, if it is not verified.
    pub problems: Vec<String>,
    /// Files that differ from the manifest, if the archive was repacked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differences: Option<BundleDifferences>,
    /// The state of the archive's signature.
    pub signature: SignatureState,
    /// The verdict of its logs; none if an earlier check failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<Rejudgement>,
    /// The exit code of the process.
    pub exit_code: ExitCode,
}

/// The signature of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SignatureState {
    /// Unsigned: anybody can have made or changed it.
    Unsigned,
    /// Invalid: the archive was changed, or the signature is of another file.
    Invalid,
    /// Signed by a key; no list of signers was given.
    NotChecked {
        /// The fingerprint of the key: `SHA256:…`.
        key: String,
    },
    /// Signed by a key in the list of signers.
    Allowed {
        /// The fingerprint of the key: `SHA256:…`.
        key: String,
        /// The names of the key's owner in the list of signers.
        principals: String,
    },
    /// Signed by a key that is not allowed.
    NotAllowed {
        /// The fingerprint of the key: `SHA256:…`.
        key: String,
        /// Why the list of signers does not allow the key.
        reason: String,
    },
}

/// The verdict recomputed from a bundle's logs, and the recorded one.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Rejudgement {
    /// The number of files in the bundle.
    pub files: usize,
    /// The total size of these files, bytes.
    pub bytes: u64,
    /// The outcome that verdict.json of the bundle records.
    pub recorded: Outcome,
    /// The outcome recomputed with the rules in the bundle.
    pub by_bundle: Outcome,
    /// The outcome recomputed with the rules of this program.
    pub by_program: Outcome,
    /// Whether the rules in the bundle are those of this program.
    pub rules: RulesComparison,
    /// Differences between the recorded and the recomputed verdict.
    pub differences: Vec<String>,
    /// The plan compared with the one that follows from its recipe.
    pub plan: PlanComparison,
    /// The recipe compared with the built-in one of its name.
    pub recipe: RecipeComparison,
    /// Contradictions between the statement and the run's files.
    pub statement_differs: Vec<String>,
    /// The image that the run used.
    pub image: VerifiedImage,
    /// The evidence for each part of the verdict.
    pub basis: Vec<VerdictBasis>,
    /// Files of a run that are missing.
    pub missing: Vec<String>,
    /// The program that made the bundle: version and SHA-256.
    pub tool: super::statement::Tool,
    /// The verdict of its logs, by the rules in the bundle.
    pub verdict: Verdict,
}

/// The rules of the round in a bundle compared with those of this program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RulesComparison {
    /// The run is not judged by rules of a round.
    None,
    /// Both have the same rules.
    Same {
        /// The name of the rules.
        name: String,
    },
    /// The rules of the bundle differ from those of this program.
    Differ {
        /// The name of the rules.
        name: String,
    },
    /// This program has no rules of that round.
    Unknown {
        /// The name of the rules.
        name: String,
    },
}

/// A plan compared with the one that its recipe gives with the recorded settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PlanComparison {
    /// It is the same: expectations, limits, image, commands, everything.
    Derived,
    /// The recorded plan has other values than the derived one.
    Differs {
        /// The values that differ; of very many, the first.
        differences: Vec<PlanDifference>,
    },
    /// It cannot be derived again: a file is missing, or is of another version of the program.
    NotDerived {
        /// Why the plan cannot be derived.
        reason: String,
    },
}

/// A recipe compared with the built-in one of its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RecipeComparison {
    /// It equals the built-in one, with the run's settings.
    Same {
        /// The name of the recipe.
        name: String,
    },
    /// The recipe differs from the built-in one.
    Differs {
        /// The name of the recipe.
        name: String,
        /// Lines that differ: those of the bundle with `+`, the built-in ones with `-`.
        diff: Vec<String>,
    },
    /// There is no built-in recipe of its name.
    NotBuiltIn {
        /// The name of the recipe.
        name: String,
    },
}

/// The image of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerifiedImage {
    /// The reference in the plan.
    pub name: String,
    /// Whether a digest pins its content.
    pub pinned: bool,
    /// The digest that ran, from the run's journal.
    pub digests: Vec<String>,
}

/// The basis of a part of the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerdictBasis {
    /// `raw`: judged again; `declared`: accepted as stated.
    pub kind: BasisKind,
    /// A file of the run, or a directory (`results/`).
    pub path: String,
    /// The number of files at this path.
    pub files: usize,
    /// The total size of these files, bytes.
    pub bytes: u64,
    /// What these files are evidence of: figures, times, host, packages.
    pub what: &'static str,
}

/// Whether evidence was judged again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BasisKind {
    /// Logs from which the verdict was recomputed.
    Raw,
    /// Statements of the machine about itself.
    Declared,
}
