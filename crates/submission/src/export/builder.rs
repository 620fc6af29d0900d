//! An export that is being built: its files, and what is missing of it.

use serde_json::{Map, Value};

use super::choose::RepresentativeTrial;
use super::model::{
    Export, ExportRequest, MissingItem, SourceFile, SourceRun, TreeFile, TreeFileContent,
};
use retrial_mlperf::Division;
use retrial_mlperf::rounds::{Round, SubmissionLayout};
use retrial_mlperf::submission_layout::{ScenarioPaths, SubmitterPaths};

/// The part of a tree that is exported: one submitter's one system.
#[derive(Debug, Clone)]
pub(super) struct SubmittedSystem {
    pub layout: SubmissionLayout,
    pub division: Division,
    pub submitter: String,
    pub system: String,
}

impl SubmittedSystem {
    /// Returns the paths of the submitter's folders.
    pub fn paths(&self) -> SubmitterPaths<'_> {
        SubmitterPaths { division: self.division, submitter: &self.submitter }
    }

    /// Returns the paths of a scenario's folders.
    pub fn scenario<'a>(&'a self, benchmark: &'a str, scenario: &'a str) -> ScenarioPaths<'a> {
        self.paths().scenario(&self.system, benchmark, scenario)
    }
}

/// An export that is being built.
pub(super) struct ExportBuilder<'a> {
    pub runs: &'a [SourceRun],
    pub request: &'a ExportRequest,
    pub round: &'a Round,
    pub tree: SubmittedSystem,
    pub export: Export,
    /// The rows of the README files, in the order of the results.
    pub rows: Vec<String>,
}

impl ExportBuilder<'_> {
    pub fn add_file(&mut self, path: String, content: TreeFileContent) {
        self.export.files.push(TreeFile { path, content });
    }

    pub fn add_text(&mut self, path: String, text: String) {
        self.add_file(path, TreeFileContent::Text(text));
    }

    pub fn add_missing(&mut self, path: &str, item: impl Into<String>, fix: impl Into<String>) {
        self.export.missing.push(MissingItem {
            path: path.to_owned(),
            item: item.into(),
            fix: fix.into(),
        });
    }
}

pub(super) fn trial_file_origin(chosen: &RepresentativeTrial<'_>, name: &str) -> SourceFile {
    SourceFile { run: chosen.index, path: format!("{}/{name}", chosen.files.folder) }
}

/// Renders an object as indented JSON, with a newline at its end.
pub(super) fn to_indented_json(object: Map<String, Value>) -> String {
    format!("{:#}\n", Value::Object(object))
}
