//! What was found of a bundle: its signature, its files, and the verdict that its logs give again.

use schemars::JsonSchema;
use serde::Serialize;

use super::found::Differences;
use crate::results::verdict::{ExitCode, Outcome, Verdict};

/// What was found of a bundle.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Verification {
    /// Version of this document.
    pub schema: u32,
    /// The archive.
    pub file: String,
    /// SHA-256 of the archive: its name wherever it is quoted.
    pub sha256: String,
    /// The run.
    pub run: Option<String>,
    /// Sums, signature and verdict are as they must be.
    pub verified: bool,
    /// Why not.
    pub problems: Vec<String>,
    /// Which files are not those of the manifest, where the archive was packed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differences: Option<Differences>,
    /// Who signed it.
    pub signature: SignatureState,
    /// What its logs say; none where they were not asked, since something was wrong before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
    /// What the process exits with.
    pub exit_code: ExitCode,
}

/// Who signed a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum SignatureState {
    /// Nobody: whoever changed it can have made it.
    Unsigned,
    /// Not known: the archive is not as it was packed, or the signature is of something else.
    Invalid,
    /// A key; whose it is was not asked.
    NotChecked {
        /// Its fingerprint.
        key: String,
    },
    /// A key that may sign.
    Allowed {
        /// Its fingerprint.
        key: String,
        /// Whose it is.
        principals: String,
    },
    /// A key that may not.
    NotAllowed {
        /// Its fingerprint.
        key: String,
        /// Why.
        reason: String,
    },
}

/// The verdict of a bundle's logs next to the one that it came with.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Judged {
    /// Its files, each as in the manifest.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// The outcome that it came with.
    pub said: Outcome,
    /// The outcome of its logs, by the rules in the bundle.
    pub by_bundle: Outcome,
    /// The outcome by the rules that this program knows.
    pub by_program: Outcome,
    /// How these rules compare.
    pub rules: Rules,
    /// How the verdicts differ.
    pub differences: Vec<String>,
    /// The recipe next to the built-in one of its name.
    pub recipe: Recipe,
    /// Where the statement says something else than the run's files.
    pub statement_differs: Vec<String>,
    /// The image.
    pub image: Image,
    /// On what each part of the verdict rests.
    pub basis: Vec<Basis>,
    /// What a run has, and this one has not.
    pub missing: Vec<String>,
    /// The program that made the bundle: version and SHA-256.
    pub tool: super::statement::Tool,
    /// The verdict of its logs, by the rules in the bundle.
    pub verdict: Verdict,
}

/// The rules of the round in a bundle next to those that this program knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Rules {
    /// The run is judged by none.
    None,
    /// They are the same.
    Same {
        /// Which.
        name: String,
    },
    /// They are not.
    Differ {
        /// Which.
        name: String,
    },
    /// This program knows none of that round.
    Unknown {
        /// Which.
        name: String,
    },
}

/// A recipe next to the built-in one of its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Recipe {
    /// It is the built-in one, with the run's settings.
    Same {
        /// Its name.
        name: String,
    },
    /// It is another.
    Differs {
        /// Its name.
        name: String,
        /// Lines that differ: those of the bundle with `+`, the built-in ones with `-`.
        diff: Vec<String>,
    },
    /// No recipe of its name is built in.
    NotBuiltIn {
        /// Its name.
        name: String,
    },
}

/// The image of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Image {
    /// As the plan names it.
    pub name: String,
    /// A digest fixed its content.
    pub pinned: bool,
    /// What ran, as the run's journal says.
    pub digests: Vec<String>,
}

/// What a part of a run's evidence is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Basis {
    /// `raw`: judged again; `declared`: taken as it is.
    pub kind: BasisKind,
    /// Which files.
    pub path: String,
    /// How many.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// What they say.
    pub what: &'static str,
}

/// Whether evidence was judged again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BasisKind {
    /// Logs that were judged again.
    Raw,
    /// What the machine said of itself.
    Declared,
}
