//! The content of an image and its `ROCm` release, as far as known without running it.

use std::fmt;

use retrial_rocm::{GpuFamily, ReleaseTable, RocmRelease, release_in_name};

/// The content of an image, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageContent {
    pub rocm: Option<ImageRelease>,
    /// The only GPUs that it is built for, if its name says so.
    pub family: Option<GpuFamily>,
    /// Python packages with their versions, if listed.
    pub packages: Vec<(String, String)>,
}

/// The release of `ROCm` in an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageRelease {
    pub release: RocmRelease,
    pub source: ImageReleaseSource,
}

/// Where the release of an image is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageReleaseSource {
    /// Read in a container of it.
    Container,
    /// `ROCM_VERSION` of its environment.
    Environment,
    /// Its name, or what documents say of it: a guess.
    Name,
    /// The recipe's variant: a guess, too.
    Variant,
}

/// `ROCm 7.2.4`; `ROCm 10.0.x` where no patch is stated.
impl fmt::Display for ImageRelease {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let patch = if self.release.is_exact() { "" } else { ".x" };
        let source = match self.source {
            ImageReleaseSource::Container => "",
            ImageReleaseSource::Environment => " (ROCM_VERSION)",
            ImageReleaseSource::Name => " (by its name)",
            ImageReleaseSource::Variant => " (by the recipe)",
        };
        write!(formatter, "ROCm {}{patch}{source}", self.release)
    }
}

/// The release from the image's environment, else from its name, else from the recipe's variant.
pub fn rocm_of_image(
    reference: &str,
    env: &[String],
    variant: Option<&str>,
    releases: &ReleaseTable,
) -> Option<ImageRelease> {
    let mut lines = env.iter().filter_map(|line| line.strip_prefix("ROCM_VERSION="));
    let environment = lines.find_map(|version| version.parse().ok());
    let name = || release_in_name(reference, releases);
    let variant = || variant?.parse().ok();
    let with_source = |source| move |release| ImageRelease { release, source };
    let stated = environment.map(with_source(ImageReleaseSource::Environment));
    stated
        .or_else(|| name().map(with_source(ImageReleaseSource::Name)))
        .or_else(|| variant().map(with_source(ImageReleaseSource::Variant)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_wins_over_the_name_and_the_name_over_the_recipe() {
        let env = ["PATH=/bin".to_owned(), "ROCM_VERSION=7.2.0".to_owned()];
        let stated = |image: &str, env: &[String]| {
            let release = rocm_of_image(image, env, Some("7.1.1"), ReleaseTable::built_in());
            release.unwrap().to_string()
        };
        assert_eq!(stated("x:rocm6.4", &env), "ROCm 7.2.0 (ROCM_VERSION)");
        assert_eq!(stated("x:rocm6.4", &[]), "ROCm 6.4.x (by its name)");
        assert_eq!(stated("x:latest", &[]), "ROCm 7.1.1 (by the recipe)");
    }
}
