//! The image of a recipe: pulled, or built.

use retrial_document::{Field, FieldType as T, Node, Scope, object};
use std::collections::BTreeMap;

use retrial_container::ImageRef;
use serde::{Deserialize, Serialize};

use crate::formats;

/// The source of the image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Image {
    /// Pulled from a registry, or built by a step on the host; with a digest it is exactly that image.
    Pull {
        /// `rocm/amd-mlperf:tag`, without the digest.
        reference: String,
        /// The digest of exactly this image: `sha256:…`.
        digest: Option<String>,
        /// The step of `setup` that builds it on the host: no registry has it, and it is not pulled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        built_by: Option<String>,
    },
    /// Built from a Dockerfile in the recipe's directory.
    Build(ImageBuild),
}

object! {
    /// An image as a recipe has it.
    #[derive(Default)]
    pub struct WrittenImage: "an image", one of "ref", "build", or T::Text(formats::IMAGE) => |text: &str| Some(WrittenImage::from_reference(text));
    keys {
        /// The reference, for example `rocm/amd-mlperf:tag`.
        reference: String [key = "ref"] = T::Text(formats::IMAGE),
        /// The digest of exactly this image: `sha256:…`.
        digest: Option<String> = T::Text(formats::DIGEST),
        /// The step of `setup` with `on: host` that builds it, where no registry has it: it is never pulled.
        built_by: Option<String> = T::Text(formats::NAME),
        /// Build it from a Dockerfile next to the recipe.
        build: Option<ImageBuild>,
    }
}

object! {
    /// A build of an image.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub struct ImageBuild: "a build";
    keys {
        /// The directory, relative to the recipe's.
        context: String [required] = T::Text(formats::RELATIVE_PATH),
        /// The Dockerfile, relative to the context.
        dockerfile: String [default = "Dockerfile"] = T::Text(formats::RELATIVE_PATH),
        /// Build arguments.
        args: BTreeMap<String, String> = T::Map(formats::VARIABLE, &T::Scalar(Scope::DOCUMENT)),
    }
}

impl WrittenImage {
    fn from_reference(text: &str) -> Self {
        Self { reference: text.to_owned(), ..Self::default() }
    }
}

impl Image {
    /// Returns the full reference of an image that is pulled: with its digest, where it has one.
    pub fn reference(&self) -> Option<String> {
        match self {
            Self::Pull { reference, digest: Some(digest), .. } => {
                Some(format!("{reference}@{digest}"))
            }
            Self::Pull { reference, .. } => Some(reference.clone()),
            Self::Build(_) => None,
        }
    }
}

impl Field for Image {
    const TYPE: T = WrittenImage::TYPE;

    fn from_node(node: &Node, shape: &T) -> Option<Self> {
        let written = WrittenImage::from_node(node, shape)?;
        if let Some(build) = written.build {
            return Some(Self::Build(build));
        }
        // `name:tag@sha256:…` says with one text what `{ref, digest}` says with two.
        let mut reference = written.reference;
        let parsed = ImageRef::parse(&reference).ok();
        let inline = parsed.and_then(|parsed| parsed.digest);
        if let Some(digest) = &inline {
            reference.truncate(reference.len() - digest.len() - "@".len());
        }
        Some(Self::Pull {
            reference,
            digest: written.digest.or(inline),
            built_by: written.built_by,
        })
    }
}
