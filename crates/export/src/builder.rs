//! An export that is being built: its files, and what is missing of it.

use serde_json::{Map, Value};

use super::choose::Chosen;
use super::layout::Tree;
use super::model::{Content, Export, ExportRequest, File, Missing, Origin, SourceRun};
use retrial_mlperf::rounds::Round;

/// An export that is being built.
pub(super) struct Builder<'a> {
    pub runs: &'a [SourceRun],
    pub request: &'a ExportRequest,
    pub round: &'a Round,
    pub tree: Tree,
    pub export: Export,
}

impl Builder<'_> {
    pub fn file(&mut self, path: String, content: Content) {
        self.export.files.push(File { path, content });
    }

    pub fn text(&mut self, path: String, text: String) {
        self.file(path, Content::Text(text));
    }

    pub fn missing(&mut self, path: &str, item: impl Into<String>, fix: impl Into<String>) {
        self.export.missing.push(Missing {
            path: path.to_owned(),
            item: item.into(),
            fix: fix.into(),
        });
    }
}

/// A file of the chosen trial.
pub(super) fn origin(chosen: &Chosen<'_>, name: &str) -> Origin {
    Origin {
        run: chosen.index,
        path: format!("{}/{name}", chosen.files.folder),
    }
}

/// Renders an object as indented JSON, with a newline at its end.
pub(super) fn json(object: Map<String, Value>) -> String {
    format!("{:#}\n", Value::Object(object))
}
