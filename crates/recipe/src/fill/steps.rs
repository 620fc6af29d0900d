//! Models, datasets, setup steps, shared commands, companions.

use std::collections::BTreeMap;

use super::read::Read;
use crate::model::{
    CacheRequest, CachedFile, Companion, CopyFromImage, Model, ModelSource, Place, Setup,
    SharedCommand,
};
use crate::node::Node;
use crate::shape::Units;

pub(super) fn companion(source: &str, target: &Node) -> Option<Companion> {
    Some(Companion {
        source: source.to_owned(),
        target: target.text()?.to_owned(),
    })
}

pub(super) fn copy(node: &Node) -> Option<CopyFromImage> {
    Some(CopyFromImage {
        path: node.string("path")?,
        to: node.string("to")?,
    })
}

pub(super) fn model(node: &Node) -> Option<Model> {
    let source = node.get("source")?;
    Some(Model {
        source: if let Some(repository) = source.string("hub") {
            ModelSource::Hub {
                repository,
                revision: source.string("revision").unwrap_or_else(|| "main".into()),
                allow: source.strings("allow"),
                ignore: source.strings("ignore"),
                locked: BTreeMap::new(),
            }
        } else if let Some(path) = source.template("path") {
            ModelSource::Path(path)
        } else {
            ModelSource::Run(source.template("run")?)
        },
        mount: node.template("mount"),
        hub_cache: node.get("as").is_some(),
        writable: node.strings("writable"),
    })
}

pub(super) fn setup(node: &Node) -> Option<Setup> {
    Some(Setup {
        run: node.template("run")?,
        on: match node.get("on") {
            Some(_) => node.word(
                "on",
                &[("container", Place::Container), ("host", Place::Host)],
            )?,
            None => Place::default(),
        },
        cache: match node.get("cache") {
            Some(cache) => Some(CacheRequest {
                path: cache.template("path")?,
                key: cache.template("key")?,
                files: cache
                    .get("files")
                    .into_iter()
                    .flat_map(Node::named)
                    .map(|(name, file)| {
                        let size = file.size("size", Units::Precise);
                        let sha256 = file.string("sha256").map(|hash| hash.to_ascii_lowercase());
                        Some((name.to_owned(), CachedFile { size, sha256 }))
                    })
                    .collect::<Option<_>>()?,
            }),
            None => None,
        },
        options: node.options(),
        writable: node.truth("writable"),
    })
}

pub(super) fn command(node: &Node) -> Option<SharedCommand> {
    Some(SharedCommand {
        run: node.template("run")?,
        options: node.options(),
    })
}
