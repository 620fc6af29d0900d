//! Models, datasets, setup steps, shared commands, files.

use retrial_document::{
    ByteUnits, Field, FieldType as T, Keys, Node, OrderedMap, Scope, Word, declare_word, object,
    words,
};
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::{CommandOptions, NEEDS_TYPE, SETUP_OPTIONS};
use super::download::Download;
use super::mode::Mode;
use super::nodes::Placement;
use crate::expression::{RUN_SCOPE, Template};
use crate::formats;

/// A script next to the recipe, mounted read-only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Companion {
    /// The path of the script, relative to the recipe's directory.
    pub source: String,
    /// The path in the container, absolute.
    pub target: String,
}

/// Reads the files next to a recipe.
pub(super) fn read_companions(node: &Node) -> Option<Vec<Companion>> {
    let files = OrderedMap::<String>::from_node(node, &<OrderedMap<String>>::TYPE)?;
    let file = |(source, target)| Companion { source, target };
    Some(files.into_iter().map(file).collect())
}

object! {
    /// A path taken out of the image to the host.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct CopyFromImage: "a copy out of the image";
    keys {
        /// The path in the image, absolute.
        path: String [required] = T::Text(formats::ABSOLUTE_PATH),
        /// The path relative to the run's directory for host files.
        to: String [required] = T::Text(formats::RELATIVE_PATH),
    }
}

object! {
    /// A model and its mount in the container.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Model: "a model";
    keys {
        /// The source of the model: the hub, a directory or a command.
        source: ModelSource [required],
        /// The path in the container, absolute.
        mount: Option<Template> = T::Template(RUN_SCOPE, formats::MOUNT_TARGET),
        /// The form of the mount; none: a directory of real files.
        hub_cache: bool [key = "as", read = read_presence] = T::Words(MODEL_MOUNT_FORMS),
        /// Sub-directories that a setup step writes into.
        writable: Vec<String> = T::List(&T::Text(formats::RELATIVE_PATH), 0),
        /// Statements on the download, shown before it begins.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        download: Option<Download>,
    }
}

const MODEL_MOUNT_FORMS: &[Word] =
    &[declare_word("hub-cache", "Mount the hub's cache, for programs that load by hub id.")];

#[expect(clippy::unnecessary_wraps, reason = "a reader")]
fn read_presence(_: &Node) -> Option<bool> {
    Some(true)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelSource {
    /// The Hugging Face hub.
    Hub {
        /// The repository on the hub: `owner/name`.
        repository: String,
        /// A branch, a tag or a commit.
        revision: String,
        /// Globs of the files to fetch; all if empty.
        allow: Vec<String>,
        /// Globs of the files to skip.
        ignore: Vec<String>,
        /// The hashes of the model's files by path, from a lock; empty without one.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        locked: BTreeMap<String, String>,
    },
    /// A directory of the host.
    Path(Template),
    /// A command in the container that fills the mount.
    Run(Template),
}

object! {
    /// A model's source as a recipe has it.
    pub struct WrittenSource: "a model's source", one of "hub", "path", "run";
    keys {
        /// owner/name on the Hugging Face hub.
        hub: Option<String> = T::Text(formats::HUB_REPOSITORY),
        /// Branch, tag or commit on the hub.
        revision: String [default = "main"] = T::Text(formats::FILLED),
        /// Globs of the files to fetch; none: all.
        allow: Vec<String>,
        /// Globs of the files to skip.
        ignore: Vec<String>,
        /// A directory of the host.
        path: Option<Template> = T::Template(Scope::DOCUMENT, formats::HOST_PATH),
        /// A command in the container that fills the mount.
        run: Option<Template>,
    }
}

impl Field for ModelSource {
    const TYPE: T = WrittenSource::TYPE;

    fn from_node(node: &Node, _: &T) -> Option<Self> {
        let written = WrittenSource::from_keys(node)?;
        if let Some(repository) = written.hub {
            return Some(Self::Hub {
                repository,
                revision: written.revision,
                allow: written.allow,
                ignore: written.ignore,
                locked: BTreeMap::new(),
            });
        }
        let path = written.path.map(Self::Path);
        path.or_else(|| written.run.map(Self::Run))
    }
}

object! {
    /// A dataset or a setup step.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Setup: "a setup step", last SETUP_OPTIONS;
    fields {
        /// Its further settings.
        #[serde(flatten)]
        options: CommandOptions = CommandOptions::from_keys,
    }
    keys {
        /// The command.
        run: Template [required],
        /// The container or the host, of every machine; or the container of the first machine only.
        on: SetupPlace [default = "container"],
        /// A directory that it populates once, and that later runs reuse.
        cache: Option<CacheRequest>,
        /// The cached directory stays writable afterwards.
        writable: bool [default = "false"],
        /// The step is executed only if this mode is measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<Mode>,
        /// The data that the command downloads.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        download: Option<Download>,
    }
}

words! {
    /// Where a dataset's command or a setup step runs.
    #[derive(Default, JsonSchema)]
    pub enum SetupPlace {
        /// In the container, on every machine.
        #[default]
        Container = "container",
        /// On the host, on every machine: needs `--allow host`.
        Host = "host",
        /// In the container of the first machine, where results are checked.
        Head = "head",
    }
}

impl SetupPlace {
    /// Returns where on a machine the step runs.
    pub fn location(self) -> StepLocation {
        match self {
            Self::Container | Self::Head => StepLocation::Container,
            Self::Host => StepLocation::Host,
        }
    }

    /// Returns the machines on which the step runs.
    pub fn placement(self) -> Placement {
        match self {
            Self::Container | Self::Host => Placement::All,
            Self::Head => Placement::Head,
        }
    }
}

/// Where on a machine a step runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepLocation {
    Container,
    Host,
}

object! {
    /// A directory that is populated once and reused by later runs.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct CacheRequest: "a cached directory";
    keys {
        /// The path in the container, absolute.
        path: Template [required] = T::Template(RUN_SCOPE, formats::MOUNT_TARGET),
        /// The name of the cached directory.
        key: Template [required] = T::Template(RUN_SCOPE, formats::CACHE_KEY),
        /// No image decides the content, for example of a download: all images use it.
        any_image: bool [default = "false"],
        /// Files that must exist afterwards, with size and sha256.
        files: OrderedMap<CachedFile> = T::Map(formats::RELATIVE_PATH, &CachedFile::TYPE),
    }
}

object! {
    /// A file of a cached directory.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub struct CachedFile: "a cached file";
    keys {
        /// The size of the file, bytes.
        size: Option<u64> = T::Size(ByteUnits::Precise),
        /// SHA-256 in hexadecimal.
        sha256: Option<String> [read = read_lower_case] = T::Text(formats::SHA256),
    }
}

#[expect(clippy::option_option, reason = "a reader of an optional value")]
fn read_lower_case(node: &Node) -> Option<Option<String>> {
    Some(Some(node.text()?.to_ascii_lowercase()))
}

object! {
    /// A command that several scenarios share.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct SharedCommand: "a shared command", last CommandOptions::KEYS;
    fields {
        /// Its further settings.
        #[serde(flatten)]
        options: CommandOptions = CommandOptions::from_keys,
    }
    keys {
        /// The command.
        run: Template [required],
        /// The machines on which it runs; figures are those of the first.
        on: Placement [default = "head"],
        /// The services that it needs, by name.
        needs: Vec<String> = NEEDS_TYPE,
    }
}
