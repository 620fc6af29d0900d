//! Image references, `registry/repository:tag@digest`, read as Docker reads them. Pure.

use std::fmt;

use retrial_document::formats::is_lower_hexadecimal;
use thiserror::Error;

/// A text that is not an image reference.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{reference}` is not an image reference: {reason}")]
pub struct InvalidImageRef {
    pub reference: String,
    /// The part that is wrong.
    pub reason: ImageRefFault,
}

/// What is wrong with a text that is not an image reference.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImageRefFault {
    #[error("it is empty")]
    Empty,
    /// A space, a control character, or one that is not ASCII.
    #[error("`{}` is not allowed in it", .0.escape_debug())]
    Character(char),
    /// A URL's scheme before the registry.
    #[error("omit the `https://`")]
    Scheme,
    /// 64 hexadecimal digits, which Docker reads as an image's id.
    #[error("it is an image id")]
    ImageId,
    /// The first part has a dot, a port or an upper-case letter, and is no host.
    #[error("`{0}` is not a registry")]
    Registry(String),
    /// Two slashes in a row, or one at an end.
    #[error("a part of the name is empty")]
    EmptyComponent,
    /// An upper-case letter in the name.
    #[error("`{0}` must be lower case")]
    UpperCase(String),
    /// A part of the name with other characters or separators than Docker allows.
    #[error("`{0}` cannot be part of a name")]
    Component(String),
    /// More than Docker's 255 characters.
    #[error("the name is longer than {MAX_NAME_CHARS} characters")]
    TooLong,
    /// The text after `:`.
    #[error("`{0}` is not a tag")]
    Tag(String),
    /// The text after `@`.
    #[error("`{0}` is not a digest: `sha256:` and 64 hexadecimal digits")]
    Digest(String),
}

/// The full location of an image: registry, repository, tag and digest.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ImageRef {
    /// The host of the registry, with a port if it has one: `docker.io`, `127.0.0.1:5000`.
    pub registry: String,
    /// The path within the registry: `library/debian`, `rocm/amd-mlperf`.
    pub repository: String,
    pub tag: Option<String>,
    /// `sha256:…`, where one is written.
    pub digest: Option<String>,
}

/// The registry of references that name none.
const DOCKER_HUB: &str = "docker.io";
/// The longest name of a repository.
const MAX_NAME_CHARS: usize = 255;

impl ImageRef {
    /// Parses a reference by Docker's rules.
    ///
    /// # Errors
    /// The text is not a reference; the error names the part that is wrong.
    pub fn parse(text: &str) -> Result<Self, InvalidImageRef> {
        parse_reference(text)
            .map_err(|reason| InvalidImageRef { reference: text.to_owned(), reason })
    }

    /// Returns whether a digest fixes the content.
    pub fn is_pinned(&self) -> bool {
        self.digest.is_some()
    }

    /// Returns registry and repository as people write them: `debian`, `rocm/x`, `ghcr.io/a/b`.
    pub fn name(&self) -> String {
        if self.registry != DOCKER_HUB {
            return format!("{}/{}", self.registry, self.repository);
        }
        let short = self.repository.strip_prefix("library/");
        short.unwrap_or(&self.repository).to_owned()
    }

    /// Returns the part that decides the content: the digest, else the tag, else `latest`.
    pub fn digest_or_tag(&self) -> &str {
        self.digest.as_deref().or(self.tag.as_deref()).unwrap_or("latest")
    }

    /// Returns the shortest reference with the same meaning; with a digest the tag has no effect.
    pub fn to_lookup_reference(&self) -> String {
        let mark = if self.is_pinned() { '@' } else { ':' };
        format!("{}{mark}{}", self.name(), self.digest_or_tag())
    }

    /// Returns the registry's key in Docker's credential store: the Hub has one of its own.
    pub fn credentials_key(&self) -> &str {
        if self.registry == DOCKER_HUB { "https://index.docker.io/v1/" } else { &self.registry }
    }
}

impl fmt::Display for ImageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

fn parse_reference(text: &str) -> Result<ImageRef, ImageRefFault> {
    if text.is_empty() {
        return Err(ImageRefFault::Empty);
    }
    if let Some(odd) = text.chars().find(|c| !c.is_ascii_graphic()) {
        return Err(ImageRefFault::Character(odd));
    }
    if text.contains("://") {
        return Err(ImageRefFault::Scheme);
    }
    let (rest, digest) = match text.split_once('@') {
        Some((rest, digest)) => (rest, Some(check_digest(digest)?)),
        None => (text, None),
    };
    let (name, tag) = match rest.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(check_tag(tag)?)),
        _ => (rest, None),
    };
    if is_lower_hexadecimal(name, 64) {
        return Err(ImageRefFault::ImageId);
    }
    let (registry, path) = match name.split_once('/') {
        Some((first, path)) if is_registry(first) => (check_registry(first)?, path),
        _ => (DOCKER_HUB.to_owned(), name),
    };
    for part in path.split('/') {
        check_component(part)?;
    }
    if path.len() > MAX_NAME_CHARS {
        return Err(ImageRefFault::TooLong);
    }
    let repository = if registry == DOCKER_HUB && !path.contains('/') {
        format!("library/{path}")
    } else {
        path.to_owned()
    };
    Ok(ImageRef { registry, repository, tag, digest })
}

/// Docker's rule: a first part with a dot, a port or an upper-case letter, or `localhost`.
fn is_registry(first: &str) -> bool {
    first == "localhost"
        || first.contains(['.', ':'])
        || first.bytes().any(|b| b.is_ascii_uppercase())
}

fn check_registry(text: &str) -> Result<String, ImageRefFault> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (text, None),
    };
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    let good_host = match host.strip_prefix('[').and_then(|h| h.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => host.split('.').all(label),
    };
    let good_port = port.is_none_or(|port| port.parse::<u16>().is_ok());
    if !good_host || !good_port {
        return Err(ImageRefFault::Registry(text.to_owned()));
    }
    Ok(match text {
        "index.docker.io" | "registry-1.docker.io" => DOCKER_HUB.to_owned(),
        other => other.to_owned(),
    })
}

fn check_component(part: &str) -> Result<(), ImageRefFault> {
    if part.is_empty() {
        return Err(ImageRefFault::EmptyComponent);
    }
    if part.bytes().any(|b| b.is_ascii_uppercase()) {
        return Err(ImageRefFault::UpperCase(part.to_owned()));
    }
    let outer = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let all = part.bytes().all(|b| outer(b) || b"._-".contains(&b));
    let ends = part.bytes().next().is_some_and(outer) && part.bytes().last().is_some_and(outer);
    let doubled = part.contains("..") || part.contains("___") || part.contains("._");
    if all && ends && !doubled { Ok(()) } else { Err(ImageRefFault::Component(part.to_owned())) }
}

fn check_tag(tag: &str) -> Result<String, ImageRefFault> {
    let good = (1..=128).contains(&tag.len())
        && tag.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
        && !tag.starts_with(['.', '-']);
    if good { Ok(tag.to_owned()) } else { Err(ImageRefFault::Tag(tag.to_owned())) }
}

fn check_digest(digest: &str) -> Result<String, ImageRefFault> {
    let good = digest.split_once(':').is_some_and(|(algorithm, value)| {
        let length = match algorithm {
            "sha256" => 64,
            "sha512" => 128,
            _ => return false,
        };
        is_lower_hexadecimal(value, length)
    });
    if good { Ok(digest.to_owned()) } else { Err(ImageRefFault::Digest(digest.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, String, String) {
        let reference = ImageRef::parse(text).unwrap();
        let version = reference.digest_or_tag().to_owned();
        (reference.registry, reference.repository, version)
    }

    #[test]
    fn references_are_parsed_like_docker_does() {
        let digest = format!("sha256:{}", "a".repeat(64));
        let pinned = format!("debian:bookworm@{digest}");
        let cases = [
            ("debian", "docker.io", "library/debian", "latest"),
            ("rocm/amd-mlperf:6.0", "docker.io", "rocm/amd-mlperf", "6.0"),
            ("docker.io/debian:x", "docker.io", "library/debian", "x"),
            ("index.docker.io/a/b", "docker.io", "a/b", "latest"),
            ("localhost/a", "localhost", "a", "latest"),
            ("127.0.0.1:5000/a/b:1", "127.0.0.1:5000", "a/b", "1"),
            ("127.0.0.1:5000/a", "127.0.0.1:5000", "a", "latest"),
            ("ghcr.io/a__b/c-d.e:V1", "ghcr.io", "a__b/c-d.e", "V1"),
            ("[::1]:5000/a:1", "[::1]:5000", "a", "1"),
            (&pinned, "docker.io", "library/debian", &digest),
        ];
        for (text, registry, repository, version) in cases {
            assert_eq!(parts(text), (registry.into(), repository.into(), version.into()), "{text}");
            assert_eq!(
                ImageRef::parse(&ImageRef::parse(text).unwrap().to_string()).unwrap(),
                ImageRef::parse(text).unwrap()
            );
        }
        assert_eq!(
            ImageRef::parse(&pinned).unwrap().to_lookup_reference(),
            format!("debian@{digest}")
        );
        assert_eq!(
            ImageRef::parse("docker.io/library/debian:1").unwrap().to_lookup_reference(),
            "debian:1"
        );
    }

    #[test]
    fn an_invalid_reference_error_names_the_part() {
        let id = "a".repeat(64);
        let cases = [
            ("", "empty"),
            ("a b", "` `"),
            ("https://ghcr.io/a", "https://"),
            ("rocm/Amd:1", "lower case"),
            ("a//b", "empty"),
            ("a:-x", "`-x` is not a tag"),
            ("a@sha256:12", "not a digest"),
            ("a.b:99999/x", "not a registry"),
            ("-a", "cannot be part"),
            (&id, "image id"),
            ("../etc", "not a registry"),
        ];
        for (text, expected) in cases {
            let error = ImageRef::parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn docker_hub_has_its_own_credentials_key() {
        let key = |text| ImageRef::parse(text).unwrap().credentials_key().to_owned();
        assert_eq!(key("debian"), "https://index.docker.io/v1/");
        assert_eq!(key("127.0.0.1:5000/a"), "127.0.0.1:5000");
    }
}
