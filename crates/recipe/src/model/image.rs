//! The image of a recipe: pulled, or built.

use retrial_document::{Field, FieldType as T, Node, Scope, object};
use std::collections::BTreeMap;
use std::fmt;

use itertools::join;
use retrial_container::ImageRef;
use serde::{Deserialize, Serialize};

use crate::formats;
use crate::param_setting::ImageSetting;

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
        /// The image of the published figures: in another one, which a variant has, the verdict is `modified`.
        published: Option<String> = T::Text(formats::IMAGE),
        /// Versions of what the image contains, by name: {rocm: 7.2.4, torch: 2.10.0}.
        contains: BTreeMap<String, String> = T::Map(formats::FILLED, &T::Text(formats::FILLED)),
        /// The image that `--image` gave in its place. Written by retrial into a run's recipe.yaml.
        set: Option<String> = T::Text(formats::IMAGE),
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
        /// Build arguments of `--build-arg`. Written by retrial into a run's recipe.yaml.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        set: BTreeMap<String, String> = T::Map(formats::VARIABLE, &T::Scalar(Scope::DOCUMENT)),
    }
}

impl WrittenImage {
    fn from_reference(text: &str) -> Self {
        Self { reference: text.to_owned(), ..Self::default() }
    }

    /// Returns the image without what the command line gave.
    fn published(self) -> Image {
        if let Some(build) = self.build {
            return Image::Build(ImageBuild { set: BTreeMap::new(), ..build });
        }
        // `name:tag@sha256:…` says with one text what `{ref, digest}` says with two.
        let mut reference = self.reference;
        let parsed = ImageRef::parse(&reference).ok();
        let inline = parsed.and_then(|parsed| parsed.digest);
        if let Some(digest) = &inline {
            reference.truncate(reference.len() - digest.len() - "@".len());
        }
        Image::Pull { reference, digest: self.digest.or(inline), built_by: self.built_by }
    }
}

impl ImageBuild {
    /// Returns the arguments of the recipe, replaced by those of the command line.
    pub fn arguments(&self) -> BTreeMap<String, String> {
        let mut arguments = self.args.clone();
        arguments.extend(self.set.clone());
        arguments
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

    /// Returns whether the other image has the same name, and no other digest.
    fn is_named_as(&self, other: &Self) -> bool {
        let (Self::Pull { reference, digest, .. }, Self::Pull { reference: name, digest: pin, .. }) =
            (self, other)
        else {
            return false;
        };
        reference == name && (digest.is_none() || digest == pin)
    }
}

/// The reference, or the Dockerfile of the build and its arguments.
impl fmt::Display for Image {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Build(build) = self else {
            return formatter.write_str(&self.reference().unwrap_or_default());
        };
        write!(formatter, "{}/{}", build.context.trim_end_matches('/'), build.dockerfile)?;
        let arguments = build.arguments();
        if arguments.is_empty() {
            return Ok(());
        }
        let assignments = arguments.iter().map(|(name, value)| format!("{name}={value}"));
        write!(formatter, " ({})", join(assignments, ", "))
    }
}

impl Field for Image {
    const TYPE: T = WrittenImage::TYPE;

    fn from_node(node: &Node, shape: &T) -> Option<Self> {
        let written = WrittenImage::from_node(node, shape)?;
        Some(match (&written.set, written.build) {
            (Some(set), _) => WrittenImage::from_reference(set).published(),
            (None, Some(build)) => Self::Build(build),
            (None, build) => WrittenImage { build, ..written }.published(),
        })
    }
}

/// Returns the image of the published figures, where the recipe's is another.
pub fn other_published_image(recipe: &Node) -> Option<String> {
    let written = WrittenImage::from_node(recipe.get("image")?, &WrittenImage::TYPE)?;
    let published = written.published.clone().filter(|_| written.set.is_none())?;
    let image = WrittenImage::from_reference(&published).published();
    (!image.is_named_as(&written.published())).then_some(published)
}

/// Returns the versions of what the image contains, by name, as far as the recipe states them.
pub fn image_contents(recipe: &Node) -> BTreeMap<String, String> {
    let image = recipe.get("image").filter(|image| image.get("set").is_none());
    let written = image.and_then(|image| WrittenImage::from_node(image, &WrittenImage::TYPE));
    written.map(|written| written.contains).unwrap_or_default()
}

/// A setting of the command line that replaces an image, or an argument of its build.
pub struct ReplacedImage {
    /// `image`, `image.SERVICE` or `build_arg.NAME`.
    pub name: String,
    /// The value that was given.
    pub value: String,
    /// What the recipe has in its place; none where that is the same.
    pub published: Option<String>,
}

/// Returns the settings of images in a validated recipe.
pub fn replaced_images(recipe: &Node) -> Vec<ReplacedImage> {
    let services = recipe.present_entries_at("services").filter_map(|(name, service)| {
        let image = service.descendant(&["container", "image"])?;
        Some((ImageSetting::ServiceImage(name), image))
    });
    let own = recipe.get("image").map(|image| (ImageSetting::Image, image));
    let images = own.into_iter().chain(services).filter_map(|(setting, node)| {
        let value = node.text_at("set")?.to_owned();
        let written = WrittenImage::from_node(node, &WrittenImage::TYPE)?;
        let other = written.published.as_deref().map(WrittenImage::from_reference);
        let published = other.unwrap_or(written).published();
        let is_same = published.is_named_as(&WrittenImage::from_reference(&value).published());
        let published = (!is_same).then(|| published.to_string());
        Some(ReplacedImage { name: setting.name(), value, published })
    });
    let build = recipe.descendant(&["image", "build"]);
    let written = |name: &str| build?.get("args")?.text_at(name);
    let set = build.into_iter().flat_map(|build| build.present_entries_at("set"));
    let arguments = set.filter_map(|(name, value)| {
        let value = value.text()?.to_owned();
        let published = written(name).unwrap_or("the Dockerfile's default");
        let published = (published != value).then(|| published.to_owned());
        Some(ReplacedImage { name: ImageSetting::BuildArg(name).name(), value, published })
    });
    images.chain(arguments).collect()
}
