//! The content of an image and its `ROCm` release, as far as known without running it.

use super::release::is_release;
use retrial_container::ImageRef;

/// The content of an image, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageContent {
    /// Its release of `ROCm`.
    pub rocm: Option<String>,
    /// Python packages with their versions, if listed.
    pub packages: Vec<(String, String)>,
}

/// The release from the image's environment, else from the recipe's variant, else from its name
/// (`rocm7.0.0_vllm…`, `rocm/dev-ubuntu-24.04:7.1.1-complete`).
pub fn rocm_of_image(reference: &str, env: &[String], variant: Option<&str>) -> Option<String> {
    let from_environment = env
        .iter()
        .find_map(|line| line.strip_prefix("ROCM_VERSION="))
        .filter(|version| is_release(version));
    let stated = from_environment.or(variant.filter(|version| is_release(version)));
    stated.map(str::to_owned).or_else(|| rocm_in_tag(reference))
}

fn rocm_in_tag(reference: &str) -> Option<String> {
    let image = ImageRef::parse(reference).ok()?;
    let tag = image.tag.as_deref()?;
    let release = |text: &str| {
        let length = text
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .unwrap_or(text.len());
        let release_text = text[..length].trim_end_matches('.');
        is_release(release_text).then(|| release_text.to_owned())
    };
    let after = tag
        .match_indices("rocm")
        .find_map(|(at, word)| release(tag[at + word.len()..].trim_start_matches(['-', '_'])));
    let of_rocm = || {
        let own = ["rocm/dev-ubuntu", "rocm/rocm-terminal", "rocm/dev-almalinux"];
        let is_own = own.iter().any(|name| image.repository.contains(name));
        is_own.then(|| release(tag)).flatten()
    };
    after.or_else(of_rocm)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::rocm_of_image;

    #[rstest]
    #[case("rocm/vllm:rocm7.0.0_vllm_0.11.2_20251210", Some("7.0.0"))]
    #[case("rocm/dev-ubuntu-24.04:7.1.1-complete", Some("7.1.1"))]
    #[case("rocm/pytorch:rocm6.4.1_ubuntu22.04_py3.10_pytorch_release_2.6.0", Some("6.4.1"))]
    #[case("rocm/amd-mlperf:mi355x_llama2_70b_inference_6.0", None)]
    #[case("debian:bookworm-slim", None)]
    #[case("127.0.0.1:5155/rocm7/x", None)]
    fn the_rocm_release_is_read_from_the_image_name(
        #[case] name: &str,
        #[case] expected: Option<&str>,
    ) {
        assert_eq!(rocm_of_image(name, &[], None).as_deref(), expected);
    }

    #[test]
    fn image_settings_win_over_the_recipe_and_the_image_name() {
        let env = ["PATH=/bin".to_owned(), "ROCM_VERSION=7.2.0".to_owned()];
        let release = rocm_of_image("x:rocm6.4", &env, Some("7.1.1"));
        assert_eq!(release.as_deref(), Some("7.2.0"));
        let release = rocm_of_image("x:rocm6.4", &[], Some("7.1.1"));
        assert_eq!(release.as_deref(), Some("7.1.1"));
    }
}
