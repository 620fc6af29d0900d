//! `--set name=value`: a param or an axis of variants; `--image` and `--build-arg` are such settings, too.

use retrial_document::{Source, Span};

pub(super) const IMAGE: &str = "image";
const BUILD_ARG: &str = "build_arg";

/// A `--set name=value` of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamSetting {
    /// The name of a param or of an axis of variants, or `image`, `image.SERVICE`, `build_arg.NAME`.
    pub name: String,
    /// The text after `=`, without expressions.
    pub value: String,
}

impl ParamSetting {
    /// Returns a setting of this name.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }

    /// Parses the value of `--image`: `IMAGE` or `SERVICE=IMAGE`.
    ///
    /// # Errors
    /// Returns an error if the image or the service is empty.
    pub fn parse_image(text: &str) -> Result<Self, InvalidParamSetting> {
        let (setting, image) = match text.split_once('=') {
            Some((service, image)) => (ImageSetting::ServiceImage(service), image),
            None => (ImageSetting::Image, text),
        };
        if text.starts_with('=') || image.is_empty() {
            return Err(InvalidParamSetting { expected: "IMAGE or SERVICE=IMAGE" });
        }
        Ok(Self::new(setting.name(), image))
    }

    /// Parses the value of `--build-arg`: `NAME=VALUE`.
    ///
    /// # Errors
    /// Returns an error if there is no name.
    pub fn parse_build_arg(text: &str) -> Result<Self, InvalidParamSetting> {
        let Self { name, value } = text.parse()?;
        Ok(Self::new(ImageSetting::BuildArg(&name).name(), value))
    }

    /// Returns the option of the command line and its value: `--set`, `batch=8`.
    pub fn to_option(&self) -> (&'static str, String) {
        match ImageSetting::parse(&self.name) {
            Some(setting) => setting.option(&self.value),
            None => ("--set", format!("{}={}", self.name, self.value)),
        }
    }

    /// Returns the span of the setting, in a source of its own.
    pub(super) fn span(&self) -> Span {
        let (option, value) = self.to_option();
        let source = Source::new(option, value);
        source.span(0..source.text.len())
    }

    pub(super) fn name_span(&self) -> Span {
        let whole = self.span();
        match whole.slice().find('=') {
            Some(end) => whole.sub_span(0..end),
            None => whole,
        }
    }

    pub(super) fn value_span(&self) -> Span {
        let whole = self.span();
        whole.sub_span(whole.end - self.value.len()..whole.end)
    }
}

/// Returns whether a value is from the command line, by the path of its source.
pub fn is_option(path: &str) -> bool {
    ["--set", "--image", "--build-arg"].contains(&path)
}

/// A text that is no setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}")]
pub struct InvalidParamSetting {
    expected: &'static str,
}

impl std::str::FromStr for ParamSetting {
    type Err = InvalidParamSetting;

    fn from_str(text: &str) -> Result<Self, InvalidParamSetting> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self::new(name, value)),
            _ => Err(InvalidParamSetting { expected: "NAME=VALUE" }),
        }
    }
}

/// What a setting of an image changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageSetting<'a> {
    /// The recipe's image.
    Image,
    /// The image of a service's own container.
    ServiceImage(&'a str),
    /// An argument of the build of the recipe's image.
    BuildArg(&'a str),
}

impl<'a> ImageSetting<'a> {
    /// Parses the name of a setting; none for that of a param or a variant.
    pub fn parse(name: &'a str) -> Option<Self> {
        match name.split_once('.') {
            None => (name == IMAGE).then_some(Self::Image),
            Some((IMAGE, service)) => Some(Self::ServiceImage(service)),
            Some((BUILD_ARG, argument)) => Some(Self::BuildArg(argument)),
            Some(_) => None,
        }
    }

    /// Returns the name of the setting: `image.server`.
    pub fn name(self) -> String {
        match self {
            Self::Image => IMAGE.to_owned(),
            Self::ServiceImage(service) => format!("{IMAGE}.{service}"),
            Self::BuildArg(argument) => format!("{BUILD_ARG}.{argument}"),
        }
    }

    /// Returns the option of the command line, and its value: `--image`, `server=vllm/vllm-openai-rocm:v0.27.1`.
    pub fn option(self, value: &str) -> (&'static str, String) {
        match self {
            Self::Image => ("--image", value.to_owned()),
            Self::ServiceImage(service) => ("--image", format!("{service}={value}")),
            Self::BuildArg(argument) => ("--build-arg", format!("{argument}={value}")),
        }
    }
}
